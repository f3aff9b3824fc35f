import type { DocumentWrite, Entry, EventLog } from '@concerto/log';
import * as z from 'zod';
import type { OwnerWriter } from '../owner/owner-writer.ts';
import { JournalError, type JournalMarks, type JournalTape } from '../program/journal-file.ts';
import { nothingHeard } from './run-words.ts';

const pageEntries = 1_000;

/** What is read back after a crash is at most about so long; a mark costs as much as it holds, so a big one is rarer. */
const markEveryBytes = 1024 * 1024;
const markEveryMarks = 4;
/** Nor are more than about so many slices of its machine computed again; so much of a mark is worth one more. */
const markEverySlices = 1_000;
const markCharsOfSlice = 10_000;
/** A program that holds more than this is replayed from the start. */
const markMax = 8 * 1024 * 1024;

const Begin = z.looseObject({ run: z.string() });
const Marked = z.looseObject({ run: z.string(), mark: z.int() });
/** `after`: the entry that the mark was written with stands somewhere after it. `first` and `bytes`: of the whole run. */
const Kept = z.looseObject({
  run: z.string(),
  mark: z.int(),
  after: z.int(),
  bytes: z.int(),
  first: z.string(),
  text: z.string(),
});

const collection = 'journal-marks';

/** What a session that is deleted leaves of it. */
export function forgetMark(session: string): DocumentWrite {
  return { collection, key: session, value: undefined };
}

export type JournalOf = {
  readonly log: EventLog;
  readonly writer: OwnerWriter;
  readonly session: string;
  /** What names the run: the message that it was prompted with. */
  readonly run: string;
  /** What is being said is on record, and every line that was appended with it. */
  readonly written: () => Promise<void>;
  /** Of one run; a longer one is not read back, since it is held in memory while it is replayed. */
  readonly bytesMax: number;
};

type Read = {
  readonly isBegun: boolean;
  readonly lines: readonly string[];
  readonly marked?: z.output<typeof Kept> | undefined;
};

/**
 * The journal of one run of a program, in the stream of its session: written under the owner's fence, read back by the
 * next owner, from the last mark on where there is one. The stream stays whole: a mark that cannot be read costs time,
 * not the run.
 */
export class JournalStream implements JournalTape {
  readonly path: string;
  readonly marks: JournalMarks;
  readonly #of: JournalOf;
  #lines: readonly string[];
  #line = 0;
  #isBegun: boolean;
  readonly #isWhole: boolean;
  #bytes: number;
  #first: string | undefined;
  #mark: number;
  #markedAt: number;
  #markEvery = markEveryBytes;
  #markEverySlices = markEverySlices;

