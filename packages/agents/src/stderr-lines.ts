import { StringDecoder } from 'node:string_decoder';

/** A longer line is passed on in pieces of this many characters. */
const lineLengthMax = 16 * 1024;

/** Cuts what an agent writes on stderr into lines for whoever watches it, with secrets struck out. */
export class StderrLines {
  readonly #onLine: (line: string) => void;
  readonly #conceal: (text: string) => string;
  readonly #decoder = new StringDecoder('utf8');
  #rest = '';

  constructor(onLine: (line: string) => void, conceal: (text: string) => string) {
    this.#onLine = onLine;
    this.#conceal = conceal;
  }

  push(chunk: Buffer): void {
    const lines = (this.#rest + this.#decoder.write(chunk)).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#say(line);
    while (this.#rest.length > lineLengthMax) {
      this.#say(this.#rest.slice(0, lineLengthMax));
      this.#rest = this.#rest.slice(lineLengthMax);
    }
  }

  /** What stands after the last newline is a line too. */
  end(): void {
    const last = this.#rest + this.#decoder.end();
    this.#rest = '';
    if (last !== '') this.#say(last);
  }

  #say(line: string): void {
    this.#onLine(this.#conceal(line.endsWith('\r') ? line.slice(0, -1) : line));
  }
}
