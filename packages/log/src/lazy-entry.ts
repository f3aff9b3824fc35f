import { encodeEvent } from '@concerto/protocol';
import type { NewEntry } from './event-log.ts';

/**
 * An entry whose text is made when somebody reads it: a store in memory holds what it says, and most of that is read by
 * nobody. What it says is not changed any more.
 */
export class LazyEntry implements NewEntry {
  readonly type: string;
  /** What the text says, but for the time of an event. */
  readonly value: { readonly type: string };
  readonly aside: true | undefined;
  readonly #at: string | undefined;
  #data: string | undefined;
  #size: number | undefined;

  /** `at`: of an event, when it was recorded. */
  constructor(value: { readonly type: string }, at?: string, aside?: true) {
    this.type = value.type;
    this.value = value;
    this.aside = aside;
    this.#at = at;
  }

  get data(): string {
    this.#data ??= this.#at === undefined ? JSON.stringify(this.value) : encodeEvent(this.value, this.#at);
    return this.#data;
  }

  /** About the length of the text: to make it for that alone would cost as much as all else that is done with it. */
  get size(): number {
    this.#size ??= this.#data?.length ?? aboutSize(this.value);
    return this.#size;
  }
}

function aboutSize(value: unknown): number {
  if (typeof value === 'string') return value.length + 2;
  if (typeof value !== 'object' || value === null) return 5;
  let size = 2;
  if (isRecord(value)) {
    // Not `Object.keys`: a list of them for each object of each word is a tenth of what a word leaves behind.
    for (const key in value) size += key.length + 4 + aboutSize(value[key]);
  } else if (Array.isArray(value)) {
    for (const item of value) size += aboutSize(item);
  }
  return size;
}

function isRecord(value: object): value is Readonly<Record<string, unknown>> {
  return !Array.isArray(value);
}
