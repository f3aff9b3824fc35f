import { ClientError, type ConcertoClient } from '@concerto/client';
import { LifecycleVerb, type Session } from '@concerto/protocol';
import { detailsOf, isForPerson, isHeardOut, questionOf, readAnswer } from '@concerto/wires';
import {
  type CallToolResult,
  type InputRequiredResult,
  inputRequired,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server';
import * as z from 'zod';
import { formsOf, takeAnswers } from './elicited-answers.ts';
import { readSession } from './session-resources.ts';
import { begunTask, takesTasks } from './session-tasks.ts';
import type { Waits } from './waits.ts';

const waitSecondsMax = 600;
const session = z.string().min(1).describe('the id of a session');
const seconds = z.number().min(0).max(waitSecondsMax).optional().describe('at most; default 60');
const AnyJson = z.json();
/** Any JSON, told without a schema that refers to itself: not every provider takes one of a tool. */
const response = z
  .union([z.string(), z.boolean(), z.number(), z.null(), z.array(z.unknown()), z.record(z.string(), z.unknown())])
  .describe('true or false, a text, or a list of ids');
const beginning = {
  agent: z.string().optional().describe('name of an agent; `list_agents` tells them'),
  assistant: z.string().optional(),
  program: z.string().optional(),
  template: z.string().optional(),
  prompt: z.string().min(1),
  title: z.string().optional(),
  once: z.boolean().optional().describe('end with the first result'),
};

type Answered = CallToolResult | InputRequiredResult;

/** What a model can do to sessions. */
export function registerTools(server: McpServer, client: ConcertoClient, waits: Waits): void {
  registerStarts(server, client, waits);
  registerWaits(server, client, waits);
  registerWords(server, client);
}

function registerStarts(server: McpServer, client: ConcertoClient, waits: Waits): void {
  server.registerTool(
    'list_agents',
    { description: 'What sessions can be started with', annotations: { readOnlyHint: true } },
    () => told(async () => await client.agents()),
  );
  server.registerTool(
    'list_sessions',
    {
      description: 'Sessions, the newest first',
      inputSchema: z.object({ parent: session.optional(), limit: z.number().int().min(1).max(200).optional() }),
      annotations: { readOnlyHint: true },
    },
    ({ parent, limit }) =>
      told(async () => {
        const query = { limit: limit ?? 50, ...(parent === undefined ? {} : { parent }) };
        return { sessions: (await client.list(query)).sessions.map(rowOf) };
      }),
  );
  server.registerTool(
    'start_session',
    {
      description: 'Start an agent, an assistant or a program with a prompt; returns at once',
      inputSchema: z.object(beginning),
    },
    (request) => told(async () => rowOf(await client.start({ ...request, ifFull: 'queue' }))),
  );
  server.registerTool(
    'run_session',
    {
      description:
        'Start an agent, an assistant or a program with a prompt, and wait until it is done, asks something, or the time is over. A client that knows tasks gets a task.',
      inputSchema: z.object({ ...beginning, seconds }),
    },
    async ({ seconds: most = 60, ...request }, context) =>
      await refused(async () => {
        const begun = await client.start({ ...request, ifFull: 'queue' });
        if (takesTasks(context)) return begunTask(begun);
        await waitFor(client, begun.id, { after: 0, seconds: most, context, waits });
        return answer(await standing(client, begun.id, 0));
      }, waits),
  );
  server.registerTool(
    'fork_session',
    {
      description:
        'A new session with what was said in another one: all of it, or the whole turns up to a position; a prompt goes on in it',
      inputSchema: z.object({
        session,
        at: z.number().int().min(1).optional(),
        prompt: z.string().min(1).optional(),
      }),
    },
    ({ session: id, ...fork }) => told(async () => rowOf(await client.fork(id, fork))),
  );
}

function registerWaits(server: McpServer, client: ConcertoClient, waits: Waits): void {
  server.registerTool(
    'follow_session',
    {
      description: 'What was said and done in a session after a position, as text; returns at once',
      inputSchema: z.object({
        session,
        after: z.number().int().min(0).optional().describe('the last position that was read'),
      }),
      annotations: { readOnlyHint: true },
    },
    ({ session: id, after }) => told(async () => await standing(client, id, after ?? 0)),
  );
  server.registerTool(
    'wait_for_session',
    {
      description:
        'Wait until a session has nothing more to do for now, asks something, or the time is over; then what was said after the position. With `ask_user` what it asks is put before the user.',
      inputSchema: z.object({
        session,
        after: z.number().int().min(0).optional(),
        seconds,
        ask_user: z.boolean().optional(),
      }),
    },
    async ({ session: id, after = 0, seconds: most = 60, ask_user: asksUser = false }, context) =>
      await refused(async () => {
        const isAllTaken = !asksUser || (await takeAnswers(client, id, context.mcpReq.inputResponses ?? {}));
        await waitFor(client, id, { after, seconds: most, context, waits });
        const { requests } = await client.requests(id);
        const questions = requests.filter(
          ({ routedTo, event }) => isForPerson(event) && (routedTo === undefined || routedTo === 'person'),
        );
        if (asksUser && isAllTaken && questions.length > 0)
          return inputRequired({ inputRequests: formsOf(questions.map(({ event }) => event)) });
        return answer(await standing(client, id, after));
      }, waits),
  );
}

function registerWords(server: McpServer, client: ConcertoClient): void {
  server.registerTool(
    'send_message',
    {
      description:
        'Say something to a session; it is delivered when the agent is free, or with `steer` into the running turn',
      inputSchema: z.object({ session, content: z.string().min(1), steer: z.boolean().optional() }),
    },
    ({ session: id, content, steer }) =>
      told(async () => await client.send(id, { content, priority: steer === true ? 'immediate' : 'queued' })),
  );
  server.registerTool(
    'answer_request',
    {
      description: 'Answer what a session asks: true or false for an approval, a text, or the ids of choices',
      inputSchema: z.object({ session, request: z.string().min(1), response, reason: z.string().optional() }),
    },
    ({ session: id, request, response: written, reason }) =>
      told(async () => {
        const response = AnyJson.parse(written);
        const open = (await client.requests(id)).requests.find(({ requestId }) => requestId === request);
        const given = open === undefined ? { response } : readAnswer(open.event, response);
        await client.answer(id, request, given.response, reason === undefined ? {} : { reason });
        return { ok: true };
      }),
  );
  server.registerTool(
    'control_session',
    {
      description: 'Interrupt the running turn, pause, resume, or cancel the session for good',
      inputSchema: z.object({ session, verb: z.enum(LifecycleVerb.options) }),
      annotations: { destructiveHint: true },
    },
    ({ session: id, verb }) => told(async () => await client[verb](id)),
  );
}

type Row = Pick<Session, 'id' | 'title' | 'agent' | 'status' | 'pending'> &
  Partial<Pick<Session, 'waiting' | 'parent'>>;

function rowOf({ id, title, agent, status, pending, waiting, parent }: Session): Row {
  return {
    id,
    title,
    agent,
    status,
    pending,
    ...(waiting === undefined ? {} : { waiting }),
    ...(parent === undefined ? {} : { parent }),
  };
}

async function standing(client: ConcertoClient, id: string, after: number): Promise<object> {
  const { text, fold } = await readSession(client, id, after);
  const { narration } = fold;
  const requests = narration.waiting.map((event) => {
    const details = detailsOf(event);
    const named = { request: event.requestId, type: event.type, question: questionOf(event) };
    return details === '' ? named : { ...named, details };
  });
  return { ...rowOf(await client.get(id)), position: narration.position, requests, text };
}

type Waited = {
  readonly after: number;
  readonly seconds: number;
  readonly context: ServerContext;
  readonly waits: Waits;
};

/** Until it is heard out; the caller hears that we are still there. */
async function waitFor(client: ConcertoClient, id: string, { after, seconds, context, waits }: Waited): Promise<void> {
  const late = AbortSignal.timeout(seconds * 1_000);
  const signal = AbortSignal.any([late, context.mcpReq.signal, waits.signal]);
  const { fold } = await readSession(client, id, after);
  const { narration } = fold;
  const first = narration.firstMessage;
  const isOver = (): boolean =>
    isHeardOut(narration, first === undefined ? [] : [first]) && narration.standing.queue.pending.length === 0;
  const token = context.mcpReq._meta?.progressToken;
  if (isOver() || narration.waiting.length > 0) return;
  try {
    for await (const event of client.follow(id, { after: narration.position, signal })) {
      fold.take(event);
      if (token !== undefined && event.type === 'status') {
        const params = { progressToken: token, progress: event.seq, message: event.status };
        await context.mcpReq.notify({ method: 'notifications/progress', params }).catch(() => undefined);
      }
      if (isOver() || narration.waiting.length > 0) return;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

function answer(value: object): CallToolResult {
  return { content: [{ type: 'text', text: JSON.stringify(value, undefined, 1) }] };
}

async function told(act: () => Promise<object>): Promise<Answered> {
  return await refused(async () => answer(await act()));
}

/** A refusal of the server is for the model to read; it can mend what it asked for. */
async function refused(act: () => Promise<Answered>, waits?: Waits): Promise<Answered> {
  try {
    return await (waits === undefined ? act() : waits.hold(act()));
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    return { isError: true, content: [{ type: 'text', text: `${error.code}: ${error.message}` }] };
  }
}
