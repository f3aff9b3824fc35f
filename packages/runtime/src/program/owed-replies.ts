import type { Json, JsonObject } from '@concerto/base';

/** A longer timer fires at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

type Owed = { readonly type: string; readonly id: Json; readonly timer: NodeJS.Timeout };
type Message = JsonObject & { readonly type: string };

export function wantsReply({ type, expects_reply: expects }: Message): boolean {
  return type === 'question' || type === 'approval' || expects === true;
}

/** Messages that wait for a reply, each with its own limit. */
export class OwedReplies {
  readonly #seconds: number | undefined;
  readonly #onLate: (type: string) => void;
  #owed: Owed[] = [];

  constructor(seconds: number | undefined, onLate: (type: string) => void) {
    this.#seconds = seconds;
    this.#onLate = onLate;
  }

  /** The program has the message now. */
  handed(message: Message): void {
    const { type } = message;
    if (this.#seconds === undefined) return;
    if (!wantsReply(message)) return;
    const timer = setTimeout(() => this.#onLate(type), Math.min(this.#seconds * 1000, LONGEST_TIMER_MS));
    this.#owed.push({ type, id: message.id ?? null, timer });
  }

  get some(): boolean {
    return this.#owed.length > 0;
  }

  /** The oldest such message has its reply. */
  replied(type: string, id: Json): void {
    const index = this.#owed.findIndex((owed) => owed.type === type && owed.id === id);
    if (index >= 0) for (const { timer } of this.#owed.splice(index, 1)) clearTimeout(timer);
  }

  clear(): void {
    for (const { timer } of this.#owed) clearTimeout(timer);
    this.#owed = [];
  }
}
