import { clearScreenDown, cursorTo, type Interface, moveCursor } from 'node:readline';
import { harmlessLine } from '@concerto/base';
import { MarkdownLines } from './markdown-lines.ts';
import { paint } from './paint.ts';
import { screenSize } from './table.ts';
import { columnsOf, cut, wrappedLine } from './wrap.ts';

/** A stream of small pieces is drawn this often, however fast it comes. */
const drawEveryMs = 40;

/** Whether the terminal says which keys are pasted. */
const asksForPastes = '\u001b[?2004h';
const asksForNoPastes = '\u001b[?2004l';

/** Rows below what moves that are left to what is typed. */
const rowsLeft = 6;

/**
 * A terminal on which text goes on while somebody types: below what has been printed stand the line that is not
 * finished yet, what is being done now, and what is being typed. The text is Markdown, shown as it is meant.
 */
export class LiveScreen {
  readonly #input: Interface;
  readonly #about: () => string | undefined;
  readonly #out = process.stdout;
  readonly #markdown = new MarkdownLines(() => screenSize().columns - 1);
  #tail = '';
  #progress: string | undefined;
  #rows = 0;
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;

  /** `about` says what the typed line is for, where that does not stand right above it. */
  constructor(input: Interface, about: () => string | undefined) {
    this.#input = input;
    this.#about = about;
    this.#out.write(asksForPastes);
    // What was typed has moved the cursor; it is cleared with the rest, for whatever comes of it is told.
    input.on('line', (line) => {
      const width = screenSize().columns;
      this.#rows += Math.floor(columnsOf(input.getPrompt() + line) / width) + 1;
    });
  }

  /** Whole lines, above all that moves. */
  print(text: string): void {
    this.#redraw(() => {
      this.#finishLine();
      this.#writeRows(text.split('\n').flatMap((line) => wrappedLine(line, screenSize().columns)));
    });
  }

  /** A piece of a line. */
  write(piece: string): void {
    this.#tail += piece;
    this.#timer ??= setTimeout(() => this.#redraw(() => this.#writeFinished()), drawEveryMs);
  }

  /** Another text begins. */
  fresh(): void {
    this.#redraw(() => {
      this.#finishLine();
      this.#writeRows(this.#markdown.fresh());
    });
  }

  /** What is being done now; undefined for nothing. */
  progress(text: string | undefined): void {
    this.#progress = text === undefined ? undefined : harmlessLine(text);
    this.#timer ??= setTimeout(() => this.#redraw(() => this.#writeFinished()), drawEveryMs);
  }

  prompt(text: string): void {
    this.#redraw(() => this.#input.setPrompt(text));
  }

  /** The last line stands, nothing moves any more. */
  end(): void {
    this.#isOver = true;
    this.#progress = undefined;
    this.#clear();
    this.#finishLine();
    this.#out.write(asksForNoPastes);
  }

  #finishLine(): void {
    this.#writeFinished();
    if (this.#tail !== '') this.#writeRows(this.#markdown.take(this.#tail));
    this.#tail = '';
    this.#writeRows(this.#markdown.flush());
  }

  #redraw(change: () => void): void {
    if (this.#isOver) return;
    this.#clear();
    change();
    const width = screenSize().columns - 1;
    const about = this.#about();
    const rows = [
      ...this.#markdown.rest(this.#tail).slice(-Math.max(1, screenSize().rows - rowsLeft)),
      ...(this.#progress === undefined ? [] : [paint('dim', cut(`  … ${this.#progress}`, width))]),
      ...(about === undefined ? [] : [paint('yellow', cut(harmlessLine(about), width))]),
    ];
    this.#rows = rows.length;
    this.#writeRows(rows);
    this.#input.prompt(true);
  }

  #clear(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    cursorTo(this.#out, 0);
    moveCursor(this.#out, 0, -(this.#input.getCursorPos().rows + this.#rows));
    clearScreenDown(this.#out);
    this.#rows = 0;
  }

  #writeFinished(): void {
    const lines = this.#tail.split('\n');
    this.#tail = lines.pop() ?? '';
    for (const line of lines) this.#writeRows(this.#markdown.take(line));
  }

  #writeRows(rows: readonly string[]): void {
    for (const row of rows) this.#out.write(`${row}\n`);
  }
}
