import type { AgentProtocol } from '@concerto/base';
import { acpParams, claudeParams, codexParams } from '@concerto/protocol';
import { startAcp } from './acp/start-acp.ts';
import type { AgentSpec } from './agent-connection.ts';
import { startClaude } from './claude/start-claude.ts';
import { startCodex } from './codex/start-codex.ts';
import { type Driver, driver } from './driver.ts';
import { startNdjson } from './ndjson/ndjson-conversation.ts';

const claudeAccepts = ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'application/pdf'];

/** All protocols that agents may speak. To add one: its name in `@concerto/base`, and its row here. */
export const drivers: Readonly<Record<AgentProtocol, Driver>> = {
  ndjson: { start: startNdjson },
  acp: driver({ params: acpParams, start: startAcp }),
  claude: driver({ params: claudeParams, start: startClaude, accepts: claudeAccepts, forks: true }),
  codex: driver({ params: codexParams, start: startCodex, accepts: ['image/*'], forks: true }),
};

/**
 * Types of files that the agent takes: as declared, as its driver knows, or as it has announced. Undefined where nobody
 * knows before it has run.
 */
export function acceptedTypes(
  { protocol = 'ndjson', accepts }: Pick<AgentSpec, 'protocol' | 'accepts'>,
  announced: readonly string[] | undefined,
): readonly string[] | undefined {
  const known = accepts ?? drivers[protocol].accepts;
  if (known !== undefined || announced === undefined) return known;
  if (announced.includes('files')) return ['*/*'];
  return announced.includes('images') ? ['image/*'] : [];
}

/** Whether what was said with the agent can be gone on with in a new conversation, from a place in it. */
export function canFork({ protocol = 'ndjson' }: Pick<AgentSpec, 'protocol'>): boolean {
  return drivers[protocol].forks === true;
}
