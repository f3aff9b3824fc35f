import type { MatchExpression } from '../syntax/expression.ts';
import type { LiteralExpression, Pattern, RangePattern } from '../syntax/pattern.ts';
import { CODE } from './codes.ts';
import type { Context } from './context.ts';
import { findUncovered, type Head, isUseful, type Pat, WILD } from './exhaustiveness.ts';
import type { TypeCon, VariantInfo } from './types.ts';
import { CON, isCon, prune, type Type } from './types.ts';

/** Says which arms can never match, and which values no arm takes. */
export function reportCoverage(cx: Context, node: MatchExpression, scrutinee: Type, file: string): void {
  const type = prune(scrutinee);
  if (type.kind === 'error' || type.kind === 'never') return;
  const rows: Pat[] = [];
  const literals = new Literals();
  for (const arm of node.arms) {
    const pat = lower(cx, arm.pattern);
    if (pat === undefined) return;
    if (!(literals.isNew(pat) ?? isUseful(rows, pat, type))) {
      cx.report.warning(CODE.unreachableArm, arm.pattern.span, 'this arm is never reached', {
        help: 'the arms before it take every such value',
        file,
      });
    }
    if (arm.guard !== undefined) continue;
    rows.push(pat);
    literals.add(pat);
  }
  if (rows.some((row) => row.kind === 'wild') || literals.coverAll(type)) return;
  const missing = findUncovered(rows, type);
  if (missing === undefined) return;
  const span = { start: node.span.start, end: node.scrutinee.span.end };
  const message = `\`match\` does not cover \`${missing.text}\``;
  const help = missing.text === '_' ? 'add `_ => …`' : `add \`${missing.text} => …\` or \`_ => …\``;
  if (isClosed(type) && !(missing.open && !mustBeComplete(type))) {
    cx.report.error(CODE.notExhaustive, span, message, { help, file });
  } else cx.report.warning(CODE.openMatch, span, message, { help, file });
}

/** Most matches list literals, or variants with names for their parts; as long as there is nothing else, a set tells what is new. */
class Literals {
  readonly #seen = new Set<string>();
  #only = true;

  /** Undefined when the patterns have to be compared in full. */
  isNew(pat: Pat): boolean | undefined {
    const key = this.#only ? literalKey(pat) : undefined;
    return key === undefined ? undefined : !this.#seen.has(key);
  }

