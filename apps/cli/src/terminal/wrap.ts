import { stripVTControlCharacters } from 'node:util';

const plain = /^[\x20-\x7e]*$/;
const wide =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|\p{Extended_Pictographic}\ufe0f/u;
/** Signs that only stand with others, and such as join them. */
const bare = /^[\p{Mn}\p{Me}\u200b-\u200f\u2060-\u2064\ufeff]+$/u;
const letters = new Intl.Segmenter();

/** Letters as a reader counts them: with their accents, and a picture that is made of several as one. */
export function lettersOf(text: string): readonly string[] {
  return plain.test(text) ? text.split('') : Array.from(letters.segment(text), ({ segment }) => segment);
}

/** Columns that a text takes; styles take none, letters of some scripts and most pictures two. */
export function columnsOf(text: string): number {
  const shown = stripVTControlCharacters(text);
  if (plain.test(shown)) return shown.length;
  let columns = 0;
  for (const letter of lettersOf(shown)) columns += columnsOfLetter(letter);
  return columns;
}

function columnsOfLetter(letter: string): number {
  if (bare.test(letter)) return 0;
  return wide.test(letter) ? 2 : 1;
}

// oxlint-disable-next-line no-control-regex -- ESC begins one
const style = /(\u001b\[[\d;:]*m)/;

/** Cut to so many columns, with a sign that it was; what ends a style is kept. */
export function cut(text: string, width: number): string {
  if (columnsOf(text) <= width) return text;
  let shown = '';
  let room = Math.max(0, width - 1);
  let isFull = false;
  for (const [index, piece] of text.split(style).entries()) {
    if (index % 2 === 1) {
      shown += piece;
      continue;
    }
    for (const letter of lettersOf(piece)) {
      if (isFull) break;
      room -= columnsOf(letter);
      isFull = room < 0;
      shown += isFull ? '…' : letter;
    }
  }
  return shown;
}

/** Blanks up to so many columns. */
export function padded(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - columnsOf(text)));
}

/** `first` stands before the first row, `others` before the rest; `first` is as wide as `others`. */
export type Margin = { readonly first: string; readonly others: string };

/** Rows that are no wider than this, broken at blanks where there are some. */
export function wrapped(text: string, width: number, margin: Margin = { first: '', others: '' }): readonly string[] {
  const room = Math.max(1, width - columnsOf(margin.first));
  const rows: string[] = [];
  let row = '';
  let isFirst = true;
  for (const word of text.split(' ').flatMap((one) => pieces(one, room))) {
    if (!isFirst && columnsOf(row) + 1 + columnsOf(word) > room) {
      rows.push(row);
      row = word;
    } else row = isFirst ? word : `${row} ${word}`;
    isFirst = false;
  }
  return [...rows, row].map((one, index) => `${index === 0 ? margin.first : margin.others}${one}`);
}

/** A line of text in rows that begin where it does. */
export function wrappedLine(line: string, width: number, margin = ''): readonly string[] {
  const [indent = ''] = /^ */.exec(line) ?? [];
  const left = margin + (indent.length < width / 2 ? indent : '');
  return wrapped(line.slice(indent.length), width, { first: left, others: left });
}

/** A word that is wider than the row, in parts; a styled one is left to the terminal. */
function pieces(word: string, room: number): readonly string[] {
  if (columnsOf(word) <= room || word.includes('\u001b')) return [word];
  const parts: string[] = [];
  let part = '';
  for (const letter of lettersOf(word)) {
    if (columnsOf(part) + columnsOf(letter) > room) {
      parts.push(part);
      part = '';
    }
    part += letter;
  }
  return [...parts, part];
}
