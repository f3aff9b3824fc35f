import type { AgentProtocol } from '@concerto/base';
import { acpParams, claudeParams, codexParams } from '@concerto/protocol';
import { startAcp } from './acp/start-acp.ts';
import { startClaude } from './claude/start-claude.ts';
import { startCodex } from './codex/start-codex.ts';
import { type Driver, driver } from './driver.ts';
import { startNdjson } from './ndjson/ndjson-conversation.ts';

/** All protocols that agents may speak. To add one: its name in `@concerto/base`, and its row here. */
export const drivers: Readonly<Record<AgentProtocol, Driver>> = {
  ndjson: { start: startNdjson },
  acp: driver({ params: acpParams, start: startAcp }),
  claude: driver({ params: claudeParams, start: startClaude }),
  codex: driver({ params: codexParams, start: startCodex }),
};
