import { ensureTrust } from '../state/trust.ts';
import type { Configured } from './load-catalog.ts';

/** Before anything that a manifest says is done. */
export async function checkTrust(
  { catalog, server, alsoStarts }: Configured,
  { project, isNamed, given }: { readonly project: string; readonly isNamed: boolean; readonly given: boolean },
): Promise<void> {
  // Whoever names a manifest means it, and without one there is nothing to trust.
  if (!given && (isNamed || server === undefined)) return;
  const agents = catalog.list().flatMap((entry) => (entry.kind === 'agent' ? [entry.spec] : []));
  const commands = [...agents, ...alsoStarts].flatMap(({ command, args = [] }) =>
    command === undefined ? [] : [[command, ...args].join(' ')],
  );
  await ensureTrust({ folder: project, given, commands: [...new Set(commands)] });
}
