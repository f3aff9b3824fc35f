import { ClientError, type ConcertoClient } from '@concerto/client';
import { activeAtOf, type Session, type TurnOutcome } from '@concerto/protocol';
import { isForPerson, ProseFold } from '@concerto/wires';
import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type InputRequests,
  type McpServer,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from '@modelcontextprotocol/server';
import * as z from 'zod';
import { formsOf, takeAnswers } from './elicited-answers.ts';

/** Tasks are an extension since 2026-07-28; that of 2025-11-25 was an experiment, and is not spoken. */
export const tasksExtension = 'io.modelcontextprotocol/tasks';
const pollIntervalMs = 1_000;

const Named = z.object({ taskId: z.string().min(1) });
const Envelope = z.looseObject({
  [CLIENT_CAPABILITIES_META_KEY]: z.looseObject({
    elicitation: z.unknown().optional(),
    extensions: z.record(z.string(), z.unknown()).optional(),
  }),
});

type TaskState =
  | { readonly status: 'working' | 'cancelled' }
  | { readonly status: 'input_required'; readonly inputRequests: InputRequests }
  | { readonly status: 'completed'; readonly result: CallToolResult };

/** A client says with each request what it knows. */
function declaredBy({ mcpReq }: ServerContext): { readonly canAsk: boolean; readonly takesTasks: boolean } {
  const declared = Envelope.safeParse(mcpReq.envelope).data?.[CLIENT_CAPABILITIES_META_KEY];
  return {
    canAsk: declared?.elicitation !== undefined,
    takesTasks: declared?.extensions?.[tasksExtension] !== undefined,
  };
}

export function takesTasks(context: ServerContext): boolean {
  return declaredBy(context).takesTasks;
}

/** What a call that goes on is answered with: the session that was begun for it is the task. */
export function begunTask(session: Session): CallToolResult {
  return { content: [], resultType: 'task', ...fieldsOf(session), status: 'working' };
}

/** Nothing is kept of a task: what there is to say of it is read from its session, in whichever process. */
export function registerTasks({ server }: McpServer, client: ConcertoClient): void {
  server.setRequestHandler('tasks/get', { params: Named }, async ({ taskId }, context) => {
    mustTakeTasks(context);
    return await known(taskId, async () => {
      const session = await client.get(taskId);
      const state = await stateOf(client, session, declaredBy(context).canAsk);
      return { ...fieldsOf(session), ...state };
    });
  });
  server.setRequestHandler('tasks/update', { params: Named }, async ({ taskId }, context) => {
    mustTakeTasks(context);
    return await known(taskId, async () => {
      // What is answered comes beside the params, as that of a call that is made again.
      await takeAnswers(client, taskId, context.mcpReq.inputResponses ?? {});
      return {};
    });
  });
  server.setRequestHandler('tasks/cancel', { params: Named }, async ({ taskId }, context) => {
    mustTakeTasks(context);
    return await known(taskId, async () => {
      await client.cancel(taskId).catch((error: unknown) => {
        // It is over already, and stays as it is.
        if (!(error instanceof ClientError && error.status === 409)) throw error;
      });
      return {};
    });
  });
}

function mustTakeTasks(context: ServerContext): void {
  if (takesTasks(context)) return;
  const requiredCapabilities = { extensions: { [tasksExtension]: {} } };
  throw new MissingRequiredClientCapabilityError({ requiredCapabilities });
}

async function known(taskId: string, act: () => Promise<Record<string, unknown>>): Promise<Record<string, unknown>> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    const isUnknown = error.status === 404 || error.status === 422;
    throw isUnknown
      ? new ProtocolError(ProtocolErrorCode.InvalidParams, `there is no task ${JSON.stringify(taskId)}`)
      : new ProtocolError(ProtocolErrorCode.InternalError, `${error.code}: ${error.message}`);
  }
}

function fieldsOf(session: Session) {
  const { id, createdAt, status, waiting } = session;
  const statusMessage = waiting === undefined ? status : `${status}: ${waiting.detail}`;
  return { taskId: id, createdAt, lastUpdatedAt: activeAtOf(session), ttlMs: null, pollIntervalMs, statusMessage };
}

/** The task is what the session was begun with: what is said in it afterwards changes nothing about that. */
async function stateOf(client: ConcertoClient, session: Session, canAsk: boolean): Promise<TaskState> {
  const fold = new ProseFold();
  const { narration } = fold;
  let text = '';
  let outcome: TurnOutcome | undefined;
  if (session.position > 0) {
    for await (const event of client.follow(session.id)) {
      text += fold.take(event);
      const { firstMessage: first } = narration;
      const isHeard = first === undefined || (narration.hasHeard(first) && !narration.isPending(first));
      if (event.type === 'turnComplete' && isHeard) outcome = event.outcome ?? 'done';
      if (narration.isOver) outcome ??= narration.standing.status === 'failed' ? 'failed' : 'cancelled';
      if (outcome !== undefined || event.seq >= session.position) break;
    }
  }
  if (outcome === 'cancelled') return { status: 'cancelled' };
  if (outcome !== undefined) {
    const { id, title, agent } = session;
    const value = { id, title, agent, outcome, position: narration.position, text };
    const content = [{ type: 'text' as const, text: JSON.stringify(value, undefined, 1) }];
    return { status: 'completed', result: { resultType: 'complete', content, isError: outcome !== 'done' } };
  }
  // One who cannot be asked waits for whoever can.
  const asked = narration.waiting.filter(isForPerson);
  if (!canAsk || asked.length === 0) return { status: 'working' };
  return { status: 'input_required', inputRequests: formsOf(asked) };
}
