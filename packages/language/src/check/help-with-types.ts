import { CON, isCon, isNumber, isStringLike, prune, type Type } from './types.ts';

/** How a value that is no Bool is asked about. */
export function helpToAsk(raw: Type): string | undefined {
  const type = prune(raw);
  if (isCon(type, CON.Option)) return 'ask with `.is_some()`';
  if (isCon(type, CON.Result)) return 'ask with `.is_ok()`';
  if (isNumber(type)) return 'compare it: `n != 0`';
  const hasLength = isStringLike(type) || [CON.Array, CON.Map, CON.Range].some((con) => isCon(type, con));
  return hasLength ? 'ask with `.is_empty()`, or `!….is_empty()`' : undefined;
}

/** What operators of other languages, or of other types, are called here. */
export function helpToCombine(operator: string, rawLeft: Type, rawRight: Type): string | undefined {
  const left = prune(rawLeft);
  const right = prune(rawRight);
  if (isCon(left, CON.Option) || isCon(right, CON.Option)) return 'take the value out with `?? default` or `match`';
  if (isCon(left, CON.Result) || isCon(right, CON.Result)) return 'take the value out with `?` or `match`';
  const isPlus = operator.startsWith('+');
  if (isPlus && (isStringLike(left) || isStringLike(right))) return 'put the value into a template: `"…${value}"`';
  if (isPlus && isCon(left, CON.Array)) return 'an element is added with `.push(x)`, a list with `.concat(ys)`';
  if (isPlus && isCon(left, CON.Map)) return 'maps are joined with `.merge(other)`';
  return operator === '*' && isStringLike(left) && isCon(right, CON.Int) ? 'write `.repeat(n)`' : undefined;
}

/** A text where a number is wanted, a map where a struct is. */
export function helpToConvert(from: Type, to: Type): string | undefined {
  if (from.kind !== 'applied' || to.kind !== 'applied') return undefined;
  const target = to.con.name;
  if (isStringLike(from) && isNumber(to)) {
    return `read it with \`.parse_${target.toLowerCase()}()\`, or \`… as ${target}\` where it must be one`;
  }
  const isRecord = to.con.family === 'struct' || to.con.family === 'schema';
  if (isCon(from, CON.Map) && isRecord) return `write \`${target} { … }\``;
  const isKept = from.con === to.con && from.args.length > 0 && KEPT.has(from.con.family);
  return isKept ? `what a \`${target}\` holds keeps its type: give it that type where it is made` : undefined;
}

const KEPT = new Set(['struct', 'schema', 'enum', 'object']);
