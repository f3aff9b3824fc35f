import { harmlessLine } from '@concerto/base';
import { paint, type Style } from './paint.ts';
import { columnsOf, cut, padded, wrapped } from './wrap.ts';

export type Cell = string | { readonly text: string; readonly style: Style };

const textOf = (cell: Cell): string => (typeof cell === 'string' ? cell : cell.text);

/** How many columns there are; a pipe or a file has as many as it takes. */
export function terminalWidth(): number {
  return process.stdout.isTTY ? screenSize().columns : Number.POSITIVE_INFINITY;
}

/** Of the terminal; some do not tell. */
export function screenSize(): { readonly rows: number; readonly columns: number } {
  const { rows, columns } = process.stdout;
  return { rows: rows > 0 ? rows : 24, columns: columns > 0 ? columns : 80 };
}

/**
 * Columns as wide as their widest cell, each cell one harmless line. Where that is wider than the terminal the columns
 * that may give way do, one after the other: by default the last.
 */
export function table(rows: readonly (readonly Cell[])[], givesWay?: readonly number[]): string {
  const texts = rows.map((row) => row.map((cell) => harmlessLine(textOf(cell))));
  const columns = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(0, ...texts.map((row) => columnsOf(row[column] ?? ''))),
  );
  for (const least of [narrow, narrowest]) {
    for (const column of givesWay ?? [columns - 1]) {
      const width = widths[column] ?? 0;
      const excess = widths.reduce((sum, one) => sum + one + 2, -2) - terminalWidth();
      if (excess > 0 && width > least) widths[column] = Math.max(least, width - excess);
    }
  }
  return rows
    .map((row, at) =>
      row
        .map((cell, column) => {
          const width = widths[column] ?? 0;
          const shown = cut(texts[at]?.[column] ?? '', width);
          const isLast = column === row.length - 1;
          const painted = typeof cell === 'string' || shown === '' ? shown : paint(cell.style, shown);
          return isLast ? painted : padded(painted, width);
        })
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** What there is to know of one thing, a name and what it is in each row; nothing is cut. */
export function facts(rows: readonly (readonly [string, Cell])[]): string {
  const width = Math.max(0, ...rows.map(([name]) => name.length)) + 2;
  return rows
    .flatMap(([name, cell]) => {
      const text = harmlessLine(textOf(cell));
      const margin = { first: padded(paint('dim', name), width), others: ' '.repeat(width) };
      return wrapped(typeof cell === 'string' || text === '' ? text : paint(cell.style, text), terminalWidth(), margin);
    })
    .map((row) => row.trimEnd())
    .join('\n');
}

/** So narrow they get at first, and so narrow if that is not enough. */
const narrow = 8;
const narrowest = 3;

export function heading(...names: readonly string[]): readonly Cell[] {
  return names.map((text) => ({ text, style: 'dim' }));
}