  /** Every way to build a value of this type was named, with nothing asked of its parts. */
  coverAll(type: Type): boolean {
    if (!this.#only || type.kind !== 'applied') return false;
    const { con } = type;
    if (con.variants !== undefined) return this.#hasAll(con.variants.keys());
    if (con === CON.Option) return this.#hasAll(['some', 'none']);
    if (con === CON.Result) return this.#hasAll(['ok', 'err']);
    return con === CON.Bool && this.#hasAll(['true', 'false']);
  }

  #hasAll(keys: Iterable<string>): boolean {
    for (const key of keys) if (!this.#seen.has(key)) return false;
    return true;
  }

  add(pat: Pat): void {
    const key = literalKey(pat);
    if (key === undefined) this.#only = false;
    else this.#seen.add(key);
  }
}

function literalKey(pat: Pat): string | undefined {
  if (pat.kind !== 'node') return undefined;
  const { head } = pat;
  if (head.kind === 'literal') return head.text;
  if ((head.kind === 'variant' || head.kind === 'tag') && pat.args.every((arg) => arg.kind === 'wild')) {
    return head.kind === 'variant' ? head.variant.name : head.tag;
  }
  return head.kind === 'range' && head.low === head.high ? String(head.low) : undefined;
}

/** Types whose values can all be named. */
function isClosed(type: Type): boolean {
  return mustBeComplete(type) || isCon(type, CON.Tuple) || (type.kind === 'applied' && type.con.fields !== undefined);
}

function mustBeComplete(type: Type): boolean {
  if (type.kind !== 'applied') return false;
  const { con } = type;
  return (
    con === CON.Bool ||
    con === CON.Option ||
    con === CON.Result ||
    con.variants !== undefined ||
    con.values !== undefined
  );
}

/** Undefined when the pattern has a mistake that was reported. */
function lower(cx: Context, pattern: Pattern): Pat | undefined {
  switch (pattern.kind) {
    case 'WildcardPattern':
    case 'RestPattern':
      return WILD;
    case 'ErrorPattern':
      return undefined;
    case 'LiteralPattern':
      return node(literalHead(pattern.value), []);
    case 'RangePattern':
      return node(rangeHead(pattern), []);
    case 'BindingPattern':
    case 'PathPattern':
      return lowerName(cx, pattern);
    case 'ConstructorPattern':
      return lowerConstructor(cx, pattern);
    case 'StructPattern':
      return lowerStruct(cx, pattern);
    case 'TuplePattern': {
      const hasRest = pattern.elements.some((element) => element.kind === 'RestPattern');
      if (hasRest) return lowerArray(cx, pattern.elements);
      const args = lowerAll(cx, pattern.elements);
      return args === undefined ? undefined : node({ kind: 'single', name: '', fields: undefined }, args);
    }
    case 'ArrayPattern':
      return lowerArray(cx, pattern.elements);
    case 'OrPattern': {
      const patterns = lowerAll(cx, pattern.alternatives);
      return patterns === undefined ? undefined : { kind: 'or', patterns };
    }
  }
}

function node(head: Head, args: readonly Pat[]): Pat {
  return { kind: 'node', head, args };
}

function lowerAll(cx: Context, patterns: readonly Pattern[]): Pat[] | undefined {
  const lowered: Pat[] = [];
  for (const pattern of patterns) {
    const pat = lower(cx, pattern);
    if (pat === undefined) return undefined;
    lowered.push(pat);
  }
  return lowered;
}

function literalHead(value: LiteralExpression): Head {
  switch (value.kind) {
    case 'IntLiteral':
      return { kind: 'range', low: value.value, high: value.value };
    case 'FloatLiteral':
      return { kind: 'literal', text: String(value.value) };
    case 'StringLiteral':
      return { kind: 'literal', text: JSON.stringify(value.value) };
    case 'BoolLiteral':
      return { kind: 'tag', tag: value.value ? 'true' : 'false' };
    case 'NilLiteral':
      return { kind: 'tag', tag: 'nil' };
  }
}

function rangeHead(pattern: RangePattern): Head {
  const { start, end } = pattern;
  const isInt =
    (start === undefined || start.kind === 'IntLiteral') && (end === undefined || end.kind === 'IntLiteral');
  if (!isInt) return { kind: 'opaque' };
  const low = start?.kind === 'IntLiteral' ? start.value : Number.NEGATIVE_INFINITY;
  const last = end?.kind === 'IntLiteral' ? end.value : Number.POSITIVE_INFINITY;
  const high = pattern.inclusive || last === Number.POSITIVE_INFINITY ? last : last - 1;
  return low > high ? { kind: 'opaque' } : { kind: 'range', low, high };
}

function lowerName(
  cx: Context,
  pattern: Extract<Pattern, { kind: 'BindingPattern' | 'PathPattern' }>,
): Pat | undefined {
  const resolved = cx.facts.patterns.get(pattern.id);
  switch (resolved?.kind) {
    case 'binding':
      return pattern.kind === 'BindingPattern' && pattern.pattern !== undefined ? lower(cx, pattern.pattern) : WILD;
    case 'none':
      return node({ kind: 'tag', tag: 'none' }, []);
    case 'variant': {
      const variant = findVariant(cx, resolved.variant.enum, resolved.variant.name);
      if (variant === undefined) return undefined;
      return node(
        { kind: 'variant', variant },
        [...variant.fields].map(() => WILD),
      );
    }
    case 'constant':
      return node({ kind: 'opaque' }, []);
    default:
      return undefined;
  }
}

function findVariant(cx: Context, path: string, name: string): VariantInfo | undefined {
  return consByPath(cx).get(path)?.variants?.get(name);
}

const tables = new WeakMap<Context, { readonly size: number; readonly table: Map<string, TypeCon> }>();

function consByPath(cx: Context): Map<string, TypeCon> {
  const known = tables.get(cx);
  if (known !== undefined && known.size === cx.declaredCons.size) return known.table;
  const table = new Map([...cx.declaredCons.values()].map((con) => [con.path, con]));
  tables.set(cx, { size: cx.declaredCons.size, table });
  return table;
}

function lowerConstructor(cx: Context, pattern: Extract<Pattern, { kind: 'ConstructorPattern' }>): Pat | undefined {
  const resolved = cx.facts.patterns.get(pattern.id);
  if (resolved?.kind === 'ok' || resolved?.kind === 'err' || resolved?.kind === 'some') {
    const args = lowerAll(cx, pattern.elements);
    return args === undefined ? undefined : node({ kind: 'tag', tag: resolved.kind }, [args[0] ?? WILD]);
  }
  if (resolved?.kind !== 'variant') return undefined;
  const variant = findVariant(cx, resolved.variant.enum, resolved.variant.name);
  if (variant === undefined || variant.shape !== 'tuple') return undefined;
  const args = fillRest(cx, pattern.elements, variant.fields.size);
  return args === undefined ? undefined : node({ kind: 'variant', variant }, args);
}

/** `V(a, ..)` has as many parts as the variant. */
function fillRest(cx: Context, elements: readonly Pattern[], length: number): Pat[] | undefined {
  const restAt = elements.findIndex((element) => element.kind === 'RestPattern');
  const lowered = lowerAll(cx, elements);
  if (lowered === undefined) return undefined;
  if (restAt === -1) return lowered.length === length ? lowered : undefined;
  const filler = Array.from({ length: Math.max(0, length - elements.length + 1) }, () => WILD);
  return [...lowered.slice(0, restAt), ...filler, ...lowered.slice(restAt + 1)];
}

function lowerStruct(cx: Context, pattern: Extract<Pattern, { kind: 'StructPattern' }>): Pat | undefined {
  const resolved = cx.facts.patterns.get(pattern.id);
  const parts = new Map<string, Pat>();
  for (const field of pattern.fields) {
    const pat = lower(cx, field.pattern);
    if (pat === undefined) return undefined;
    parts.set(field.name.text, pat);
  }
  if (resolved?.kind === 'variant') {
    const variant = findVariant(cx, resolved.variant.enum, resolved.variant.name);
    if (variant === undefined) return undefined;
    return node(
      { kind: 'variant', variant },
      [...variant.fields.keys()].map((name) => parts.get(name) ?? WILD),
    );
  }
  if (resolved?.kind !== 'struct') return resolved?.kind === 'failure' ? node({ kind: 'opaque' }, []) : undefined;
  const fields = [...(consByPath(cx).get(resolved.path)?.fields?.keys() ?? [])];
  return node(
    { kind: 'single', name: resolved.name, fields },
    fields.map((name) => parts.get(name) ?? WILD),
  );
}

function lowerArray(cx: Context, elements: readonly Pattern[]): Pat | undefined {
  const restAt = elements.findIndex((element) => element.kind === 'RestPattern');
  const args = lowerAll(
    cx,
    elements.filter((element) => element.kind !== 'RestPattern'),
  );
  if (args === undefined) return undefined;
  const before = restAt === -1 ? args.length : restAt;
  return node({ kind: 'array', before, after: args.length - before, rest: restAt !== -1 }, args);
}
