import type { WorkEvent } from '@concerto/protocol';

/** So many names of a turn are remembered. */
const ownMax = 100_000;

/**
 * Names the messages of an agent that names none: what it says without a break is one message, and a call's result, a
 * person's word or a whole text ends it.
 */
export class MessageIds {
  readonly #prefix: string;
  #turn = '';
  #count = 0;
  #isOpen = false;
  /** Those that the agent named itself in this turn. */
  readonly #own = new Set<string>();

  /** `prefix` tells those who name apart: another owner that goes on with the same turn counts from the beginning. */
  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  stamp(turn: string, event: WorkEvent): WorkEvent {
    if (turn !== this.#turn) {
      this.#turn = turn;
      this.#count = 0;
      this.#isOpen = false;
      this.#own.clear();
    }
    switch (event.type) {
      case 'functionResult':
        this.#isOpen = false;
        return event;
      case 'functionCall':
        return event.isTurn === true || event.childSession !== undefined ? event : this.#named(event);
      case 'thought':
        return this.#named(event);
      case 'content':
        return this.#content(event);
      default:
        return event;
    }
  }

  /** Counts from the beginning, whatever the next turn is called. */
  turnOver(): void {
    this.#turn = '';
  }

  /** Whether the agent has said something under this name in the turn. */
  knows(turn: string, messageId: string): boolean {
    return turn === this.#turn && this.#own.has(messageId);
  }

  #content(event: Extract<WorkEvent, { type: 'content' }>): WorkEvent {
    const isOther = event.content.role === 'user' || event.whole === true;
    if (!isOther) return this.#named(event);
    this.#isOpen = false;
    if (event.content.role === 'user') return event;
    const named = this.#named(event);
    this.#isOpen = false;
    return named;
  }

  #named<Event extends Extract<WorkEvent, { type: 'content' | 'thought' | 'functionCall' }>>(event: Event): Event {
    if (event.messageId !== undefined) {
      this.#isOpen = false;
      if (this.#own.size < ownMax) this.#own.add(event.messageId);
      return event;
    }
    if (!this.#isOpen) this.#count += 1;
    this.#isOpen = true;
    const messageId = `${this.#turn}.${this.#prefix}.${this.#count}`;
    // Given to a copy, the key would take the engine twenty times as long.
    return Object.assign({ type: event.type, messageId }, event, { messageId });
  }
}
