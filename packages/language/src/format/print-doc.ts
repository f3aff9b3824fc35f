import { type Doc, isList } from './doc.ts';

interface Entry {
  readonly doc: Doc;
  readonly indentation: number;
  readonly flat: boolean;
}

const INDENT_WIDTH = 4;

/** Breaks the groups that do not fit into `width` columns. Ends with one line break. */
export function printDoc(doc: Doc, width: number): string {
  return new DocPrinter(width).print(doc);
}

class DocPrinter {
  readonly #width: number;
  readonly #lines: string[] = [];
  #current = '';
  #suffix = '';
  readonly #stack: Entry[] = [];

  constructor(width: number) {
    this.#width = width;
  }

  print(doc: Doc): string {
    this.#stack.push({ doc, indentation: 0, flat: false });
    for (let entry = this.#stack.pop(); entry !== undefined; entry = this.#stack.pop()) this.#step(entry);
    this.#newline(0);
    const text = this.#lines.join('\n').replace(/^\n+/, '').trimEnd();
    return text === '' ? '' : `${text}\n`;
  }

  #step(entry: Entry): void {
    const { doc, indentation, flat } = entry;
    if (typeof doc === 'string') {
      this.#current += doc;
      return;
    }
    if (isList(doc)) {
      for (let index = doc.length - 1; index >= 0; index--) this.#push(doc[index] ?? '', indentation, flat);
      return;
    }
    switch (doc.kind) {
      case 'line':
        if (flat) this.#current += doc.flat;
        else this.#newline(indentation);
        return;
      case 'hardline':
        this.#newline(indentation);
        return;
      case 'freshline':
        if (this.#current.trim() !== '' || this.#suffix !== '') this.#newline(indentation);
        else this.#current = ' '.repeat(indentation);
        return;
      case 'blankline':
        this.#blankline(indentation);
        return;
      case 'gap':
        if (!/(?:^|[\s([{])$/.test(this.#current)) this.#current += ' ';
        return;
      case 'indent':
        this.#push(doc.content, indentation + INDENT_WIDTH, flat);
        return;
      case 'group':
        this.#push(doc.content, indentation, flat || (!doc.broken && this.#fits(doc.content, indentation)));
        return;
      case 'ifBroken':
        this.#push(flat ? doc.flat : doc.broken, indentation, flat);
        return;
      case 'suffix':
        this.#suffix += doc.text;
    }
  }

  #push(doc: Doc, indentation: number, flat: boolean): void {
    this.#stack.push({ doc, indentation, flat });
  }

  #newline(indentation: number): void {
    // Only the end of our own line is trimmed: text of several lines keeps the blanks at the ends of its lines.
    this.#lines.push(`${this.#current.trimEnd()}${this.#suffix}`.trimEnd());
    this.#suffix = '';
    this.#current = ' '.repeat(indentation);
  }

  #blankline(indentation: number): void {
    if (this.#current.trim() !== '' || this.#suffix !== '') this.#newline(indentation);
    const last = this.#lines.at(-1);
    if (last !== undefined && last !== '') this.#lines.push('');
    this.#current = ' '.repeat(indentation);
  }

  /** Whether the content and what follows it up to the next possible break fit on the line. */
  #fits(content: Doc, indentation: number): boolean {
    let left = this.#width - lastLineLength(this.#current);
    const own: Entry[] = [{ doc: content, indentation, flat: true }];
    let rest = this.#stack.length - 1;
    while (left >= 0) {
      let entry = own.pop();
      if (entry === undefined) {
        entry = this.#stack[rest--];
        if (entry === undefined) return true;
      }
      const used = this.#measure(entry, own);
      if (used === 'end') return true;
      left -= used;
    }
    return false;
  }

  #measure(entry: Entry, own: Entry[]): number | 'end' {
    const { doc, indentation, flat } = entry;
    if (typeof doc === 'string') {
      const end = doc.indexOf('\n');
      return end === -1 ? doc.length : 'end';
    }
    if (isList(doc)) {
      for (let index = doc.length - 1; index >= 0; index--) own.push({ doc: doc[index] ?? '', indentation, flat });
      return 0;
    }
    switch (doc.kind) {
      case 'line':
        return flat ? doc.flat.length : 'end';
      case 'hardline':
      case 'freshline':
      case 'blankline':
        return 'end';
      case 'suffix':
        return 0;
      case 'gap':
        return 1;
      case 'indent':
        own.push({ doc: doc.content, indentation, flat });
        return 0;
      case 'group':
        own.push({ doc: doc.content, indentation, flat: flat && !doc.broken });
        return 0;
      case 'ifBroken':
        own.push({ doc: flat ? doc.flat : doc.broken, indentation, flat });
        return 0;
    }
  }
}

function lastLineLength(text: string): number {
  return text.length - (text.lastIndexOf('\n') + 1);
}
