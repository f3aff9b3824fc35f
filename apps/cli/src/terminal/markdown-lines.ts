import { paint } from './paint.ts';
import { columnsOf, lettersOf, padded, wrapped } from './wrap.ts';

const fences = /^\s{0,3}(```+|~~~+)\s*(\S*)/;
const tableRow = /^\s*\|.*\|\s*$/;
const ruled = /^\s*([-*_])(\s*\1){2,}\s*$/;
const inlines =
  /(`+)(.+?)\1|\*\*(.+?)\*\*|__(.+?)__|~~(.+?)~~|(?<![\w*])\*([^\s*][^*]*?)\*(?!\w)|!?\[([^\]]+)\]\(([^)\s]+)[^)]*\)/g;

/** A text in Markdown as rows of a terminal, a line at a time as it comes; what is no Markdown stays as it is. */
export class MarkdownLines {
  readonly #width: () => number;
  #fence: string | undefined;
  /** A table is as wide as its widest cells: it is shown when it is over. */
  #table: string[] = [];

  constructor(width: () => number) {
    this.#width = width;
  }

  /** Another text begins: nothing of the one before is open. */
  fresh(): readonly string[] {
    this.#fence = undefined;
    return this.flush();
  }

  /** The rows of a line that is finished. */
  take(line: string): readonly string[] {
    const [, mark, language = ''] = fences.exec(line) ?? [];
    if (this.#fence !== undefined) {
      if (mark?.startsWith(this.#fence) !== true || language !== '') return this.#code(line);
      this.#fence = undefined;
      return [];
    }
    if (mark !== undefined) {
      this.#fence = mark;
      return [...this.flush(), ...(language === '' ? [] : [paint('dim', `  ${language}`)])];
    }
    if (tableRow.test(line)) {
      this.#table.push(line);
      return [];
    }
    return [...this.flush(), ...this.#block(line)];
  }

  /** How a line looks that is not finished, below what is not shown yet. */
  rest(line: string): readonly string[] {
    const table = this.#table.flatMap((row) => wrapped(row, this.#width()));
    if (line === '') return table;
    return [...table, ...(this.#fence === undefined ? this.#block(line) : this.#code(line))];
  }

  /** What was held back. */
  flush(): readonly string[] {
    const rows = tableRows(this.#table, this.#width());
    this.#table = [];
    return rows;
  }

  #code(line: string): readonly string[] {
    const bar = paint('dim', '  │ ');
    // Broken where the row is full, and nowhere else: its blanks mean something.
    const room = Math.max(1, this.#width() - columnsOf(bar));
    const parts: string[] = [''];
    for (const letter of lettersOf(line.replaceAll('\t', '    '))) {
      const last = parts.at(-1) ?? '';
      if (columnsOf(last) + columnsOf(letter) > room) parts.push(letter);
      else parts[parts.length - 1] = last + letter;
    }
    return parts.map((part) => `${bar}${paint('cyan', part)}`);
  }

  #block(line: string): readonly string[] {
    const width = this.#width();
    const heading = /^\s{0,3}#{1,6}\s+(.*?)\s*#*$/.exec(line);
    if (heading !== null) return wrapped(paint('bold', inline(heading[1] ?? '')), width);
    if (ruled.test(line)) return [paint('dim', '─'.repeat(Math.min(width, 40)))];
    const quote = /^\s{0,3}>\s?(.*)$/.exec(line);
    if (quote !== null) {
      const bar = paint('dim', '│ ');
      return wrapped(inline(quote[1] ?? ''), width, { first: bar, others: bar });
    }
    const [, indent = '', sign, box, item = ''] = /^(\s*)([-*+]|\d+[.)])\s+(?:\[([ xX])\]\s+)?(.*)$/.exec(line) ?? [];
    if (sign === undefined) return wrapped(inline(line), width);
    const bullet = /\d/.test(sign) ? sign : '•';
    const ticked = box === ' ' ? '☐' : '☑';
    const first = `${indent}${box === undefined ? bullet : ticked} `;
    return wrapped(inline(item), width, { first, others: ' '.repeat(first.length) });
  }
}

/** Bold, code and the like, within a line. */
function inline(text: string): string {
  return text.replaceAll(inlines, (all, ...found: readonly (string | undefined)[]) => {
    const [, code, strong, heavy, gone, soft, label, address] = found;
    if (code !== undefined) return paint('cyan', code.trim());
    const bold = strong ?? heavy;
    if (bold !== undefined) return paint('bold', inline(bold));
    if (gone !== undefined) return paint('strikethrough', inline(gone));
    if (soft !== undefined) return paint('italic', inline(soft));
    if (label === undefined) return all;
    return label === address ? label : `${inline(label)} ${paint('dim', `(${address ?? ''})`)}`;
  });
}

function tableRows(lines: readonly string[], width: number): readonly string[] {
  const isRule = (line: string): boolean => /^[\s|:-]+$/.test(line) && line.includes('-');
  const rows = lines.filter((line) => !isRule(line)).map(cellsOf);
  const count = Math.max(0, ...rows.map((row) => row.length));
  if (count === 0) return [];
  const most = Math.max(4, Math.floor((width - 2 * (count - 1)) / count));
  const natural = Array.from({ length: count }, (_, at) => Math.max(...rows.map((row) => columnsOf(row[at] ?? ''))));
  const isWide = natural.reduce((sum, one) => sum + one + 2, -2) > width;
  const widths = isWide ? natural.map((one) => Math.min(one, most)) : natural;
  const hasHead = lines[1] !== undefined && isRule(lines[1]);
  return rows.flatMap((row, index) => {
    const columns = widths.map((room, at) => wrapped(row[at] ?? '', room));
    const height = Math.max(...columns.map((one) => one.length));
    return Array.from({ length: height }, (_, line) => {
      const text = columns
        .map((one, at) => padded(one[line] ?? '', widths[at] ?? 0))
        .join('  ')
        .trimEnd();
      return hasHead && index === 0 ? paint('bold', text) : text;
    });
  });
}

function cellsOf(line: string): readonly string[] {
  return line
    .trim()
    .replace(/^\||\|$/g, '')
    .split(/(?<!\\)\|/)
    .map((cell) => inline(cell.trim().replaceAll('\\|', '|')));
}
