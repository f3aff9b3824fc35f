import type { LineId } from '@concerto/keeper';
import { type Line, LineSplitter } from '@concerto/protocol';
import type {
  AgentExit,
  AgentPrompt,
  AgentReply,
  AgentSettings,
  AgentSteer,
  AgentVerb,
  OutputPlace,
} from './agent-connection.ts';
import type { LineReader } from './agent-process.ts';

/** What a driver was asked, or that an alarm of its own rang. `mark` names it where it was decided. */
export type KeptNote =
  | { readonly alarm: number }
  | { readonly op: 'prompt'; readonly prompt: AgentPrompt; readonly mark?: string }
  | { readonly op: 'reply'; readonly reply: AgentReply; readonly mark?: string }
  | { readonly op: 'line'; readonly line: string; readonly mark?: string }
  | { readonly op: 'steer'; readonly steer: AgentSteer; readonly mark?: string }
  | { readonly op: 'configure'; readonly settings: AgentSettings; readonly mark?: string }
  | { readonly op: 'request'; readonly verb: AgentVerb; readonly mark: string };

export type StepsSink = {
  readonly confirm: (bytes: number) => void;
  readonly pause: () => void;
  readonly resume: () => void;
  readonly alarm: (number: number) => void;
  readonly caughtUp: () => void;
};

/** So much may wait here for the driver; then the keeper is not read. */
const waitingMax = 4 * 1024 * 1024;
const confirmEvery = 1024 * 1024;
/** So many steps in a row, then the rest of our process has its turn. */
const stepsAtOnce = 512;

type Chunk = { readonly lines: readonly Line[]; next: number; readonly length: number };

/**
 * The order of what happens to a driver: each line of the agent's is a step, and each thing that is asked of it is one.
 * Between two of them everything that the first set off is done. So a driver that goes through the same steps again
 * writes the same lines and says the same, and each has its place by number.
 */
export class KeptSteps {
  readonly caughtUp: Promise<void>;
  readonly #sink: StepsSink;
  readonly #splitter = new LineSplitter();
  readonly #chunks: Chunk[] = [];
  readonly #notes: { readonly step: number; readonly note: KeptNote }[] = [];
  #notesToCome: number;
  #bytesBefore: number;
  #isCaughtUp: boolean;
  #resolveCaughtUp: () => void = () => {};
  #step = 0;
  #lines = 0;
  #outputs = 0;
  #fed = 0;
  #confirmed = 0;
  #waiting = 0;
  #isPaused = false;
  #isRunning = false;
  #isStopped = false;
  #inARow = 0;
  #reader: LineReader | undefined;
  readonly #nextNow = (): void => this.#next();
  readonly #tick = (): void => process.nextTick(this.#nextNow);
  #perform: ((note: KeptNote) => void) | undefined;
  #exit: AgentExit | undefined;

