import type { Json } from '@concerto/base';
import { isSettled, type SessionState } from '@concerto/session';
import type { HeardEntry } from './read-journal-entry.ts';

export type Question = { readonly type: string; readonly id: Json; readonly requestId: string };

type ReplyLine = {
  readonly in_reply_to: string;
  readonly in_reply_to_id?: string | number;
  readonly value?: Json;
  readonly error?: Json;
};

/** What an agent waits for an answer to, by the names that it gave and by those of its session's requests. */
export class ChildQuestions {
  #open: Question[] = [];
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
    const name = JSON.stringify([type, id]);
    this.#settledBefore.delete(name);
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

  /** Takes the oldest that a reply is to; undefined for a reply to something that asks nothing. */
  answeredBy(line: string): { readonly requestId: string; readonly response: Json } | undefined {
    const reply: ReplyLine = JSON.parse(line);
    const index = this.#indexOf(reply);
    const [question] = index < 0 ? [] : this.#open.splice(index, 1);
    if (question === undefined) return undefined;
    const response = reply.error === undefined ? (reply.value ?? null) : { error: reply.error };
    return { requestId: question.requestId, response };
  }

  /** Takes those that are settled by now. */
  settledIn(state: SessionState): readonly Question[] {
    const settled = this.#open.filter(({ requestId }) => isSettled(state, requestId));
    if (settled.length > 0) this.#open = this.#open.filter((question) => !settled.includes(question));
    return settled;
  }

  clear(): void {
    this.#open = [];
    this.#settledBefore.clear();
  }

  #indexOf({ in_reply_to: type, in_reply_to_id: id }: ReplyLine): number {
    return this.#open.findIndex((question) => question.type === type && question.id === (id ?? null));
  }
}
