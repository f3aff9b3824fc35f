import { ensureTrust } from '../state/trust.ts';
import type { Configured } from './load-catalog.ts';

/** Before anything that a manifest says is done. */
export async function checkTrust(
  { catalog, server }: Configured,
  { project, isNamed, given }: { readonly project: string; readonly isNamed: boolean; readonly given: boolean },
): Promise<void> {
  // Whoever names a manifest means it, and without one there is nothing to trust.
  if (!given && (isNamed || server === undefined)) return;
  const commands = catalog.list().flatMap((entry) => (entry.kind === 'agent' ? [entry.spec.command] : []));
  await ensureTrust({ folder: project, given, commands: [...new Set(commands)] });
}
