import type { Alarm } from '../agent-process.ts';

/** Silence after which an agent that speaks no NDJSON is taken to have said its answer. */
const silenceMs = 300;
/** An answer in plain text that grows beyond this is handed over as far as it came. */
const collectedLengthMax = 8 * 1024 * 1024;

type PlainTextSink = {
  readonly result: (text: string) => void;
  readonly log: (text: string) => void;
  readonly later: (ms: number, call: () => void) => Alarm;
};

/**
 * Decides what a plain line is. Until the agent sends its first typed message its lines are an answer: one result a
 * turn, the lines up to a silence or the exit. From the first typed message on they are log lines, and so are those
 * already collected: then they were a banner. An `init_ack` is no such message: some answer it and speak plainly then.
 */
export class PlainTextAnswer {
  readonly #sink: PlainTextSink;
  #collected: string[] = [];
  #collectedLength = 0;
  #speaksTyped = false;
  /** The first lines may come before the first prompt, from a program that does not wait for it. */
  #turn: 'unasked' | 'asked' | 'answered' = 'unasked';
  #silence: Alarm | undefined;

  constructor(sink: PlainTextSink) {
    this.#sink = sink;
  }

  line(text: string): void {
    if (this.#speaksTyped || this.#turn === 'answered') {
      if (text.trim() !== '') this.#sink.log(text);
      return;
    }
    if (this.#collected.length === 0 && text.trim() === '') return;
    this.#collected.push(text);
    this.#collectedLength += text.length + 1;
    if (this.#collectedLength > collectedLengthMax) this.#answer();
    else this.#awaitSilence();
  }

  prompted(): void {
    this.#turn = 'asked';
    if (this.#collected.length > 0) this.#awaitSilence();
  }

  typedMessage(): void {
    if (this.#speaksTyped) return;
    this.#speaksTyped = true;
    for (const text of this.#take()) this.#sink.log(text);
  }

  /** What came before it was not the answer to a prompt. */
  acknowledged(): void {
    if (this.#turn === 'unasked') for (const text of this.#take()) this.#sink.log(text);
  }

  exited(): void {
    if (this.#collected.length > 0) this.#answer();
  }

  #awaitSilence(): void {
    if (this.#turn !== 'asked') return;
    if (this.#silence === undefined) this.#silence = this.#sink.later(silenceMs, () => this.#answer());
    else this.#silence.refresh();
  }

  #answer(): void {
    this.#turn = 'answered';
    const lines = this.#take();
    while (lines.at(-1)?.trim() === '') lines.pop();
    this.#sink.result(lines.join('\n'));
  }

  #take(): string[] {
    this.#silence?.cancel();
    this.#silence = undefined;
    const lines = this.#collected;
    this.#collected = [];
    this.#collectedLength = 0;
    return lines;
  }
}
