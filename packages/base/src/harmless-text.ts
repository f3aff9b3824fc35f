import type { Json } from './json.ts';

/*
 * What is not ours (agents, models, tools, titles, file names) may hold characters that a terminal obeys or that turn
 * the order of what is read: `\r` and an erase sequence make `rm -rf` look like `Read README`, OSC 52 writes the
 * clipboard, a bidi override swaps the end of a path. Each is shown as a sign that can be seen.
 */

/** Everything but LF and tab that a terminal may act on, or that a reader cannot see but is led by. */
const dangerous =
  // oxlint-disable-next-line no-control-regex -- they are what is looked for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;

const loneSurrogate = /\p{Surrogate}/gu;

/** The text with its lines and tabs, and nothing else that could act; line ends are LF. */
export function harmless(text: string): string {
  return text.replaceAll('\r\n', '\n').replaceAll(loneSurrogate, '\ufffd').replaceAll(dangerous, visible);
}

/** On one line: runs of blanks and line ends are one blank. */
export function harmlessLine(text: string): string {
  return harmless(text)
    .replaceAll(/[\s\u2424]+/gu, ' ')
    .trim();
}

/** A value whose every text, keys too, is harmless: for what is about to be told and not for what is passed on. */
export function harmlessDeep<T>(value: T): T;
export function harmlessDeep(value: unknown): unknown {
  if (typeof value === 'string') return harmless(value);
  if (Array.isArray(value)) return value.map((item: unknown) => harmlessDeep(item));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [harmless(key), harmlessDeep(item)]));
}

/** JSON that means the same and can be printed anywhere: what is dangerous is escaped. */
export function harmlessJson(value: Json | object, indent?: number): string {
  return JSON.stringify(value, undefined, indent).replaceAll(dangerous, escaped);
}

/** Colours and styles of a program's output, which are neither text nor a danger worth a sign each, are left out. */
export function withoutStyles(text: string): string {
  // oxlint-disable-next-line no-control-regex -- ESC begins them
  return text.replaceAll(/\u001b\[[\d;:]*m/g, '');
}

function visible(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  return code === 0x7f ? '␡' : `‹${name(code)}›`;
}

function name(code: number): string {
  return `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
}

function escaped(character: string): string {
  return Array.from({ length: character.length }, (_, index) => unitEscape(character.charCodeAt(index))).join('');
}

function unitEscape(unit: number): string {
  // LF between the lines of an indented text is JSON's own.
  return `\\u${unit.toString(16).padStart(4, '0')}`;
}
