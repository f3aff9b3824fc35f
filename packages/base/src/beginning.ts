import type { Json, JsonObject } from './json.ts';

/** At most so many characters of a text, with `…` where it goes on; no character is cut in two. */
export function beginningOfText(text: string, characters: number): string {
  return text.length <= characters ? text : `${firstOfText(text, characters)}…`;
}

/** The same without a word of what was left out, for who says it in its own. */
export function firstOfText(text: string, characters: number): string {
  if (text.length <= characters) return text;
  const last = text.charCodeAt(characters - 1);
  const isHalf = last >= 0xd800 && last <= 0xdbff;
  return text.slice(0, isHalf ? characters - 1 : characters);
}

/** About so many characters of a value: texts are cut, and what comes after the last that fits is left out. */
export function beginningOf(value: Json, characters: number): Json {
  let left = characters;
  const begin = (part: Json): Json => {
    if (typeof part === 'string') {
      const text = beginningOfText(part, Math.max(1, left));
      left -= text.length;
      return text;
    }
    left -= 2;
    if (typeof part !== 'object' || part === null) return part;
    return isList(part) ? beginList(part) : beginFields(part);
  };
  const beginList = (list: readonly Json[]): Json => {
    const items: Json[] = [];
    for (const item of list) {
      if (left <= 0) break;
      items.push(begin(item));
    }
    return items;
  };
  const beginFields = (fields: JsonObject): Json => {
    const begun: [string, Json][] = [];
    // Not `Object.entries`: there may be a million, of which none fits.
    for (const key in fields) {
      left -= key.length + 2;
      if (left <= 0) break;
      begun.push([key, begin(fields[key] ?? null)]);
    }
    return Object.fromEntries(begun);
  };
  return begin(value);
}

function isList(value: readonly Json[] | JsonObject): value is readonly Json[] {
  return Array.isArray(value);
}
