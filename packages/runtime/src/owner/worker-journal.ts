import { LazyEntry } from '@concerto/log';
import type { AgentJournalEntry } from '@concerto/protocol';
import type { Clock } from '../ports.ts';
import { pause } from '../session/store-patience.ts';
import type { KeptLine } from '../session/words-ahead.ts';
import type { WorkerOutput } from '../worker.ts';
import type { OwnerWriter } from './owner-writer.ts';

type Exit = Omit<Extract<AgentJournalEntry, { type: 'exit' }>, 'type' | 'by'>;

/** Of whoever is no process, or whose end nobody saw. */
const unknownExit: Exit = { code: null, signal: null, stderr: '' };

/** So long what an agent writes on stderr may wait to be written down. */
const stderrWithinMs = 10;

/** What the worker of a session says, exactly as it was, for whoever opened the session. */
export class WorkerJournal {
  /** The message that the worker was prompted with last. */
  promptedBy: string | undefined;
  readonly #writer: OwnerWriter;
  readonly #clock: Clock;
  #showsStderr = false;
  #exit = unknownExit;

  constructor(writer: OwnerWriter, clock: Clock) {
    this.#writer = writer;
    this.#clock = clock;
  }

  /** It is on record with what follows from it; `requestId` where it asks. */
  said(output: WorkerOutput, requestId: string | undefined): KeptLine | undefined {
    return this.#keep(this.#entry(output, requestId));
  }

  /** How its process ended; on record when the worker says that it is gone. */
  exited({ code, signal, stderr }: Exit): void {
    this.#exit = { code, signal, stderr };
  }

  /** On record when something else is, or after a moment. */
  stderr(text: string): void {
    this.#keep({ type: 'stderr', by: this.promptedBy, text });
    if (this.#showsStderr) return;
    this.#showsStderr = true;
    void pause(this.#clock, stderrWithinMs).then(async () => {
      this.#showsStderr = false;
      // A failing store is found by what else is written.
      await this.#writer.show([]).catch(() => undefined);
    });
  }

  #keep(value: AgentJournalEntry | undefined): KeptLine | undefined {
    return value === undefined ? undefined : { value, place: this.#writer.keep(new LazyEntry(value)) };
  }

  /** What the journal has of what a worker said; undefined for what is told otherwise. */
  #entry(output: WorkerOutput, request: string | undefined): AgentJournalEntry | undefined {
    const by = this.promptedBy;
    switch (output.kind) {
      case 'message':
        return { type: 'message', by, request, message: output.raw };
      case 'violation':
        return output.fatal ? { type: 'violation', by, message: output.error.message } : undefined;
      case 'gone':
        return { type: 'exit', by, ...this.#exit };
      default:
        return undefined;
    }
  }
}
