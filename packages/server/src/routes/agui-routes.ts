import type { Json } from '@concerto/base';
import { MessageId, MessagePriority, SessionId } from '@concerto/protocol';
import { AguiListener, type AguiMessage, type AguiRun, RunAgentInput, userContent } from '@concerto/wires';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { type Context, Hono } from 'hono';
import * as z from 'zod';
import { streamHeaders } from '../event-stream.ts';
import { aguiWire, type SharedAgui, tellAgui } from '../folded-wires.ts';
import { ProblemError } from '../problem.ts';
import { parseBody, readJson } from '../read-body.ts';
import type { OnNode, ServerContext } from '../server-context.ts';
import { SharedFolds } from '../shared-fold.ts';
import { answerFrom, hear, jsonOf, ownId, sendAll, speakerOf, startWith, Target, wordOf } from '../wire-session.ts';
import { writeStream } from '../wire-stream.ts';

/** What a client may say beside the protocol's own fields. */
const Wishes = Target.extend({ priority: z.optional(MessagePriority) });
type Wishes = z.infer<typeof Wishes>;

/** AG-UI: a thread is a session, a run is what is heard of it until it waits for somebody. */
export function aguiRoutes(context: ServerContext): Hono<OnNode> {
  const routes = new Hono<OnNode>();
  const folds = new SharedFolds(aguiWire);
  const serve = async (c: Context<OnNode>, joined: string | undefined): Promise<Response> => {
    const input = parseBody(await readJson(c), RunAgentInput);
    const session = joined ?? ownId(SessionId, input.threadId);
    const exists = await context.sessions.exists(session);
    if (joined !== undefined && !exists) {
      throw new ProblemError(404, 'no_such_session', `there is no session ${JSON.stringify(joined)}`);
    }
    await context.tails.with(session, async (tail) => {
      const shared = folds.of(tail);
      const said = await takeInput(context, c, { input, session, shared, exists });
      const listener = new AguiListener(runOf(input, session, exists), said);
      const stream = { headers: streamHeaders, reader: c.get('person') };
      await writeStream(context.feeds, c.env.outgoing, stream, (left) => tellAgui(shared, listener, left));
    });
    return RESPONSE_ALREADY_SENT;
  };
  routes.post('/', async (c) => await serve(c, undefined));
  routes.post('/:id', async (c) => await serve(c, c.req.param('id')));
  return routes;
}

type Taken = {
  readonly input: RunAgentInput;
  readonly session: string;
  readonly shared: SharedAgui;
  readonly exists: boolean;
};

/** Does what the client asks for; the ids of the messages whose end it waits for. */
async function takeInput(context: ServerContext, c: Context<OnNode>, taken: Taken): Promise<readonly string[]> {
  const { input, session, shared, exists } = taken;
  const wishes = { ...parseBody(c.req.query(), Wishes), ...wishesOf(input.forwardedProps) };
  const spoken = saidLast(input).map(({ id, content }) => ({ id, content: userContent(content) }));
  const { words, ids } = exists
    ? hear(spoken, (await shared.atEnd()).narration)
    : { words: spoken.map(wordOf), ids: [] };
  const resume = input.resume ?? [];
  if (exists && words.length === 0 && resume.length === 0) return ids;
  const speaker = speakerOf(context, c);
  const { priority, ...target } = wishes;
  if (!exists) return [await startWith(speaker, session, words, target)];
  for (const { interruptId, status, payload } of resume) {
    const answer = status === 'cancelled' ? 'cancelled' : { payload: jsonOf(payload) };
    await answerFrom(speaker, { session, request: interruptId }, answer);
  }
  await sendAll(speaker, session, words, priority);
  return ids;
}

function runOf(input: RunAgentInput, session: string, exists: boolean): AguiRun {
  const { threadId, runId, parentRunId, tools, context } = input;
  const carried: AguiMessage[] = input.messages.flatMap(({ id, role, content }): AguiMessage[] =>
    role === 'system' || role === 'developer' ? [{ id, role, content }] : [],
  );
  const said = saidLast(input);
  const [first] = said;
  // Several words that begin a session are one prompt there.
  const own =
    exists || first === undefined ? said : [{ ...first, content: joined(said.map(({ content }) => content)) }];
  const isOne = own.length === 1 && said.length === 1;
  const ignored = [
    ...((tools ?? []).length > 0 ? ['tools'] : []),
    ...((context ?? []).length > 0 ? ['context'] : []),
    ...(carried.length > 0 ? ['system messages'] : []),
    ...(!exists && input.messages.some(({ role }) => role === 'assistant') ? ['history'] : []),
  ];
  return {
    threadId,
    runId,
    ...(parentRunId === undefined || parentRunId === null ? {} : { parentRunId }),
    session,
    carried: [
      ...carried,
      ...(isOne ? said : own).map(({ id, content }) => ({ id: ownId(MessageId, id), role: 'user' as const, content })),
    ],
    state: isObject(input.state) ? input.state : {},
    ignored,
  };
}

/** What the user said after everything else; what came before was sent with an earlier run. */
function saidLast({ messages }: RunAgentInput): RunAgentInput['messages'] {
  return messages.slice(messages.findLastIndex(({ role }) => role !== 'user') + 1);
}

/** As `wholePrompt` has them, in the words of this wire. */
function joined(contents: readonly unknown[]): unknown {
  if (contents.every((content) => typeof content === 'string')) return contents.join('\n\n');
  return contents.flatMap((content) => (typeof content === 'string' ? { type: 'text', text: content } : content));
}

function wishesOf(forwarded: unknown): Wishes {
  const parsed = Wishes.safeParse(forwarded);
  return parsed.success ? parsed.data : {};
}

function isObject(value: unknown): value is Record<string, Json> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
