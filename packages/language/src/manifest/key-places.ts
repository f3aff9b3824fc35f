import type { SourceFile } from '../source/source-file.ts';
import type { Span } from '../source/span.ts';

/** Where a key or the header of a table stands. */
export interface KeyPlace {
  readonly path: readonly string[];
  readonly span: Span;
  /** Only the part of a header or dotted key that this place is about. */
  readonly isHeader: boolean;
  /** An entry of a `[[list]]`, whose number ends the path. */
  readonly isEntry: boolean;
}

const HEADER = /^\s*\[(\[?)([^\]]+)\]/;
const KEY = /^\s*((?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*'))*)\s*=/;
const LONG_QUOTES = ['"""', "'''"] as const;

/**
 * The keys of a TOML text, line by line. The parser knows no positions; this finds what people write: headers,
 * and keys at the start of a line. For what it does not find, the nearest table around it will do.
 */
export function findKeyPlaces(file: SourceFile): KeyPlace[] {
  const places: KeyPlace[] = [];
  let table: string[] = [];
  const lists = new Map<string, number>();
  let openQuotes: string | undefined;
  for (const [index, start] of file.lineStarts.entries()) {
    const line = file.text.slice(start, file.lineStarts[index + 1] ?? file.text.length);
    const wasOpen = openQuotes;
    openQuotes = quotesAfter(line, openQuotes);
    if (wasOpen !== undefined) continue;
    const [, inList, header] = HEADER.exec(line) ?? [];
    if (header !== undefined) {
      table = splitKey(header);
      if (inList === '[') table = [...table, nextIn(lists, header)];
      places.push({ ...placeOf({ path: table, text: header, line, start, isHeader: true }), isEntry: inList === '[' });
      continue;
    }
    const key = KEY.exec(line)?.[1];
    if (key === undefined) continue;
    const path = [...table, ...splitKey(key)];
    places.push({ ...placeOf({ path, text: key, line, start, isHeader: false }), isEntry: false });
  }
  return places;
}

/** The number of an entry of a `[[list]]`, as paths count them. */
function nextIn(lists: Map<string, number>, name: string): string {
  const index = lists.get(name) ?? 0;
  lists.set(name, index + 1);
  return String(index);
}

function placeOf(found: {
  path: string[];
  text: string;
  line: string;
  start: number;
  isHeader: boolean;
}): Omit<KeyPlace, 'isEntry'> {
  const from = found.start + found.line.indexOf(found.text);
  return { path: found.path, span: { start: from, end: from + found.text.length }, isHeader: found.isHeader };
}

/** The long quotes that are still open after the line. */
function quotesAfter(line: string, open: string | undefined): string | undefined {
  let current = open;
  let offset = 0;
  while (offset < line.length) {
    if (current !== undefined) {
      const end = line.indexOf(current, offset);
      if (end === -1) return current;
      offset = end + 3;
      current = undefined;
      continue;
    }
    const next = LONG_QUOTES.map((quotes) => ({ quotes, at: line.indexOf(quotes, offset) }))
      .filter(({ at }) => at !== -1)
      .sort((a, b) => a.at - b.at)[0];
    if (next === undefined || line.slice(0, next.at).includes('#')) return undefined;
    current = next.quotes;
    offset = next.at + 3;
  }
  return current;
}

export function splitKey(key: string): string[] {
  const parts = key.match(/"[^"]*"|'[^']*'|[^.\s"']+/g) ?? [];
  return parts.map((part) => (/^["']/.test(part) ? part.slice(1, -1) : part));
}

/** The key itself, or the table nearest around it, or the start of the file. */
export function placeOfKey(places: readonly KeyPlace[], path: readonly string[]): Span {
  for (let length = path.length; length > 0; length--) {
    const found = places.find(
      (place) =>
        place.path.length >= length && path.slice(0, length).every((part, index) => place.path[index] === part),
    );
    if (found !== undefined) return found.span;
  }
  return { start: 0, end: 0 };
}
