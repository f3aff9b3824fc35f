import type { Json } from '@concerto/base';
import { isSettled, isToPerson, openRequests, type SessionState } from '@concerto/session';
import type { HeardEntry } from '../session/read-journal-entry.ts';

export type Question = { readonly type: string; readonly id: Json; readonly requestId: string };

type ReplyLine = {
  readonly in_reply_to: string;
  readonly in_reply_to_id?: string | number;
  readonly value?: Json;
  readonly error?: Json;
};

/** What the program says to one. */
type Answer = { readonly requestId: string; readonly response: Json };

/** What an agent waits for an answer to, by the names that it gave and by those of its session's requests. */
export class ChildQuestions {
  #open: Question[] = [];
  /** Of those that the program has no handler for: what it says to that. */
  readonly #declined = new Map<string, string>();
  /** By their names: a reply that was on its way when somebody else was quicker is none to something that asks nothing. */
  readonly #settled = new Set<string>();
  /** Settled when it was heard again: the last under each name, since only that one's handler can run still. */
  readonly #settledBefore = new Map<string, Question>();

  get size(): number {
    return this.#open.length;
  }

  /** `state`: what is settled in it is asked no more. */
  add(entry: HeardEntry, state?: SessionState): void {
    if (entry.type !== 'message' || entry.request === undefined) return;
    const { request: requestId, message } = entry;
    const { type } = message;
    const id = typeof message.id === 'string' || typeof message.id === 'number' ? message.id : null;
    const name = nameOf(type, id);
    this.#settledBefore.delete(name);
    this.#settled.delete(name);
    if (state !== undefined && isSettled(state, requestId)) this.#settledBefore.set(name, { type, id, requestId });
    else this.#open.push({ type, id, requestId });
  }

  /** Takes those that were settled while nobody here heard of it. */
  settledBefore(): readonly Question[] {
    const settled = [...this.#settledBefore.values()];
    this.#settledBefore.clear();
    return settled;
  }

  /** The program has not answered it yet. */
  waits({ requestId }: { readonly requestId: string }): boolean {
    return this.#open.some((question) => question.requestId === requestId);
  }

  has(line: string): boolean {
    return this.#indexOf(JSON.parse(line)) >= 0;
  }

  /** Leaves the oldest that a reply is to to others; false where it is to something that asks nothing. */
  decline(line: string): boolean {
    const reply: ReplyLine = JSON.parse(line);
    // Two may have one name: each is left with a reply of its own.
    const question = this.#open.find((one) => isTo(reply, one) && !this.#declined.has(one.requestId));
    if (question !== undefined) this.#declined.set(question.requestId, line);
    return question !== undefined || this.#isSettled(reply);
  }

  /** What was said to those of them that only a person could answer now. */
  leftIn(state: SessionState): readonly string[] {
    if (this.#declined.size === 0) return [];
    const left = openRequests(state).filter(isToPerson);
    return left.flatMap(({ requestId }) => this.#declined.get(requestId) ?? []);
  }

  /** Takes the oldest that a reply is to; undefined for a reply to something that asks nothing. */
  answeredBy(line: string): Answer | 'settled' | undefined {
    const reply: ReplyLine = JSON.parse(line);
    const index = this.#indexOf(reply);
    const [question] = index < 0 ? [] : this.#open.splice(index, 1);
    if (question === undefined) return this.#isSettled(reply) ? 'settled' : undefined;
    this.#declined.delete(question.requestId);
    const response = reply.error === undefined ? (reply.value ?? null) : { error: reply.error };
    return { requestId: question.requestId, response };
  }

  /** Takes those that are settled by now; gives those that the program is still at. */
  settledIn(state: SessionState): readonly Question[] {
    const settled = this.#open.filter(({ requestId }) => isSettled(state, requestId));
    if (settled.length === 0) return settled;
    this.#open = this.#open.filter((question) => !settled.includes(question));
    for (const { type, id } of settled) this.#settled.add(nameOf(type, id));
    return settled.filter(({ requestId }) => !this.#declined.delete(requestId));
  }

  clear(): void {
    this.#open = [];
    this.#declined.clear();
    this.#settled.clear();
    this.#settledBefore.clear();
  }

  #isSettled({ in_reply_to: type, in_reply_to_id: id }: ReplyLine): boolean {
    return this.#settled.has(nameOf(type, id ?? null));
  }

  #indexOf(reply: ReplyLine): number {
    return this.#open.findIndex((question) => isTo(reply, question));
  }
}

function isTo({ in_reply_to: type, in_reply_to_id: id }: ReplyLine, question: Question): boolean {
  return question.type === type && question.id === (id ?? null);
}

function nameOf(type: string, id: Json): string {
  return JSON.stringify([type, id]);
}
