import { setImmediate } from 'node:timers/promises';
import type { EventLog } from '@concerto/log';
import type { Session, SessionList } from '@concerto/protocol';
import * as z from 'zod';
import type { SessionQuery } from './session-index.ts';

/** One call looks through so many events and rows at most; its cursor goes on from there. */
const eventsMax = 20_000;
const rowsMax = 1_000;
const pageRows = 20;
const pageEvents = 1_000;

type SearchQuery = SessionQuery & { readonly sought: string };

/**
 * Sessions in which every word was said: in their title, agent, id, result, or by anybody in them. There is no index to
 * keep in step: the log is read, newest session first, as far as one call may, and `nextCursor` goes on.
 */
export async function searchSessions(
  log: EventLog,
  query: SearchQuery,
  list: (query: SessionQuery) => Promise<SessionList>,
): Promise<SessionList> {
  const { sought, limit, cursor: from, ...filter } = query;
  const words = sought
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  const sessions: Session[] = [];
  let budget = eventsMax;
  let rows = 0;
  for (let cursor = from; ; ) {
    const page = await list({ ...filter, limit: pageRows, ...(cursor === undefined ? {} : { cursor }) });
    for (const session of page.sessions) {
      const missing = new MissingWords(words);
      missing.hear(rowText(session));
      if (!missing.isNone) budget -= await readTexts(log, session.id, missing, Math.max(budget, pageEvents));
      if (missing.isNone) sessions.push(session);
    }
    rows += pageRows;
    cursor = page.nextCursor;
    const isEnough = sessions.length >= limit || budget <= 0 || rows >= rowsMax;
    if (cursor === undefined || isEnough) return { sessions, ...(cursor === undefined ? {} : { nextCursor: cursor }) };
  }
}

function rowText({ title, agent, id, waiting, error, result }: Session): string {
  return [title, agent, id, waiting?.detail, error?.message, JSON.stringify(result ?? '')].join('\n');
}

const content = z.object({ parts: z.array(z.object({ text: z.string().optional() })) });
const Said = z.discriminatedUnion('type', [
  z.object({ type: z.literal('start'), objective: content }),
  z.object({ type: z.literal('content'), content, messageId: z.string().optional() }),
  z.object({ type: z.literal('waitForInput'), prompt: content }),
  z.object({ type: z.literal('waitForChoice'), prompt: content }),
  z.object({ type: z.literal('error'), message: z.string() }),
]);
const saidTypes: ReadonlySet<string> = new Set(Said.options.map((option) => option.shape.type.value));

/** How many events were read. */
async function readTexts(log: EventLog, session: string, missing: MissingWords, max: number): Promise<number> {
  for (let after = 0; after < max; ) {
    const page = await log.read({ session, stream: 'events', after, limit: pageEvents });
    for (const { type, data } of page.entries) {
      if (!saidTypes.has(type)) continue;
      const said = Said.safeParse(JSON.parse(data)).data;
      if (said === undefined) continue;
      // The pieces of a message are one text; anything else begins a new one.
      if (said.type !== 'content') missing.pause();
      missing.hear(textOf(said));
      if (missing.isNone) return after + page.entries.length;
    }
    after = page.entries.at(-1)?.position ?? after;
    if (page.entries.length < pageEvents) return after;
    // Others are served in between.
    await setImmediate();
  }
  return max;
}

function textOf(said: z.infer<typeof Said>): string {
  switch (said.type) {
    case 'start':
      return partsText(said.objective);
    case 'content':
      return partsText(said.content);
    case 'waitForInput':
    case 'waitForChoice':
      return partsText(said.prompt);
    case 'error':
      return said.message;
  }
}

function partsText({ parts }: z.infer<typeof content>): string {
  return parts.map(({ text = '\n' }) => text).join('');
}

/** The words that were not heard yet, in a text that comes in pieces. */
class MissingWords {
  #missing: readonly string[];
  readonly #longest: number;
  #tail = '';

  constructor(words: readonly string[]) {
    this.#missing = words;
    this.#longest = Math.max(0, ...words.map(({ length }) => length));
  }

  get isNone(): boolean {
    return this.#missing.length === 0;
  }

  hear(piece: string): void {
    const text = this.#tail + piece.toLowerCase();
    this.#missing = this.#missing.filter((word) => !text.includes(word));
    this.#tail = text.slice(text.length - Math.min(text.length, this.#longest));
  }

  pause(): void {
    this.#tail = '';
  }
}