  private constructor(of: JournalOf, { lines, isBegun, marked }: Read, isWhole: boolean) {
    this.#isWhole = isWhole;
    this.path = `of session ${of.session}`;
    this.#of = of;
    this.#lines = lines;
    this.#isBegun = isBegun;
    this.#first = lines[0];
    this.#mark = marked?.mark ?? 0;
    this.#markedAt = marked?.bytes ?? 0;
    this.#bytes = this.#markedAt;
    for (const line of lines) this.#bytes += line.length;
    this.marks = {
      last: marked?.text,
      isDue: (slices) => this.#bytes - this.#markedAt >= this.#markEvery || slices >= this.#markEverySlices,
      mark: (text) => this.#keepMark(text),
      forget: () => {
        if (this.#mark > 0) this.#of.writer.keep(this.#markEntry(), forgetMark(of.session));
      },
    };
  }

  /** `isWhole`: from the start, whatever is marked. */
  static async open(of: JournalOf, { isWhole = false } = {}): Promise<JournalStream> {
    const marked = isWhole ? undefined : await keptMark(of);
    const tail = marked === undefined ? undefined : await readAfterMark(of, marked);
    return new JournalStream(of, tail ?? (await readWhole(of)), isWhole);
  }

  async again(isWhole: boolean): Promise<JournalStream> {
    const { writer } = this.#of;
    return await writer.patiently(() => JournalStream.open(this.#of, { isWhole: isWhole || this.#isWhole }));
  }

  #markEntry(): { readonly type: string; readonly data: string } {
    const { run } = this.#of;
    return { type: 'mark', data: JSON.stringify({ run, mark: this.#mark }) };
  }

  async #keepMark(text: string): Promise<void> {
    this.#markedAt = this.#bytes;
    this.#markEvery = Math.max(markEveryBytes, markEveryMarks * text.length);
    this.#markEverySlices = Math.max(markEverySlices, text.length / markCharsOfSlice);
    if (text.length > markMax || this.#first === undefined) return;
    const { log, writer, session, run } = this.#of;
    await this.sync();
    const after = await writer.patiently(() => log.head(session, 'journal'));
    this.#mark++;
    const kept = { run, mark: this.#mark, after, bytes: this.#bytes, first: this.#first, text };
    writer.keep(this.#markEntry(), { collection, key: session, value: JSON.stringify(kept) });
    await writer.write([]);
  }

  get line(): number {
    return this.#line;
  }

  /** Whether an earlier owner had begun the run. */
  get isBegun(): boolean {
    return this.#isBegun;
  }

  next(): string | undefined {
    const text = this.#lines[this.#line];
    if (text !== undefined) this.#line++;
    return text;
  }

  startWriting(): void {
    this.#lines = [];
  }

  append(lines: readonly string[]): void {
    const { writer, session, run } = this.#of;
    if (!this.#isBegun) writer.keep({ type: 'run', data: JSON.stringify({ run }) }, nothingHeard(session, run));
    this.#isBegun = true;
    for (const data of lines) {
      this.#first ??= data;
      this.#bytes += data.length;
      writer.keep({ type: 'line', data });
    }
    const { bytesMax } = this.#of;
    if (this.#bytes <= bytesMax) return;
    const most = bytesMax >= 1024 * 1024 ? `${Math.floor(bytesMax / 1024 / 1024)} MiB` : `${bytesMax} bytes`;
    throw new JournalError('unwritable', `the program has said and heard more than ${most}, its limit \`stream\``);
  }

  async sync(): Promise<void> {
    await this.#of.written();
    if ((await this.#of.writer.write([])) !== undefined) return;
    // What follows from it is done by whoever has the session now, who has not got it.
    throw new JournalError('unwritable', `the session ${this.#of.session} has another owner`);
  }

  close(): void {
    // The stream stays open as long as its session.
  }
}

async function keptMark({ log, session, run }: JournalOf): Promise<z.output<typeof Kept> | undefined> {
  const stored = await log.getDocument(collection, session);
  const kept = stored === undefined ? undefined : Kept.parse(JSON.parse(stored.value));
  return kept?.run === run ? kept : undefined;
}

/** Undefined where the mark's own entry is not there: then it is not to be trusted. */
async function readAfterMark(of: JournalOf, marked: z.output<typeof Kept>): Promise<Read | undefined> {
  let lines: string[] | undefined;
  for await (const { type, data } of entriesAfter(of, marked.after)) {
    if (type === 'line') lines?.push(data);
    else if (type !== 'mark') return undefined;
    else if (Marked.parse(JSON.parse(data)).mark === marked.mark) lines = [marked.first];
  }
  return lines === undefined ? undefined : { isBegun: true, lines, marked };
}

async function readWhole(of: JournalOf): Promise<Read> {
  let lines: string[] | undefined;
  for await (const { type, data } of entriesAfter(of, 0)) {
    if (type === 'run') lines = Begin.parse(JSON.parse(data)).run === of.run ? [] : undefined;
    else if (type === 'line') lines?.push(data);
  }
  return { isBegun: lines !== undefined, lines: lines ?? [] };
}

async function* entriesAfter({ log, session }: JournalOf, position: number): AsyncGenerator<Entry> {
  for (let after = position; ; ) {
    const { entries } = await log.read({ session, stream: 'journal', after, limit: pageEntries });
    yield* entries;
    after = entries.at(-1)?.position ?? after;
    if (entries.length < pageEntries) return;
  }
}
