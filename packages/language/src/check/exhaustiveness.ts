import {
  ANY,
  BOOL,
  CON,
  isCon,
  isDynamic,
  optionOf,
  prune,
  resultOf,
  substitute,
  type Type,
  type VariantInfo,
} from './types.ts';

/** A pattern reduced to what decides whether it matches. */
export type Pat =
  | { readonly kind: 'wild' }
  | { readonly kind: 'or'; readonly patterns: readonly Pat[] }
  | { readonly kind: 'node'; readonly head: Head; readonly args: readonly Pat[] };

export type Head =
  | { readonly kind: 'variant'; readonly variant: VariantInfo }
  | { readonly kind: 'tag'; readonly tag: 'true' | 'false' | 'some' | 'none' | 'ok' | 'err' | 'nil' }
  /** A struct or tuple: there is only one way to build it. */
  | { readonly kind: 'single'; readonly name: string; readonly fields: readonly string[] | undefined }
  | { readonly kind: 'literal'; readonly text: string }
  | { readonly kind: 'range'; readonly low: number; readonly high: number }
  /** `[a, b, ..rest, z]`: the arguments are those before and those after the rest. */
  | { readonly kind: 'array'; readonly before: number; readonly after: number; readonly rest: boolean }
  /** Something only run time can decide. */
  | { readonly kind: 'opaque' };

export const WILD: Pat = { kind: 'wild' };

/** One case a column falls into. `open` stands for all the values no pattern names. */
interface Case {
  readonly head: Head | { readonly kind: 'open'; readonly text: string };
  readonly types: readonly Type[];
}

/** A value no row matches, as text, and whether it is one of endlessly many. */
export interface Witness {
  readonly text: string;
  readonly open: boolean;
}

const LOWEST = Number.NEGATIVE_INFINITY;
const HIGHEST = Number.POSITIVE_INFINITY;

/** Patterns multiply; a hostile match must not take forever. When it runs out nothing is said. */
const MOST_STEPS = 50_000;

class Budget {
  steps = 0;
  spend(): boolean {
    this.steps++;
    return this.steps <= MOST_STEPS;
  }
}

export function findUncovered(rows: readonly Pat[], type: Type): Witness | undefined {
  const found = uncovered(
    rows.map((row) => [row]),
    [type],
    new Budget(),
  );
  return found?.[0];
}

/** Can this row match something the rows before it do not? */
export function isUseful(rows: readonly Pat[], row: Pat, type: Type): boolean {
  return useful(
    rows.map((one) => [one]),
    [row],
    [type],
    new Budget(),
  );
}

type Row = readonly Pat[];

function uncovered(rows: readonly Row[], types: readonly Type[], budget: Budget): readonly Witness[] | undefined {
  if (!budget.spend()) return undefined;
  const [first, ...others] = types;
  if (first === undefined) return rows.length === 0 ? [] : undefined;
  const expanded = expandAll(rows);
  if (expanded.every((row) => row[0]?.kind === 'wild')) {
    const rest = uncovered(
      expanded.map((row) => row.slice(1)),
      others,
      budget,
    );
    return rest === undefined ? undefined : [{ text: '_', open: false }, ...rest];
  }
  if (isMixed(first, expanded)) {
    const rest = uncovered(wildRows(expanded), others, budget);
    return rest === undefined ? undefined : [{ text: '_', open: true }, ...rest];
  }
  for (const one of casesOf(first, expanded)) {
    const inner = uncovered(specialize(expanded, one), [...one.types, ...others], budget);
    if (inner === undefined) continue;
    const own = inner.slice(0, one.types.length);
    return [describe(one, own), ...inner.slice(one.types.length)];
  }
  return undefined;
}

