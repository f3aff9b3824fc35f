import { resolve } from 'node:path';
import type { ClaudeParams, ConversationPlace } from '@concerto/protocol';
import type { AgentConnection, AgentSpec } from '../agent-connection.ts';
import { AgentError } from '../agent-error.ts';
import { type DriverOptions, openAgent } from '../driver.ts';
import { ClaudeConversation } from './claude-conversation.ts';
import { claudeCommandLine } from './claude-params.ts';

/** Starts `claude` and, where there is one, goes on with its conversation; one that is not there any more is begun anew. */
export async function startClaude(
  spec: AgentSpec,
  params: ClaudeParams,
  options: DriverOptions,
): Promise<AgentConnection> {
  const { conversation, fork } = options;
  if (fork !== undefined) return await begunFrom(fork, () => start(spec, params, options, { fork }));
  if (conversation === undefined) return await start(spec, params, options);
  try {
    return await start(spec, params, options, { conversation });
  } catch (cause) {
    if (!isLost(cause)) throw cause;
    const note = `conversation ${conversation} is not on this machine any more; a new one begins`;
    return await start(spec, params, options, { note });
  }
}

/** Without what it should go on from it would know nothing of what its session shows. */
async function begunFrom(fork: ConversationPlace, begin: () => Promise<AgentConnection>): Promise<AgentConnection> {
  try {
    return await begin();
  } catch (cause) {
    if (!isLost(cause)) throw cause;
    const why = `conversation ${fork.id} is not on this machine any more, or not up to there: it cannot be forked`;
    throw new AgentError('init-refused', why, { cause });
  }
}

type Begun = Pick<DriverOptions, 'conversation' | 'fork'> & { readonly note?: string };

function start(
  spec: AgentSpec,
  params: ClaudeParams,
  options: DriverOptions,
  { note, ...taken }: Begun = {},
): Promise<AgentConnection> {
  const { args, variables } = claudeCommandLine(params, taken);
  const workingDir = resolve(spec.workingDir ?? '.', params.work_dir ?? '.');
  const launched = { ...spec, workingDir, args: [...(spec.args ?? []), ...args] };
  return openAgent(spec, options, { spec: launched, variables }, async (link) => {
    const resumed = taken.conversation !== undefined || taken.fork !== undefined;
    const claude = new ClaudeConversation(link, { params, folder: workingDir, resumed });
    await claude.initialise(options);
    if (note !== undefined) link.warn(note);
    return claude;
  });
}

/** The program says so on stderr and ends. */
function isLost(cause: unknown): boolean {
  return (
    cause instanceof AgentError &&
    cause.code === 'exited' &&
    /No conversation found|No message found/i.test(cause.stderr ?? '')
  );
}
