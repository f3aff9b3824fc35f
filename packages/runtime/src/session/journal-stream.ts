import type { EventLog } from '@concerto/log';
import * as z from 'zod';
import { JournalError, type JournalTape } from '../program/journal-file.ts';
import type { OwnerWriter } from './owner-writer.ts';

const pageEntries = 1_000;

const Begin = z.strictObject({ run: z.string() });

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

/**
 * The journal of one run of a program, in the stream of its session: written under the owner's fence, read back by the
 * next owner.
 */
export class JournalStream implements JournalTape {
  readonly path: string;
  readonly #of: JournalOf;
  #lines: readonly string[];
  #line = 0;
  #isBegun: boolean;
  #bytes = 0;

  private constructor(of: JournalOf, lines: readonly string[], isBegun: boolean) {
    this.path = `of session ${of.session}`;
    this.#of = of;
    this.#lines = lines;
    this.#isBegun = isBegun;
    for (const line of lines) this.#bytes += line.length;
  }

  static async open(of: JournalOf): Promise<JournalStream> {
    let lines: string[] | undefined;
    for (let after = 0; ; ) {
      const page = await of.log.read({ session: of.session, stream: 'journal', after, limit: pageEntries });
      for (const { type, data } of page.entries) {
        if (type === 'run') lines = Begin.parse(JSON.parse(data)).run === of.run ? [] : undefined;
        else lines?.push(data);
      }
      after = page.entries.at(-1)?.position ?? after;
      if (page.entries.length < pageEntries) break;
    }
    return new JournalStream(of, lines ?? [], lines !== undefined);
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
    const { writer, run } = this.#of;
    if (!this.#isBegun) writer.keep({ type: 'run', data: JSON.stringify({ run }) });
    this.#isBegun = true;
    for (const data of lines) {
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
    await this.#of.writer.write([]);
  }

  close(): void {
    // The stream stays open as long as its session.
  }
}
