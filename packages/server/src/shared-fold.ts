import type { Said } from '@concerto/wires';
import type { Batch, LogTail } from './log-tails.ts';

/** How a wire makes what it says out of a session: a function of the events, the same for all who follow. */
export type FoldedWire<Fold, About> = {
  /** With everything in it up to a position. */
  foldAt(tail: LogTail, position: number): Promise<Fold>;
  tell(fold: Fold, batch: Batch): readonly Said<About>[];
};

/** One reader: what of all that is said is its own. */
export type Listener<Fold, About> = {
  /** Whether it is told, or what it is told instead. */
  hears(about: About): boolean | string;
  /** It has heard the last of what it came for. */
  readonly isOver: boolean;
  /** Its last words, when nothing follows and there is nothing to wait for. */
  rest(fold: Fold): string | undefined;
};

/** A fold and how far it has read. */
export type Place<Fold> = { readonly fold: Fold; readonly position: number };

type Mark<About> = { readonly about: About; readonly start: number; readonly end: number };

/** What is said of the events after a position, encoded once for everybody; marked where readers differ. */
type Frames<About> = {
  readonly from: number;
  readonly to: number;
  readonly bytes: Buffer;
  readonly marks: readonly Mark<About>[];
};

/** As for our own stream: what is kept for those who are a little behind. */
type Kept = { readonly frames: number; readonly bytes: number };
const keptMax: Kept = { frames: 64, bytes: 8 * 1024 * 1024 };

/**
 * A wire's fold of one session, shared by everybody who follows it there. It goes on when the first of them asks for
 * more; whoever stands where it stood takes the same bytes. Who is behind what is kept folds alone until it has caught
 * up, so nobody is waited for.
 */
export class SharedFold<Fold, About> {
  readonly tail: LogTail;
  readonly wire: FoldedWire<Fold, About>;
  readonly #frames = new Map<number, Frames<About>>();
  #bytes = 0;
  #place: Place<Fold> | undefined;
  #opening: Promise<Place<Fold>> | undefined;
  #reading: { readonly growths: number; readonly isMore: Promise<boolean> } | undefined;
  #readers = 0;
  readonly #max: Kept;

  constructor(tail: LogTail, wire: FoldedWire<Fold, About>, max = keptMax) {
    this.tail = tail;
    this.wire = wire;
    this.#max = max;
  }

  get position(): number {
    return this.#place?.position ?? 0;
  }

  /** The fold, with all in it that there is, as of now: it goes on with whoever asks for more. */
  async atEnd(): Promise<Fold> {
    await this.#opened();
    while (await this.advance()) {
      // Until nothing follows.
    }
    return (await this.#opened()).fold;
  }

  /** The fold where it stands, if that is here. */
  foldAt(position: number): Fold | undefined {
    return this.#place?.position === position ? this.#place.fold : undefined;
  }

  /** Somebody's own fold becomes everybody's where there is none; then it is no longer theirs alone. */
  offer(place: Place<Fold>): void {
    if (this.#opening === undefined) this.#place ??= place;
  }

  /** One more follows; when the last of them has left, nothing is kept. */
  join(): () => void {
    this.#readers++;
    return () => {
      this.#readers--;
      if (this.#readers > 0) return;
      this.#place = undefined;
      this.#frames.clear();
      this.#bytes = 0;
    };
  }

  kept(position: number): Frames<About> | undefined {
    return this.#frames.get(position);
  }

  /** The next place after a position at which others have stopped, so that one who folds alone meets them there. */
  meetingPoint(position: number): number {
    for (const { to } of this.#frames.values()) if (to > position) return to;
    return this.position;
  }

  /** Takes what follows, once for all who wait for it; false when nothing does. */
  async advance(): Promise<boolean> {
    const { growths } = this.tail;
    for (;;) {
      this.#reading ??= { growths: this.tail.growths, isMore: this.#read() };
      const reading = this.#reading;
      if (await reading.isMore) return true;
      // One that began before the session grew may have found nothing.
      if (reading.growths >= growths) return false;
    }
  }

  async #read(): Promise<boolean> {
    try {
      const place = await this.#opened();
      const { fold, position } = place;
      const batch = await this.tail.read(position);
      // The last reader has left since, and somebody may have begun anew: whoever waits looks again.
      if (this.#place !== place) return true;
      if (batch === undefined) return false;
      this.#keep(encoded(position, batch.to, this.wire.tell(fold, batch)));
      this.#place = { fold, position: batch.to };
      return true;
    } finally {
      this.#reading = undefined;
    }
  }

  /** At the end of the log, made by whoever comes first: what was before is told to nobody. */
  async #opened(): Promise<Place<Fold>> {
    if (this.#place !== undefined) return this.#place;
    this.#opening ??= this.#open().finally(() => {
      this.#opening = undefined;
    });
    return await this.#opening;
  }

  async #open(): Promise<Place<Fold>> {
    const position = await this.tail.head();
    this.#place = { fold: await this.wire.foldAt(this.tail, position), position };
    return this.#place;
  }

  #keep(frames: Frames<About>): void {
    this.#frames.set(frames.from, frames);
    this.#bytes += frames.bytes.length;
    for (const [from, { bytes }] of this.#frames) {
      if (this.#frames.size <= this.#max.frames && this.#bytes <= this.#max.bytes) return;
      this.#frames.delete(from);
      this.#bytes -= bytes.length;
    }
  }
}

/** The shared folds of one wire, for as long as somebody follows the session. */
export class SharedFolds<Fold, About> {
  readonly #wire: FoldedWire<Fold, About>;
  readonly #byTail = new WeakMap<LogTail, { readonly shared: SharedFold<Fold, About>; readonly rewinds: number }>();

