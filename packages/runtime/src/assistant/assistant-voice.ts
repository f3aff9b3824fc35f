import type { Json, JsonObject } from '@concerto/base';
import { type AgentEvent, textContent, type Usage, type UsageSource } from '@concerto/protocol';
import type { Suspend } from '../worker.ts';

/** How the loop is heard: everything it says goes to the session in this order. */
export type AssistantVoice = {
  readonly show: (...events: readonly AgentEvent[]) => void;
  /** A line about the turn that is neither the model's nor a function's. */
  readonly note: (message: string, fields?: JsonObject) => void;
  readonly used: (usage: Usage, source: UsageSource) => void;
  readonly ask: (event: Suspend, signal: AbortSignal) => Promise<Json>;
  /** Calls once after a while; the returned function takes it back. */
  readonly after: (ms: number, call: () => void) => () => void;
  /** Resolves when everything said so far is on record. */
  readonly recorded: (signal: AbortSignal) => Promise<void>;
};

/** A thought is shown a line at a time, or in pieces of this length: each piece is an entry of the log. */
const thoughtCharactersMax = 1_000;
/** Words that come faster than this are shown together: fast enough for an eye, and a fraction of the entries. */
const gatherMs = 40;

/** What the model has said of a step so far, shown as it comes; stays when the step breaks off. */
export class StepDraft {
  readonly #voice: Pick<AssistantVoice, 'show' | 'after'>;
  /** The message that the step is, in every event about it. */
  readonly messageId: string;
  #unshownThought = '';
  #unshownText = '';
  #cancelGathering: (() => void) | undefined;
  /** As far as it was shown: a conversation that is read back is the same. */
  thought = '';
  text = '';

  constructor(voice: Pick<AssistantVoice, 'show' | 'after'>, messageId: string) {
    this.#voice = voice;
    this.messageId = messageId;
  }

  think(piece: string): void {
    this.#showText();
    this.#unshownThought += piece;
    if (piece.includes('\n') || this.#unshownThought.length >= thoughtCharactersMax) this.#showThought();
  }

  say(piece: string): void {
    this.#showThought();
    this.text += piece;
    this.#unshownText += piece;
    if (this.#cancelGathering === undefined) this.#gather();
  }

  /** Nothing more comes for now: what is left is shown. */
  end(): void {
    this.#cancelGathering?.();
    this.#cancelGathering = undefined;
    this.#showThought();
    this.#showText();
  }

  /** The first words at once, those of the next moment after it. */
  #gather(): void {
    this.#showText();
    this.#cancelGathering = this.#voice.after(gatherMs, () => {
      this.#cancelGathering = undefined;
      if (this.#unshownText !== '') this.#gather();
    });
  }

  #showText(): void {
    const text = this.#unshownText;
    this.#unshownText = '';
    const { messageId } = this;
    if (text !== '') this.#voice.show({ type: 'content', content: textContent(text), messageId });
  }

  #showThought(): void {
    const text = this.#unshownThought;
    // An empty line waits for what follows it: it is worth no entry of its own.
    if (text.trim() === '') return;
    this.#unshownThought = '';
    this.thought += text;
    this.#voice.show({ type: 'thought', text, messageId: this.messageId });
  }
}
