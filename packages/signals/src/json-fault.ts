const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const literal = /true|false|null/y;
const escaped = /^(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/;
const whitespace = /[ \t\n\r]*/y;

/**
 * Where text that is not one JSON value first stops being one; its length if it only breaks off. Runtimes word their
 * own messages differently and often without a position, and a model needs the place to mend its call.
 */
export function jsonFault(text: string): number {
  const open: ('[' | '{')[] = [];
  let at = 0;
  const advance = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found === null) return false;
    at += found[0].length;
    return true;
  };
  const quoted = (): boolean => {
    const end = stringEnd(text, at);
    at = Math.abs(end);
    return end > 0;
  };
  const key = (): boolean => {
    advance(whitespace);
    if (!quoted()) return false;
    advance(whitespace);
    if (text[at] !== ':') return false;
    at++;
    return true;
  };
  for (;;) {
    advance(whitespace);
    const first = text[at];
    if (first === '[' || first === '{') {
      at++;
      open.push(first);
      advance(whitespace);
      if (text[at] !== (first === '[' ? ']' : '}')) {
        if (first === '{' && !key()) return at;
        continue;
      }
    } else if (!(first === '"' ? quoted() : advance(number) || advance(literal))) return at;
    // A value is complete (or an empty bracket is about to close): close what closes, then go to the next value.
    for (;;) {
      advance(whitespace);
      const inside = open.at(-1);
      if (inside === undefined) return at;
      if (text[at] === ',') {
        at++;
        if (inside === '{' && !key()) return at;
        break;
      }
      if (text[at] !== (inside === '[' ? ']' : '}')) return at;
      at++;
      open.pop();
    }
  }
}

/**
 * After the closing quote of the string at `from`; where it goes wrong, negated. A loop and not an expression: a
 * pattern's alternatives inside a repetition exhaust the matcher's stack on a long string.
 */
function stringEnd(text: string, from: number): number {
  if (text.charCodeAt(from) !== 0x22) return -from;
  for (let at = from + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x22) return at + 1;
    if (code < 0x20) return -at;
    if (code !== 0x5c) continue;
    const rest = escaped.exec(text.slice(at + 1, at + 6));
    if (rest === null) return -at;
    at += rest[0].length;
  }
  return -text.length;
}
