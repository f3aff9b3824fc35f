import type { Json, JsonObject } from '@concerto/base';
import type { Clock } from '../ports.ts';

type Owed = { readonly type: string; readonly id: Json; readonly takeBack: () => void };
type Message = JsonObject & { readonly type: string };

export function wantsReply({ type, expects_reply: expects }: Message): boolean {
  return type === 'question' || type === 'approval' || expects === true;
}

/** Messages that wait for a reply, each with its own limit. */
export class OwedReplies {
  readonly #clock: Clock;
  readonly #seconds: number | undefined;
  readonly #onLate: (type: string) => void;
  #owed: Owed[] = [];

  constructor(clock: Clock, seconds: number | undefined, onLate: (type: string) => void) {
    this.#clock = clock;
    this.#seconds = seconds;
    this.#onLate = onLate;
  }

  /** The program has the message now. */
  handed(message: Message): void {
    const { type } = message;
    if (this.#seconds === undefined) return;
    if (!wantsReply(message)) return;
    const takeBack = this.#clock.at(this.#clock.now() + this.#seconds * 1000, () => this.#onLate(type));
    this.#owed.push({ type, id: message.id ?? null, takeBack });
  }

  get some(): boolean {
    return this.#owed.length > 0;
  }

  /** The oldest such message has its reply. */
  replied(type: string, id: Json): void {
    const index = this.#owed.findIndex((owed) => owed.type === type && owed.id === id);
    if (index >= 0) for (const { takeBack } of this.#owed.splice(index, 1)) takeBack();
  }

  clear(): void {
    for (const { takeBack } of this.#owed) takeBack();
    this.#owed = [];
  }
}
