/** How much of stderr is kept for whoever asks why the agent ended. */
const stderrTailMax = 64 * 1024;
/** How much of it goes into an error's own words. */
const excerptLines = 12;
const excerptLength = 2_000;
/** Shorter values are not struck out: they would blot out half of any text. */
const secretLengthMin = 6;

/** The end of a stream that is always read and otherwise thrown away. */
export class StderrTail {
  readonly #secrets: readonly string[];
  #chunks: Buffer[] = [];
  #length = 0;

  constructor(secrets: readonly string[]) {
    this.#secrets = secrets.filter((secret) => secret.length >= secretLengthMin);
  }

  push(chunk: Buffer): void {
    // A copy, so that the tail does not keep alive the whole block that the chunk was read into.
    this.#chunks.push(Buffer.from(chunk.subarray(-stderrTailMax)));
    this.#length += chunk.length;
    if (this.#length > 2 * stderrTailMax || this.#chunks.length > 1024) this.#compact();
  }

  text(): string {
    this.#compact();
    return this.conceal(Buffer.concat(this.#chunks).toString('utf8'));
  }

  conceal(text: string): string {
    let concealed = text;
    for (const secret of this.#secrets) concealed = concealed.replaceAll(secret, '***');
    return concealed;
  }

  #compact(): void {
    const tail = Buffer.from(Buffer.concat(this.#chunks).subarray(-stderrTailMax));
    this.#chunks = [tail];
    this.#length = tail.length;
  }
}

/** The part of a tail that fits into a sentence: its last lines, without frames of a stack, whose reason is above them. */
export function stderrExcerpt(tail: string): string {
  const lines = tail
    .trimEnd()
    .split('\n')
    .filter((line) => !/^\s+at \S/.test(line));
  const excerpt = lines.slice(-excerptLines).join('\n').slice(-excerptLength);
  return excerpt === '' ? 'it wrote nothing on stderr' : `the end of its stderr:\n${excerpt}`;
}