function useful(rows: readonly Row[], row: Row, types: readonly Type[], budget: Budget): boolean {
  if (!budget.spend()) return true;
  const [first, ...others] = types;
  const [head] = row;
  if (first === undefined || head === undefined) return rows.length === 0;
  // What run time decides may always be the first to match.
  if (head.kind === 'node' && head.head.kind === 'opaque') return true;
  if (head.kind === 'or') return head.patterns.some((pat) => useful(rows, [pat, ...row.slice(1)], types, budget));
  const expanded = expandAll(rows);
  if (head.kind === 'wild' && expanded.every((one) => one[0]?.kind === 'wild')) {
    return useful(
      expanded.map((one) => one.slice(1)),
      row.slice(1),
      others,
      budget,
    );
  }
  // A value of which nothing is known may be something none of the other patterns thinks of.
  if (isDynamic(prune(first))) {
    const filler = head.kind === 'node' ? head.args : [];
    const unknown = filler.map((): Type => ANY);
    return useful(wildRows(expanded, filler.length), [...filler, ...row.slice(1)], [...unknown, ...others], budget);
  }
  return casesOf(first, [...expanded, row]).some((one) => {
    const [mine] = specialize([row], one);
    return mine !== undefined && useful(specialize(expanded, one), mine, [...one.types, ...others], budget);
  });
}

/** Rows that take anything in the first column, with the rest of their columns after `filler` wild ones. */
function wildRows(rows: readonly Row[], filler = 0): Row[] {
  const wild = Array.from({ length: filler }, () => WILD);
  return rows.filter((row) => row[0]?.kind === 'wild').map((row) => [...wild, ...row.slice(1)]);
}

/** Patterns of several kinds for a value of which nothing is known: only a wildcard covers the rest. */
function isMixed(type: Type, rows: readonly Row[]): boolean {
  if (!isDynamic(prune(type))) return false;
  const kinds = new Set<string>();
  for (const [head] of rows) {
    if (head?.kind !== 'node') continue;
    kinds.add(head.head.kind === 'tag' ? TAG_FAMILY[head.head.tag] : head.head.kind);
  }
  return kinds.size > 1;
}

const TAG_FAMILY = {
  true: 'bool',
  false: 'bool',
  some: 'option',
  none: 'option',
  ok: 'result',
  err: 'result',
  nil: 'nil',
};

function expandAll(rows: readonly Row[]): readonly Row[] {
  if (!rows.some((row) => row[0]?.kind === 'or')) return rows;
  return rows.flatMap((row) => {
    const [head, ...rest] = row;
    return head?.kind === 'or' ? expandAll(head.patterns.map((pat) => [pat, ...rest])) : [row];
  });
}

/** The rows that a case may match, with the first column replaced by its parts. */
function specialize(rows: readonly Row[], one: Case): Row[] {
  const result: Row[] = [];
  for (const row of rows) {
    const [head, ...rest] = row;
    if (head === undefined) continue;
    if (head.kind === 'wild') result.push([...one.types.map(() => WILD), ...rest]);
    else if (head.kind === 'node') {
      const args = partsOf(head, one);
      if (args !== undefined) result.push([...args, ...rest]);
    }
  }
  return result;
}

/** The arguments of a pattern under a case, or undefined when it does not match it. */
function partsOf(pat: Extract<Pat, { kind: 'node' }>, one: Case): readonly Pat[] | undefined {
  const { head } = pat;
  const target = one.head;
  switch (head.kind) {
    case 'variant':
      return target.kind === 'variant' && target.variant === head.variant ? pat.args : undefined;
    case 'tag':
      return target.kind === 'tag' && target.tag === head.tag ? pat.args : undefined;
    case 'single':
      return target.kind === 'single' && target.name === head.name ? pat.args : undefined;
    case 'literal':
      return target.kind === 'literal' && target.text === head.text ? [] : undefined;
    case 'range':
      return target.kind === 'range' && head.low <= target.low && target.high <= head.high ? [] : undefined;
    case 'array':
      return target.kind === 'array' || target.kind === 'single'
        ? arrayParts(head, pat.args, one.types.length)
        : undefined;
    case 'opaque':
      return undefined;
  }
}

