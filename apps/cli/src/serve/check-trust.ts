import { ensureTrust } from '../state/trust.ts';
import type { Configured, Started } from './load-catalog.ts';

/** Before anything that a manifest says is done. */
export async function checkTrust(
  { catalog, server, alsoStarts }: Configured,
  { project, isNamed, given }: { readonly project: string; readonly isNamed: boolean; readonly given: boolean },
): Promise<void> {
  // Whoever names a manifest means it, and without one there is nothing to trust.
  if (!given && (isNamed || server === undefined)) return;
  const agents = catalog.list().flatMap((entry) => (entry.kind === 'agent' ? [entry.spec] : []));
  await ensureTrust({ folder: project, given, commands: commandsOf([...agents, ...alsoStarts]) });
}

/** Whole, as whoever is asked has to see them; each once. */
export function commandsOf(started: readonly Started[]): readonly string[] {
  const commands = started.flatMap(({ command, args = [] }) =>
    command === undefined ? [] : [[command, ...args].join(' ')],
  );
  return [...new Set(commands)];
}
