import { turnCallId } from '@concerto/session';
import type { TraceEntry } from '@concerto/vm';
import type { Clock } from '../ports.ts';
import type { WorkerOutput } from '../worker.ts';

/** A program that goes from wait to wait without end tells of it so often. */
const tellEveryMs = 200;
/** Tasks that run side by side stand in as many places. */
const placesMax = 20;

/** Says in the program's session where in its source it stands while it waits. */
export class ProgramPlace {
  readonly #clock: Clock;
  readonly #say: (output: WorkerOutput) => void;
  readonly #callId: string;
  #told = '';
  #latest: readonly TraceEntry[] = [];
  #takeBack: (() => void) | undefined;
  #toldAt = 0;

  constructor(clock: Clock, turn: number, say: (output: WorkerOutput) => void) {
    this.#clock = clock;
    this.#callId = turnCallId(turn);
    this.#say = say;
  }

  stands(places: readonly TraceEntry[]): void {
    this.#latest = places;
    const soonest = Math.max(this.#clock.now(), this.#toldAt + tellEveryMs);
    this.#takeBack ??= this.#clock.at(soonest, () => this.#tell());
  }

  end(): void {
    this.#takeBack?.();
  }

  #tell(): void {
    this.#takeBack = undefined;
    this.#toldAt = this.#clock.now();
    const found = this.#latest.flatMap(({ file, line }) => (file === undefined ? [] : [{ path: file, line }]));
    const locations = [...new Map(found.map((place) => [`${place.path}:${place.line}`, place])).values()];
    const key = JSON.stringify(locations);
    if (locations.length === 0 || key === this.#told) return;
    this.#told = key;
    const event = { type: 'functionCallUpdate', callId: this.#callId, status: null } as const;
    this.#say({ kind: 'events', events: [{ ...event, locations: locations.slice(0, placesMax) }] });
  }
}