function arrayParts(
  head: Extract<Head, { kind: 'array' }>,
  args: readonly Pat[],
  length: number,
): readonly Pat[] | undefined {
  if (!head.rest) return args.length === length ? args : undefined;
  const missing = length - args.length;
  if (missing < 0) return undefined;
  const filler = Array.from({ length: missing }, () => WILD);
  return [...args.slice(0, head.before), ...filler, ...args.slice(head.before)];
}

/** All ways a value of the type can look, as far as the patterns tell them apart. */
function casesOf(raw: Type, rows: readonly Row[]): readonly Case[] {
  const heads = rows.flatMap((row) => (row[0]?.kind === 'node' ? [row[0]] : []));
  const type = knownType(prune(raw), heads);
  if (isCon(type, CON.Bool)) return [tag('true'), tag('false')];
  if (isCon(type, CON.Option)) return [tag('some', [type.args[0] ?? ANY]), tag('none')];
  if (isCon(type, CON.Result)) return [tag('ok', [type.args[0] ?? ANY]), tag('err', [type.args[1] ?? ANY])];
  if (isCon(type, CON.Nil)) return [tag('nil')];
  if (type.kind === 'applied') {
    if (type.con.variants !== undefined) return variantCases(type);
    if (type.con.values !== undefined) {
      return type.con.values.map((text) => ({ head: { kind: 'literal', text: JSON.stringify(text) }, types: [] }));
    }
  }
  if (isCon(type, CON.Tuple)) return [{ head: { kind: 'single', name: '', fields: undefined }, types: type.args }];
  const single = heads.find((pat) => pat.head.kind === 'single');
  // A value that may be of several types is not covered by the fields of one.
  const mayBeOther = isDynamic(type) || (type.kind === 'applied' && type.con.family === 'trait');
  if (single?.head.kind === 'single' && !(mayBeOther && single.head.fields !== undefined))
    return [{ head: single.head, types: fieldTypes(type, single.head, single.args.length) }];
  if (heads.some((pat) => pat.head.kind === 'range')) return rangeCases(heads);
  if (heads.some((pat) => pat.head.kind === 'array')) return arrayCases(type, heads);
  return openCases(heads);
}

/** When nothing is known of the value, the patterns say what the author takes it for. */
function knownType(type: Type, heads: readonly Extract<Pat, { kind: 'node' }>[]): Type {
  if (!isDynamic(type)) return type;
  for (const { head } of heads) {
    if (head.kind === 'variant') {
      return { kind: 'applied', con: head.variant.owner, args: head.variant.owner.params.map(() => ANY) };
    }
    if (head.kind !== 'tag') continue;
    if (head.tag === 'ok' || head.tag === 'err') return resultOf(ANY, ANY);
    if (head.tag === 'some' || head.tag === 'none') return optionOf(ANY);
    if (head.tag === 'true' || head.tag === 'false') return BOOL;
  }
  return type;
}

function tag(name: Extract<Head, { kind: 'tag' }>['tag'], types: readonly Type[] = []): Case {
  return { head: { kind: 'tag', tag: name }, types };
}

function variantCases(type: Extract<Type, { kind: 'applied' }>): readonly Case[] {
  const map = new Map(type.con.params.map((param, index) => [param, type.args[index] ?? ANY]));
  return [...(type.con.variants?.values() ?? [])].map((variant) => ({
    head: { kind: 'variant', variant },
    types: [...variant.fields.values()].map((field) => substitute(field.type, map)),
  }));
}

function fieldTypes(type: Type, head: Extract<Head, { kind: 'single' }>, length: number): readonly Type[] {
  if (isCon(type, CON.Tuple)) return type.args;
  if (type.kind === 'applied' && head.fields !== undefined) {
    const map = new Map(type.con.params.map((param, index) => [param, type.args[index] ?? ANY]));
    return head.fields.map((name) => substitute(type.con.fields?.get(name)?.type ?? ANY, map));
  }
  return Array.from({ length }, () => ANY);
}

