import { MessagePriority, SessionId } from '@concerto/protocol';
import {
  ChatInput,
  ChatListener,
  type ChatPlace,
  ChatTranscript,
  chatAnswers,
  chatContent,
  heardTo,
} from '@concerto/wires';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { type Context, Hono } from 'hono';
import * as z from 'zod';
import { streamHeaders } from '../event-stream.ts';
import { chatWire, type SharedChat, tellChat } from '../folded-wires.ts';
import { callerOf } from '../people/check-role.ts';
import { ProblemError } from '../problem.ts';
import { parseBody, readJson } from '../read-body.ts';
import type { OnNode, ServerContext } from '../server-context.ts';
import { SharedFolds } from '../shared-fold.ts';
import {
  answerFrom,
  hear,
  jsonOf,
  ownId,
  type Spoken,
  sendAll,
  speakerOf,
  startWith,
  Target,
  wordOf,
} from '../wire-session.ts';
import { writeStream } from '../wire-stream.ts';
import { found, granted } from './session-routes.ts';

const headers = { ...streamHeaders, 'x-vercel-ai-ui-message-stream': 'v1' };

/** The chat endpoints that `useChat` calls. A chat is a session, a turn is one message of the assistant. */
export function chatRoutes(context: ServerContext): Hono<OnNode> {
  const { sessions, tails } = context;
  const routes = new Hono<OnNode>();
  const folds = new SharedFolds(chatWire);

  routes.post('/', async (c) => {
    const input = parseBody(await readJson(c), ChatInput);
    const session = ownId(SessionId, input.id);
    return await tails.with(session, async (tail) => {
      const shared = folds.of(tail);
      const place = await takeInput(context, c, { input, session, shared });
      const known = new Set(input.messages.flatMap(({ id, role }) => (role === 'user' ? [id] : [])));
      return await stream(context, c, shared, new ChatListener(place, known));
    });
  });

  routes.get('/:id/stream', async (c) => {
    const session = ownId(SessionId, c.req.param('id'));
    if (!(await sessions.exists(session))) return c.body(null, 204);
    return await tails.with(session, async (tail) => {
      const transcript = new ChatTranscript(session);
      await tail.replay(await tail.head(), (event) => transcript.take(event));
      const last = transcript.messages.at(-1);
      if (!transcript.fold.narration.isBusy || last === undefined) return c.body(null, 204);
      const { position } = transcript.fold.narration;
      // HEAD has no body to wait for.
      if (c.req.method === 'HEAD') return new Response(null, { headers });
      const known = new Set(transcript.messages.map(({ id }) => id));
      const place = { from: 'message', id: last.id, live: position } as const;
      return await stream(context, c, folds.of(tail), new ChatListener(place, known));
    });
  });

  routes.get('/:id/messages', async (c) => {
    const session = ownId(SessionId, c.req.param('id'));
    found((await sessions.exists(session)) ? true : undefined, c);
    return await tails.with(session, async (tail) => {
      const transcript = new ChatTranscript(session);
      await tail.replay(await tail.head(), (event) => transcript.take(event));
      return c.json({ messages: transcript.messages });
    });
  });

  routes.post('/:id/stop', async (c) => {
    const session = ownId(SessionId, c.req.param('id'));
    const caller = callerOf(c, undefined);
    return c.json(granted(await sessions.control(session, 'interrupt', caller)), 202);
  });
  return routes;
}

async function takeInput(
  context: ServerContext,
  c: Context<OnNode>,
  { input, session, shared }: { readonly input: ChatInput; readonly session: string; readonly shared: SharedChat },
): Promise<ChatPlace> {
  if (input.trigger === 'regenerate-message') {
    throw new ProblemError(
      422,
      'cannot_regenerate',
      'a turn that was taken cannot be taken back; say what should be different',
    );
  }
  const speaker = speakerOf(context, c);
  const wishes = parseBody(
    { ...c.req.query(), ...input },
    Target.extend({ priority: z.optional(MessagePriority).catch(undefined) }),
  );
  const { priority, ...target } = wishes;
  if (!(await context.sessions.exists(session))) {
    const words = spokenIn(input).map(wordOf);
    return { from: 'words', words: [await startWith(speaker, session, words, target)], live: 0 };
  }
  const { narration } = await shared.atEnd();
  const live = narration.position;
  const { words, ids } = hear(spokenIn(input), narration);
  const answers = chatAnswers(input).filter(({ request }) => narration.isAsked(request));
  for (const { request, given } of answers) {
    const answer = given === 'cancelled' ? given : { payload: jsonOf(given.payload) };
    await answerFrom(speaker, { session, request }, answer);
  }
  await sendAll(speaker, session, words, priority);
  if (words.length > 0) return { from: 'words', words: words.map(({ id }) => id), live };
  // Said again: its answer was lost on the way.
  if (ids.length > 0) return { from: 'words', words: ids.slice(-1), live };
  return { from: 'position', live: Math.min(heardTo(input) ?? live, live) };
}

function spokenIn({ messages }: ChatInput): readonly Spoken[] {
  const after = messages.findLastIndex(({ role }) => role !== 'user');
  return messages.slice(after + 1).map((message) => ({ id: message.id, content: chatContent(message) }));
}

async function stream(
  { feeds }: ServerContext,
  c: Context<OnNode>,
  shared: SharedChat,
  listener: ChatListener,
): Promise<Response> {
  const options = { headers, reader: c.get('person') };
  await writeStream(feeds, c.env.outgoing, options, (left) => tellChat(shared, listener, left));
  return RESPONSE_ALREADY_SENT;
}
