import type { ErrorEvent, SignalErrorCode, SignalEvent } from './events.ts';

/** Where the parts of one parser put their events: it holds the time of the current push and knows the turn's end. */
export class EventSink {
  readonly emit: (event: SignalEvent) => void;
  private readonly now: () => number;
  private readonly stopAtError: boolean;
  time = 0;
  /** Nothing may be emitted any more. */
  done = false;
  private started = false;

  constructor(emit: (event: SignalEvent) => void, now: () => number, stopAtError: boolean) {
    this.emit = emit;
    this.now = now;
    this.stopAtError = stopAtError;
  }

  /** Reads the clock; a clock that steps back does not take the events with it. */
  tick(): void {
    const now = this.now();
    if (now > this.time || !this.started) this.time = now;
    this.started = true;
  }

  error(code: SignalErrorCode, content: string, where?: { source: string; position: number }): void {
    if (this.done) return;
    const event: ErrorEvent = { type: 'error', code, content, timestamp: this.time };
    if (where !== undefined) {
      event.source = where.source;
      event.position = where.position;
    }
    if (this.stopAtError) this.done = true;
    this.emit(event);
  }
}