/** Cuts the number line where a pattern begins or ends. */
function rangeCases(heads: readonly Extract<Pat, { kind: 'node' }>[]): readonly Case[] {
  const starts = new Set<number>([LOWEST]);
  for (const { head } of heads) {
    if (head.kind !== 'range') continue;
    starts.add(head.low);
    if (head.high !== HIGHEST) starts.add(head.high + 1);
  }
  const sorted = [...starts].toSorted((a, b) => a - b);
  return sorted.map((low, index) => {
    const next = sorted[index + 1];
    return { head: { kind: 'range', low, high: next === undefined ? HIGHEST : next - 1 }, types: [] };
  });
}

/** Lengths up to one more than any pattern names; the last stands for all longer ones. */
function arrayCases(type: Type, heads: readonly Extract<Pat, { kind: 'node' }>[]): readonly Case[] {
  const element = isCon(type, CON.Array) ? (type.args[0] ?? ANY) : ANY;
  let longest = 0;
  for (const { head } of heads) if (head.kind === 'array') longest = Math.max(longest, head.before + head.after);
  const cases: Case[] = [];
  for (let length = 0; length <= longest + 1; length++) {
    const rest = length === longest + 1;
    const types = Array.from({ length }, () => element);
    cases.push({ head: { kind: 'array', before: length, after: 0, rest }, types });
  }
  return cases;
}

/** Strings, floats, values of several types and the unknown: what the patterns name, and everything else. */
function openCases(heads: readonly Extract<Pat, { kind: 'node' }>[]): readonly Case[] {
  const seen = new Map<string, Case>();
  for (const { head, args } of heads) {
    if (head.kind === 'single') seen.set(`${head.name} {}`, { head, types: args.map(() => ANY) });
    if (head.kind === 'literal') seen.set(head.text, { head, types: [] });
    else if (head.kind === 'tag') seen.set(head.tag, { head, types: [] });
  }
  return [...seen.values(), { head: { kind: 'open', text: '_' }, types: [] }];
}

function describe(one: Case, args: readonly Witness[]): Witness {
  const open = args.some((arg) => arg.open);
  const texts = args.map((arg) => arg.text);
  const { head } = one;
  switch (head.kind) {
    case 'variant':
      return { text: describeVariant(head.variant, texts), open };
    case 'tag': {
      const names = { true: 'true', false: 'false', some: 'Some', none: 'None', ok: 'Ok', err: 'Err', nil: 'nil' };
      return { text: texts.length === 0 ? names[head.tag] : `${names[head.tag]}(${texts.join(', ')})`, open };
    }
    case 'single':
      return {
        text:
          head.fields === undefined
            ? `(${texts.join(', ')})`
            : `${head.name} { ${describeFields(head.fields, texts)} }`,
        open,
      };
    case 'literal':
      return { text: head.text, open: false };
    case 'range':
      return { text: describeRange(head.low, head.high), open: true };
    case 'array':
      return { text: `[${[...texts, ...(head.rest ? ['..'] : [])].join(', ')}]`, open: true };
    case 'open':
      return { text: head.text, open: true };
    case 'opaque':
      return { text: '_', open: true };
  }
}

function describeVariant(variant: VariantInfo, texts: readonly string[]): string {
  const name = `${variant.owner.name}::${variant.name}`;
  if (variant.shape === 'unit') return name;
  if (variant.shape === 'tuple') return `${name}(${texts.join(', ')})`;
  return `${name} { ${describeFields([...variant.fields.keys()], texts)} }`;
}

function describeFields(fields: readonly string[], texts: readonly string[]): string {
  const shown = fields.flatMap((field, index) => (texts[index] === '_' ? [] : [`${field}: ${texts[index] ?? '_'}`]));
  return [...shown, ...(shown.length < fields.length ? ['..'] : [])].join(', ');
}

function describeRange(low: number, high: number): string {
  if (low === LOWEST) return high === HIGHEST ? '_' : `..=${high}`;
  if (high === HIGHEST) return `${low}..`;
  return low === high ? String(low) : `${low}..=${high}`;
}