  constructor(recorded: { readonly notes: number; readonly bytes: number } | undefined, sink: StepsSink) {
    this.#sink = sink;
    this.#notesToCome = recorded?.notes ?? 0;
    this.#bytesBefore = recorded?.bytes ?? 0;
    this.#isCaughtUp = recorded === undefined;
    this.caughtUp = new Promise((resolve) => {
      this.#resolveCaughtUp = resolve;
    });
    if (this.#isCaughtUp) this.#resolveCaughtUp();
  }

  get isCaughtUp(): boolean {
    return this.#isCaughtUp;
  }

  place(): OutputPlace {
    return { step: this.#step, index: this.#outputs++ };
  }

  lineId(): LineId {
    return { step: this.#step, index: this.#lines++ };
  }

  /** A step that no line of the agent's is; gives its number. */
  begin(): number {
    this.#step++;
    this.#lines = 0;
    this.#outputs = 0;
    return this.#step;
  }

  read(reader: LineReader): void {
    this.#reader = reader;
    this.#run();
  }

  performing(perform: (note: KeptNote) => void): void {
    this.#perform = perform;
    this.#run();
  }

  recorded(step: number, text: string): void {
    // It is what we wrote ourselves.
    const note: KeptNote = JSON.parse(text);
    this.#notes.push({ step, note });
    this.#notesToCome--;
    this.#run();
  }

  said(bytes: Buffer): void {
    const lines = this.#splitter.push(bytes);
    this.#chunks.push({ lines, next: 0, length: bytes.length });
    this.#waiting += bytes.length;
    if (this.#waiting > waitingMax && !this.#isPaused) {
      this.#isPaused = true;
      this.#sink.pause();
    }
    this.#run();
  }

  ended(exit: AgentExit): void {
    this.#exit = exit;
    this.#chunks.push({ lines: this.#splitter.end(), next: 0, length: 0 });
    this.#run();
  }

  resume(): void {
    this.#run();
  }

  stop(): void {
    this.#isStopped = true;
  }

  #run(): void {
    if (this.#isRunning || this.#reader === undefined || this.#notesToCome > 0) return;
    this.#isRunning = true;
    this.#soon();
  }

  /** When all that the last step set off is done. Microtasks come before what a microtask puts on the tick queue. */
  #soon(): void {
    if (++this.#inARow % stepsAtOnce !== 0) return queueMicrotask(this.#tick);
    this.#reader?.rest();
    setImmediate(this.#nextNow);
  }

  #next(): void {
    const reader = this.#reader;
    if (reader === undefined || this.#isStopped || reader.isFull()) {
      this.#isRunning = false;
      reader?.rest();
      return;
    }
    if (!this.#noteIsNext()) this.#dropRead();
    const chunk = this.#chunks[0];
    if (this.#noteIsNext()) {
      if (!this.#redo()) {
        this.#isRunning = false;
        reader.rest();
        return;
      }
    } else if (chunk !== undefined) {
      this.#feed(reader, chunk);
    } else {
      this.#isRunning = false;
      reader.rest();
      this.#nothingLeft(reader);
      return;
    }
    this.#soon();
  }

  #feed(reader: LineReader, chunk: Chunk): void {
    const line = chunk.lines[chunk.next++];
    if (line === undefined) return;
    this.begin();
    reader.line(line);
  }

  /** Chunks of which every line was read. */
  #dropRead(): void {
    for (
      let chunk = this.#chunks[0];
      chunk !== undefined && chunk.next >= chunk.lines.length;
      chunk = this.#chunks[0]
    ) {
      this.#chunks.shift();
      this.#waiting -= chunk.length;
      this.#fed += chunk.length;
      if (this.#isPaused && this.#waiting <= waitingMax / 2) {
        this.#isPaused = false;
        this.#sink.resume();
      }
      if (this.#fed - this.#confirmed >= confirmEvery) {
        this.#confirmed = this.#fed;
        this.#sink.confirm(this.#fed);
      }
    }
    if (!this.#isCaughtUp && this.#notes.length === 0 && this.#fed >= this.#bytesBefore) {
      this.#isCaughtUp = true;
      this.#sink.caughtUp();
      this.#resolveCaughtUp();
    }
  }

  /** Also when all lines that there were are read: a driver of another version may have counted otherwise. */
  #noteIsNext(): boolean {
    const [note] = this.#notes;
    if (note === undefined) return false;
    return note.step <= this.#step + 1 || (this.#fed >= this.#bytesBefore && this.#chunks.length === 0);
  }

  /** False when it must wait for the connection that it was asked of. */
  #redo(): boolean {
    const [next] = this.#notes;
    if (next === undefined) return true;
    if ('alarm' in next.note) {
      this.#notes.shift();
      this.begin();
      this.#sink.alarm(next.note.alarm);
      return true;
    }
    if (this.#perform === undefined) return false;
    this.#notes.shift();
    this.begin();
    this.#perform(next.note);
    return true;
  }

  #nothingLeft(reader: LineReader): void {
    const exit = this.#exit;
    if (exit === undefined) return;
    this.#isStopped = true;
    this.begin();
    reader.end(exit);
  }
}