  constructor(wire: FoldedWire<Fold, About>) {
    this.#wire = wire;
  }

  of(tail: LogTail): SharedFold<Fold, About> {
    const known = this.#byTail.get(tail);
    if (known?.rewinds === tail.rewinds) return known.shared;
    const shared = new SharedFold(tail, this.#wire);
    this.#byTail.set(tail, { shared, rewinds: tail.rewinds });
    return shared;
  }
}

/** What a listener is told from a position on, until it has heard all that it came for. */
export async function* follow<Fold, About>(
  shared: SharedFold<Fold, About>,
  from: number,
  listener: Listener<Fold, About>,
  left: AbortSignal,
): AsyncGenerator<Uint8Array | string> {
  const reader = new Reader(shared, from);
  const leave = shared.join();
  try {
    while (!left.aborted && !listener.isOver) {
      const seen = shared.tail.growths;
      const frames = reader.kept() ?? (await reader.next());
      if (frames !== undefined) {
        yield heardBy(listener, frames);
        continue;
      }
      const fold = shared.foldAt(reader.position);
      const last = fold === undefined ? undefined : listener.rest(fold);
      if (last !== undefined) {
        yield last;
        return;
      }
      await shared.tail.grown(seen, left);
    }
  } finally {
    leave();
  }
}

/** A cursor into what is said; with a fold of its own only while it is behind. */
class Reader<Fold, About> {
  position: number;
  readonly #shared: SharedFold<Fold, About>;
  #own: Fold | undefined;

  constructor(shared: SharedFold<Fold, About>, position: number) {
    this.#shared = shared;
    this.position = position;
  }

  kept(): Frames<About> | undefined {
    const frames = this.#shared.kept(this.position);
    if (frames === undefined) return undefined;
    this.#own = undefined;
    return this.#past(frames);
  }

  /** Undefined when nothing follows. */
  async next(): Promise<Frames<About> | undefined> {
    for (;;) {
      if (this.position < this.#shared.position) return this.kept() ?? (await this.#alone());
      // Where all others are, or beyond them: they come after.
      const isMore = await this.#shared.advance();
      if (!isMore && this.position >= this.#shared.position) return undefined;
    }
  }

  async #alone(): Promise<Frames<About> | undefined> {
    const { tail, wire } = this.#shared;
    this.#own ??= await wire.foldAt(tail, this.position);
    const batch = (await tail.read(this.position))?.until(this.#shared.meetingPoint(this.position));
    if (batch === undefined) return undefined;
    return this.#past(encoded(this.position, batch.to, wire.tell(this.#own, batch)));
  }

  #past(frames: Frames<About>): Frames<About> {
    this.position = frames.to;
    return frames;
  }
}

function encoded<About>(from: number, to: number, said: readonly Said<About>[]): Frames<About> {
  const marks: Mark<About>[] = [];
  let end = 0;
  for (const { text, about } of said) {
    const start = end;
    end += Buffer.byteLength(text);
    if (about !== undefined) marks.push({ about, start, end });
  }
  return { from, to, bytes: Buffer.from(said.map(({ text }) => text).join('')), marks };
}

/** The bytes that all share, unless something in them is not for this one. */
function heardBy<Fold, About>(listener: Listener<Fold, About>, { bytes, marks }: Frames<About>): Uint8Array {
  const parts: Uint8Array[] = [];
  let from = 0;
  for (const { about, start, end } of marks) {
    const told = listener.hears(about);
    if (told !== true) {
      parts.push(bytes.subarray(from, start), Buffer.from(told === false ? '' : told));
      from = end;
    }
    if (listener.isOver) return Buffer.concat([...parts, bytes.subarray(from, end)]);
  }
  return parts.length === 0 ? bytes : Buffer.concat([...parts, bytes.subarray(from)]);
}
