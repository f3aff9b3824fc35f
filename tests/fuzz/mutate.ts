/** What comes again with the same seed. */
export class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit);
  }

  of<T>(items: readonly [T, ...T[]]): T {
    return items[this.below(items.length)] ?? items[0];
  }
}

export type Texts = readonly [string, ...string[]];

const odd: Texts = [
  '',
  '\u0000',
  '\n',
  '\r\n',
  '"',
  '\\',
  '{',
  '}',
  '[',
  ']',
  '§',
  '\u202e',
  '\ud800',
  '😀',
  '-1',
  '1e999',
  '99999999999999999999',
  'null',
  '__proto__',
  'x'.repeat(3_000),
  '['.repeat(3_000),
  '{"a":'.repeat(1_000),
];

/** A text of the corpus, changed in a few places: cut, doubled, crossed with another, or with something odd in it. */
export function mutatedText(dice: Dice, corpus: Texts): string {
  let text = dice.of(corpus);
  for (let changes = 1 + dice.below(5); changes > 0; changes--) {
    const at = dice.below(text.length + 1);
    const other = dice.of(corpus);
    const from = dice.below(other.length + 1);
    const until = dice.below(2) === 0 ? at : at + dice.below(20);
    const inserted = dice.of([dice.of(odd), other.slice(from, from + dice.below(80)), text.slice(at, at + 30), '']);
    text = text.slice(0, at) + inserted + text.slice(until);
  }
  return text;
}

const values: readonly [unknown, ...unknown[]] = [
  null,
  true,
  0,
  -1,
  1.5,
  1e308,
  '',
  'x',
  '__proto__',
  [],
  {},
  [[]],
  { type: 'result' },
];

/** A value with one place in it replaced, left out, doubled or added. */
function mutatedValue(dice: Dice, value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null || depth === 0) return dice.of(values);
  const entries = Object.entries(value);
  const at = dice.below(entries.length + 1);
  const [key, inner] = entries[at] ?? [dice.of(['more', 'type', 'id', '__proto__']), undefined];
  const changed = dice.below(3) === 0 ? dice.of(values) : mutatedValue(dice, inner, depth - 1);
  const rest = entries.filter(([name]) => name !== key);
  const isGone = dice.below(4) === 0;
  const copy: [string, unknown][] = isGone ? rest : [...rest, [key, changed]];
  return Array.isArray(value) ? copy.map(([, item]) => item) : Object.fromEntries(copy);
}

/** JSON of the corpus, changed as data or as text. */
export function mutatedJson(dice: Dice, corpus: Texts): string {
  if (dice.below(4) === 0) return mutatedText(dice, corpus);
  let value: unknown = JSON.parse(dice.of(corpus));
  for (let changes = 1 + dice.below(4); changes > 0; changes--) value = mutatedValue(dice, value, 6);
  return JSON.stringify(value) ?? 'null';
}
