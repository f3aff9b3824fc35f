import type { Json, JsonObject } from '@concerto/base';
import { type AgentEvent, textContent, type Usage } from '@concerto/protocol';
import type { Suspend } from '../ports.ts';

/** How the loop is heard: everything it says goes to the session in this order. */
export type AssistantVoice = {
  readonly show: (...events: readonly AgentEvent[]) => void;
  /** A line about the turn that is neither the model's nor a function's. */
  readonly note: (message: string, fields?: JsonObject) => void;
  readonly used: (usage: Usage) => void;
  readonly ask: (event: Suspend, signal: AbortSignal) => Promise<Json>;
  /** Resolves when everything said so far is on record. */
  readonly recorded: (signal: AbortSignal) => Promise<void>;
};

/** A thought is shown a line at a time, or in pieces of this length: each piece is an entry of the log. */
const thoughtCharactersMax = 1_000;

/** What the model has said of a step so far, shown as it comes; stays when the step breaks off. */
export class StepDraft {
  readonly #show: AssistantVoice['show'];
  #thinking = '';
  thought = '';
  text = '';

  constructor(show: AssistantVoice['show']) {
    this.#show = show;
  }

  think(piece: string): void {
    this.thought += piece;
    this.#thinking += piece;
    if (piece.includes('\n') || this.#thinking.length >= thoughtCharactersMax) this.endThought();
  }

  /** Whatever follows comes after the thought. */
  endThought(): void {
    if (this.#thinking.trim() !== '') this.#show({ type: 'thought', text: this.#thinking });
    this.#thinking = '';
  }

  say(piece: string): void {
    this.endThought();
    this.text += piece;
    this.#show({ type: 'content', content: textContent(piece) });
  }
}
