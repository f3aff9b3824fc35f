import { resolve, sep } from 'node:path';
import type { AgentSpec } from '../agent-connection.ts';
import { probeSandbox, type SandboxUse } from '../sandbox.ts';

/**
 * Why the program's own sandbox does not hold, as far as it can be known before it starts. It needs one inside ours for
 * every command; without, it runs none, or runs what a person has approved as if there were no sandbox at all.
 */
export async function whyUnguarded(
  { sandbox }: Pick<AgentSpec, 'sandbox'>,
  use: () => Promise<SandboxUse> = probeSandbox,
): Promise<string | undefined> {
  if (sandbox === undefined || sandbox.mode === 'off') return undefined;
  const ours = await use();
  if (ours.kind === 'none' || ours.nests) return undefined;
  return 'the sandbox of codex cannot be opened inside ours on this system, so that commands fail, or once approved run without it; `sandbox = "off"` in the table of this agent leaves it to codex alone';
}

/** It keeps helpers of its sandbox in its home, but none in a temporary folder, and does not say so in a turn. */
export function whyWithoutHelpers(home: string | null | undefined, temporary: string): string | undefined {
  if (home == null || !resolve(home).startsWith(`${resolve(temporary)}${sep}`)) return undefined;
  return `codex keeps no helpers of its sandbox in a temporary folder, and its commands may fail: put its home (CODEX_HOME, now ${home}) elsewhere`;
}
