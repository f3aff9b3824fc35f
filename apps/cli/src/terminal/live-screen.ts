import { clearScreenDown, cursorTo, type Interface, moveCursor } from 'node:readline';
import { stripVTControlCharacters } from 'node:util';
import { harmlessLine } from '@concerto/base';
import { paint } from './paint.ts';
import { cut, screenSize } from './table.ts';

/** A stream of small pieces is drawn this often, however fast it comes. */
const drawEveryMs = 40;

/**
 * A terminal on which text goes on while somebody types: below what has been printed stand the line that is not
 * finished yet, what is being done now, and what is being typed.
 */
export class LiveScreen {
  readonly #input: Interface;
  readonly #out = process.stdout;
  #tail = '';
  #progress: string | undefined;
  #rows = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(input: Interface) {
    this.#input = input;
    // What was typed has moved the cursor; it is cleared with the rest, for whatever comes of it is told.
    input.on('line', (line) => {
      const width = screenSize().columns;
      this.#rows += Math.floor((stripVTControlCharacters(input.getPrompt()).length + line.length) / width) + 1;
    });
  }

  /** Whole lines, above all that moves. */
  print(text: string): void {
    this.#redraw(() => {
      this.#finishLine();
      this.#out.write(`${text}\n`);
    });
  }

  /** A piece of a line. */
  write(piece: string): void {
    this.#tail += piece;
    this.#timer ??= setTimeout(() => this.#redraw(() => this.#writeFinished()), drawEveryMs);
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
    this.#progress = undefined;
    this.#clear();
    this.#finishLine();
  }

  #finishLine(): void {
    this.#writeFinished();
    if (this.#tail !== '') this.#out.write(`${this.#tail}\n`);
    this.#tail = '';
  }

  #redraw(change: () => void): void {
    this.#clear();
    change();
    const width = screenSize().columns - 1;
    const rows = [
      ...(this.#tail === '' ? [] : [this.#tail]),
      ...(this.#progress === undefined ? [] : [paint('dim', cut(`  … ${this.#progress}`, width))]),
    ];
    this.#rows = rows.length;
    for (const row of rows) this.#out.write(`${row}\n`);
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

  /** The rest is shorter than the screen is wide, so that it takes one row. */
  #writeFinished(): void {
    const lines = this.#tail.split('\n');
    let rest = lines.pop() ?? '';
    for (const line of lines) this.#out.write(`${line}\n`);
    const width = screenSize().columns - 1;
    while (rest.length > width) {
      const blank = rest.lastIndexOf(' ', width);
      const end = blank > width / 2 ? blank + 1 : width;
      this.#out.write(`${rest.slice(0, end)}\n`);
      rest = rest.slice(end);
    }
    this.#tail = rest;
  }
}
