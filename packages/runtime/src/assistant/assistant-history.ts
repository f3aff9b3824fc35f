import type { Json } from '@concerto/base';
import type { ModelReasoning } from '@concerto/models';
import { fileOf, type Part } from '@concerto/protocol';

export type AssistantCall = {
  readonly id: string;
  readonly name: string;
  /** As the model wrote them; anything but an object is its slip. */
  readonly args: Json;
  /** What its provider wants back with it. */
  readonly metadata?: Json;
};

export type CallResult = {
  readonly id: string;
  readonly name: string;
  readonly text: string;
  readonly failed: boolean;
  /** Files that it gave beside the text. */
  readonly files?: readonly Part[];
};

/** One thing that was said, whichever way the model is told about it. */
export type Said =
  /** `parts`: all of it, in order, where it is more than text. */
  | { readonly kind: 'user'; readonly text: string; readonly parts?: readonly Part[] }
  | {
      readonly kind: 'model';
      readonly text: string;
      readonly thought: string;
      readonly calls: readonly AssistantCall[];
      /** What its provider wants back of its thoughts. */
      readonly reasoning?: readonly ModelReasoning[];
      /** What it wrote, where that was no good and it should see its own slip. */
      readonly slip?: string;
    }
  /** One for each call before it, in order. */
  | { readonly kind: 'results'; readonly results: readonly CallResult[] }
  /** What we tell the model about its own slips. */
  | { readonly kind: 'system'; readonly text: string };

/** What somebody says to the model. */
export type Utterance = { readonly text: string; readonly parts?: readonly Part[] };

/** A picture is about as much to read as so much text. */
const fileCharacters = 6_000;

/** About a hundred thousand tokens: room for the answer is left even in the smaller windows of today. */
const charactersMax = 400_000;
/** So much text is a token, at least. */
const charactersPerToken = 3;
/** Of what there may be, so much of the end is left as it was when the rest becomes a summary. */
const keptShare = 0.25;

/** The conversation as the model hears it again with each step; when it becomes too long, its beginning is summed up. */
export class AssistantHistory {
  #said: Said[];
  #characters: number;
  readonly #max: number;

  constructor(said: readonly Said[] = [], contextTokens?: number) {
    this.#said = [...said];
    this.#characters = sizeOfAll(said);
    this.#max = contextTokens === undefined ? charactersMax : contextTokens * charactersPerToken;
  }

  get said(): readonly Said[] {
    return this.#said;
  }

  add(one: Said): void {
    this.#said.push(one);
    this.#characters += sizeOf(one);
  }

  /** What has to become a summary now, and how many stay after it; undefined while there is room. */
  get tooLong(): { readonly older: readonly Said[]; readonly kept: number } | undefined {
    if (this.#characters <= this.#max) return undefined;
    const room = this.#max * keptShare;
    let first = this.#said.length - 1;
    for (let size = sizeOf(this.#said[first]); first > 0; first--) {
      size += sizeOf(this.#said[first - 1]);
      if (size > room) break;
    }
    // Results go with their calls: without them no provider takes them.
    while (first > 0 && this.#said[first]?.kind === 'results') first--;
    const older = this.#said.slice(0, first);
    return older.length <= 1 ? undefined : { older, kept: this.#said.length - first };
  }

  compact(summary: string, kept: number): void {
    this.#said = compacted(this.#said, summary, kept);
    this.#characters = sizeOfAll(this.#said);
  }
}

/** The summary in place of all but the last so many. */
export function compacted(said: readonly Said[], summary: string, kept: number): Said[] {
  return [{ kind: 'user', text: summary }, ...said.slice(said.length - kept)];
}

function sizeOfAll(said: readonly Said[]): number {
  return said.reduce((sum, one) => sum + sizeOf(one), 0);
}

function sizeOf(said: Said | undefined): number {
  switch (said?.kind) {
    case undefined:
      return 0;
    case 'user':
      return said.text.length + filesSize(said.parts);
    case 'system':
      return said.text.length;
    case 'model':
      return said.text.length + said.thought.length + JSON.stringify(said.calls).length;
    case 'results':
      return said.results.reduce((sum, { text, files }) => sum + text.length + filesSize(files), 0);
  }
}

function filesSize(parts: readonly Part[] = []): number {
  return parts.filter((part) => fileOf(part) !== undefined).length * fileCharacters;
}
