import type { Json } from './json.ts';

/** Half a character, as JSON writes it; a backslash that was said is two of them, and no beginning of one. */
const halfOrBackslash = /\\(?:\\|ud[89a-f][0-9a-f]{2})/g;

/** JSON that strict readers take too: half a character, which they refuse with all that it is in, is `�`. */
export function strictJson(value: object): string {
  return withoutHalves(JSON.stringify(value));
}

/** The same of JSON that is written already. */
export function withoutHalves(json: string): string {
  if (!json.includes('\\ud')) return json;
  return json.replaceAll(halfOrBackslash, (written) => (written === '\\\\' ? written : '\ufffd'));
}

/** What strict readers take as it is: itself where no half of a character is in it, else the same with `�` for each. */
export function strictValue<T extends Json | object>(value: T): T {
  const written = JSON.stringify(value);
  const strict = withoutHalves(written);
  return strict === written ? value : JSON.parse(strict);
}
