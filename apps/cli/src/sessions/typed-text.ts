/** What came of a line. */
export type Taken =
  /** It is to be done. */
  | { readonly kind: 'whole'; readonly text: string }
  /** Pasted with others: all of them are one text, which the next Enter ends. */
  | { readonly kind: 'pasted'; readonly line: string }
  | { readonly kind: 'dropped' }
  /** It was begun for something else than what would get it now: the line is to stand there again. */
  | { readonly kind: 'late'; readonly line: string };

/**
 * What somebody types at a session, up to where it is done. What was begun for one question, or as a message, is no
 * answer to another that came first meanwhile before they have seen so; lines that are pasted belong together.
 */
export class TypedText {
  #begunFor: { readonly question: string | undefined } | undefined;
  #pasted: string[] = [];
  #isPasting = false;

  /** How many lines wait for the Enter that ends them. */
  get pasted(): number {
    return this.#pasted.length;
  }

  /** From here to `pasteEnds` nobody presses Enter. */
  pasteBegins(): void {
    this.#isPasting = true;
  }

  pasteEnds(): void {
    this.#isPasting = false;
  }

  /** Another question comes first from now on; `before` did, while `line` was being written. */
  turns(before: string | undefined, line: string): void {
    if (line.trim() !== '' || this.#pasted.length > 0) this.#begunFor ??= { question: before };
  }

  /** `question` would get it. */
  take(line: string, question: string | undefined): Taken {
    if (this.#isPasting) {
      this.#pasted.push(line);
      return { kind: 'pasted', line };
    }
    const begunFor = this.#begunFor;
    this.#begunFor = undefined;
    if (this.#pasted.length > 0 && line.trim() === '/drop') {
      this.#pasted = [];
      return { kind: 'dropped' };
    }
    const text = [...this.#pasted, line].join('\n').trim();
    const isLate = begunFor !== undefined && question !== undefined && begunFor.question !== question;
    if (isLate && text !== '' && !text.startsWith('/')) return { kind: 'late', line };
    this.#pasted = [];
    return { kind: 'whole', text };
  }
}
