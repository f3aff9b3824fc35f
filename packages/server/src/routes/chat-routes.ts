import { MessagePriority, SessionId } from '@concerto/protocol';
import {
  answerId,
  ChatFold,
  ChatInput,
  ChatTranscript,
  chatAnswers,
  chatContent,
  heardTo,
  isHeardOut,
  isTransient,
} from '@concerto/wires';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { type Context, Hono } from 'hono';
import * as z from 'zod';
import { streamHeaders } from '../event-stream.ts';
import type { LogTail } from '../log-tails.ts';
import { callerOf } from '../people/check-role.ts';
import { ProblemError } from '../problem.ts';
import { parseBody, readJson } from '../read-body.ts';
import type { OnNode, ServerContext } from '../server-context.ts';
import {
  answerFrom,
  jsonOf,
  ownId,
  readTo,
  sendAll,
  speakerOf,
  startWith,
  Target,
  type Word,
  wordOf,
} from '../wire-session.ts';
import { writeStream } from '../wire-stream.ts';
import { found, granted } from './session-routes.ts';

const headers = { ...streamHeaders, 'x-vercel-ai-ui-message-stream': 'v1' };

/** The chat endpoints that `useChat` calls. A chat is a session, a turn is one message of the assistant. */
export function chatRoutes(context: ServerContext): Hono<OnNode> {
  const { sessions, tails } = context;
  const routes = new Hono<OnNode>();

  routes.post('/', async (c) => {
    const input = parseBody(await readJson(c), ChatInput);
    const session = ownId(SessionId, input.id);
    return await tails.with(session, async (tail) => {
      const place = await takeInput(context, c, { input, session, tail });
      const known = new Set(input.messages.flatMap(({ id, role }) => (role === 'user' ? [id] : [])));
      return await stream(context, c, { tail, place, fold: new ChatFold(session, known) });
    });
  });

  routes.get('/:id/stream', async (c) => {
    const session = ownId(SessionId, c.req.param('id'));
    if (!(await sessions.exists(session))) return c.body(null, 204);
    return await tails.with(session, async (tail) => {
      const transcript = new ChatTranscript(session);
      await readTo(tail, { narration: transcript.fold.narration, take: (event) => transcript.take(event) });
      const last = transcript.messages.at(-1);
      if (!transcript.fold.narration.isBusy || last === undefined) return c.body(null, 204);
      const { position } = transcript.fold.narration;
      // HEAD has no body to wait for.
      if (c.req.method === 'HEAD') return new Response(null, { headers });
      const known = new Set(transcript.messages.map(({ id }) => id));
      const place = { from: 'message', id: last.id, live: position } as const;
      return await stream(context, c, { tail, place, fold: new ChatFold(session, known) });
    });
  });

  routes.get('/:id/messages', async (c) => {
    const session = ownId(SessionId, c.req.param('id'));
    found((await sessions.exists(session)) ? true : undefined, c);
    return await tails.with(session, async (tail) => {
      const transcript = new ChatTranscript(session);
      await readTo(tail, { narration: transcript.fold.narration, take: (event) => transcript.take(event) });
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

/** From where a client is told: the answer to what it said, a message from its beginning, or on from a position. */
type Place =
  | { readonly from: 'words'; readonly words: readonly string[]; readonly live: number }
  | { readonly from: 'message'; readonly id: string; readonly live: number }
  | { readonly from: 'position'; readonly live: number };

async function takeInput(
  context: ServerContext,
  c: Context<OnNode>,
  { input, session, tail }: { readonly input: ChatInput; readonly session: string; readonly tail: LogTail },
): Promise<Place> {
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
    return { from: 'words', words: [await startWith(speaker, session, newWords(input), target)], live: 0 };
  }
  const { narration, ...fold } = readerOf(new ChatFold(session));
  await readTo(tail, { narration, ...fold });
  const live = narration.position;
  const words = newWords(input).filter(({ id }) => !narration.hasHeard(id));
  const answers = chatAnswers(input).filter(({ request }) => narration.isAsked(request));
  for (const { request, given } of answers) {
    const answer = given === 'cancelled' ? given : { payload: jsonOf(given.payload) };
    await answerFrom(speaker, { session, request }, answer);
  }
  await sendAll(speaker, session, words, priority);
  if (words.length > 0) return { from: 'words', words: words.map(({ id }) => id), live };
  return { from: 'position', live: Math.min(heardTo(input) ?? live, live) };
}

function readerOf(fold: ChatFold) {
  return { narration: fold.narration, take: (event: Parameters<ChatFold['take']>[0]) => fold.take(event) };
}

function newWords({ messages }: ChatInput): readonly Word[] {
  const after = messages.findLastIndex(({ role }) => role !== 'user');
  return messages.slice(after + 1).map((message) => wordOf(message.id, chatContent(message)));
}

async function stream(
  { feeds }: ServerContext,
  c: Context<OnNode>,
  told: { readonly tail: LogTail; readonly place: Place; readonly fold: ChatFold },
): Promise<Response> {
  const options = { headers, reader: c.get('person') };
  await writeStream(feeds, c.env.outgoing, options, (left) => tell({ ...told, left }));
  return RESPONSE_ALREADY_SENT;
}

async function* tell(told: {
  readonly tail: LogTail;
  readonly place: Place;
  readonly fold: ChatFold;
  readonly left: AbortSignal;
}): AsyncGenerator<string> {
  const { tail, place, fold, left } = told;
  const teller = new Teller(place, fold);
  while (!left.aborted) {
    const seen = tail.growths;
    const batch = await tail.read(fold.narration.position);
    if (batch !== undefined) {
      yield frames(batch.events.flatMap((event) => teller.take(event)));
    } else if (teller.hasBegun && isHeardOut(fold.narration, [])) {
      if (!teller.isOver) yield frames(fold.paused());
      teller.isOver = true;
    } else if (fold.narration.isOver) {
      teller.isOver = true;
    } else {
      await tail.grown(seen, left);
    }
    if (teller.isOver) {
      yield 'data: [DONE]\n\n';
      return;
    }
  }
}

type Chunks = ReturnType<ChatFold['take']>;

/** Of all that a fold says, what this client is told. */
class Teller {
  hasBegun: boolean;
  isOver = false;
  readonly #place: Place;
  readonly #fold: ChatFold;
  /** Calls that stand in the message as the client has it; another one would have nowhere to go. */
  readonly #calls = new Set<string>();

  constructor(place: Place, fold: ChatFold) {
    this.#place = place;
    this.#fold = fold;
    this.hasBegun = false;
  }

  take(event: Parameters<ChatFold['take']>[0]): Chunks {
    if (this.isOver) return [];
    const chunks = this.#fold.take(event);
    if (this.#place.from === 'position') return this.#fromPosition(event.seq, chunks);
    const isLive = event.seq > this.#place.live;
    const told = chunks.filter((chunk) => {
      if (isTransient(chunk)) return isLive && !this.isOver;
      if (chunk.type === 'start' && this.#isFirst(chunk.messageId)) this.hasBegun = true;
      return this.hasBegun && !this.isOver && this.#fits(chunk);
    });
    return this.hasBegun ? told : [...told, ...this.#steered()];
  }

  #fromPosition(seq: number, chunks: Chunks): Chunks {
    if (seq < this.#place.live) return [];
    const isCrossed = !this.hasBegun;
    this.hasBegun = true;
    const goesOn = isCrossed ? this.#fold.goOn() : [];
    if (seq === this.#place.live) return goesOn;
    const told: Chunks[number][] = [...goesOn];
    for (const chunk of chunks) {
      if (this.isOver) break;
      told.push(chunk);
      this.isOver = chunk.type === 'finish';
    }
    return told;
  }

  #isFirst(messageId: string): boolean {
    if (this.#place.from === 'message') return messageId === this.#place.id;
    return this.#place.from === 'words' && this.#place.words.some((id) => messageId === answerId(id));
  }

  /** What was said into a running turn is answered from there on. */
  #steered(): Chunks {
    const { place, narration } = { place: this.#place, narration: this.#fold.narration };
    const [first] = place.from === 'words' ? place.words : [];
    if (first === undefined || !narration.hasHeard(first) || narration.isPending(first)) return [];
    this.hasBegun = true;
    return [
      { type: 'start', messageId: answerId(first), messageMetadata: { position: narration.position } },
      { type: 'start-step' },
      ...this.#fold.goOn(),
    ];
  }

  #fits(chunk: Chunks[number]): boolean {
    if (chunk.type === 'finish') this.isOver = true;
    if (!('toolCallId' in chunk)) return true;
    if (chunk.type === 'tool-input-start') this.#calls.add(chunk.toolCallId);
    return this.#calls.has(chunk.toolCallId);
  }
}

function frames(chunks: Chunks): string {
  return chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('');
}
