import type { Json } from '@concerto/base';
import { fileOf, type Part } from '@concerto/protocol';

export type AssistantCall = {
  readonly id: string;
  readonly name: string;
  /** As the model wrote them; anything but an object is its slip. */
  readonly args: Json;
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

type Turn = { readonly said: Said[]; characters: number };

/** The conversation as the model hears it again with each step; the oldest turns go when it becomes too long. */
export class AssistantHistory {
  readonly #turns: Turn[];

  constructor(turns: readonly (readonly Said[])[] = []) {
    this.#turns = turns.map((said) => ({
      said: [...said],
      characters: said.reduce((sum, one) => sum + sizeOf(one), 0),
    }));
  }

  get said(): readonly Said[] {
    return this.#turns.flatMap((turn) => turn.said);
  }

  /** Begins a turn; tells how many were left out for it. */
  begin(said: Utterance): number {
    this.#turns.push({ said: [], characters: 0 });
    this.add({ kind: 'user', ...said });
    let characters = this.#turns.reduce((sum, turn) => sum + turn.characters, 0);
    let left = 0;
    while (characters > charactersMax && this.#turns.length > 1) {
      characters -= this.#turns.shift()?.characters ?? 0;
      left += 1;
    }
    return left;
  }

  add(one: Said): void {
    const turn = this.#turns.at(-1);
    if (turn === undefined) return;
    turn.said.push(one);
    turn.characters += sizeOf(one);
  }
}

function sizeOf(said: Said): number {
  switch (said.kind) {
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
