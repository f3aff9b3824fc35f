import { assert } from '@concerto/base';
import type { Placed } from './agent-connection.ts';
import type { AgentProcess } from './agent-process.ts';

/** Beyond either, the agent's stdout is not read until its reader has caught up. One more chunk may still come in. */
const bufferedItemsMax = 4_096;
const bufferedLengthMax = 4 * 1024 * 1024;

/** What was said and not yet read: a queue with one reader, who takes all of it at once. */
export class OutputBuffer<Item extends object> implements AsyncIterable<readonly (Item & Placed)[]> {
  readonly #source: Pick<AgentProcess, 'resume' | 'place'>;
  #items: (Item & Placed)[] = [];
  #length = 0;
  #state: 'open' | 'ended' | 'abandoned' = 'open';
  #isRead = false;
  #gathers = false;
  #wake: (() => void) | undefined;

  /** The source goes on when a full buffer has been emptied. */
  constructor(source: Pick<AgentProcess, 'resume' | 'place'>) {
    this.#source = source;
  }

  get isFull(): boolean {
    return this.#items.length >= bufferedItemsMax || this.#length >= bufferedLengthMax;
  }

  /** The item is ours from now on: it is given its place. */
  push(item: Item, length: number): void {
    // After its reader has left there is nobody to tell, and the agent must not block on a full pipe.
    if (this.#state === 'abandoned') return;
    assert(this.#state === 'open', 'nothing is said after the end');
    const { place } = this.#source;
    this.#items.push(place === undefined ? item : Object.assign(item, { at: place() }));
    this.#length += length;
    if (!this.#gathers) this.#wakeReader();
  }

  /** More may come at once: its reader is woken for all of it by `wake`. */
  gather(): void {
    this.#gathers = true;
  }

  wake(): void {
    this.#gathers = false;
    if (this.#items.length > 0) this.#wakeReader();
  }

  end(): void {
    if (this.#state === 'open') this.#state = 'ended';
    this.#wakeReader();
  }

  #wakeReader(): void {
    const wake = this.#wake;
    if (wake === undefined) return;
    this.#wake = undefined;
    wake();
  }

  [Symbol.asyncIterator](): AsyncIterator<readonly (Item & Placed)[], undefined> {
    assert(!this.#isRead, 'an agent has one reader');
    this.#isRead = true;
    return {
      next: async () => {
        while (this.#items.length === 0 && this.#state === 'open') {
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
        }
        if (this.#items.length > 0) return { done: false, value: this.#takeAll() };
        return { done: true, value: undefined };
      },
      return: async () => {
        this.#state = 'abandoned';
        this.#takeAll();
        this.#wakeReader();
        return { done: true, value: undefined };
      },
    };
  }

  #takeAll(): readonly (Item & Placed)[] {
    const wasFull = this.isFull;
    const items = this.#items;
    this.#items = [];
    this.#length = 0;
    if (wasFull) this.#source.resume();
    return items;
  }
}
