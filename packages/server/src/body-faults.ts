import type * as z from 'zod';

type Issue = z.core.$ZodIssue;
type Place = readonly PropertyKey[];

export type Fault = { readonly path: string; readonly message: string };

/** Of more the rest is told when these are mended: an answer is not many times as long as what it answers. */
const faultsMax = 100;

/** What is wrong with a body: every fault at its own place, for whoever wrote it. */
export function bodyFaults(issues: readonly Issue[], body: unknown): readonly Fault[] {
  return issues.flatMap((issue) => faultsOf(issue, [], body)).slice(0, faultsMax);
}

/** Of a union the alternative that came nearest, of unknown keys each one. */
function faultsOf(issue: Issue, outer: Place, body: unknown): readonly Fault[] {
  const path = [...outer, ...issue.path];
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => faultAt([...path, key], 'is not a known key'));
  }
  const isMissing = valueAt(body, path) === undefined;
  if (isMissing && (issue.code === 'invalid_type' || issue.code === 'invalid_union'))
    return [faultAt(path, 'is required')];
  if (issue.code === 'invalid_union') return faultsOfUnion(issue, path, body);
  return [faultAt(path, messageOf(issue))];
}

function faultsOfUnion(issue: Extract<Issue, { code: 'invalid_union' }>, path: Place, body: unknown): readonly Fault[] {
  const fitting = issue.errors.filter((errors) => errors.length > 0 && !errors.some(isOfOtherType));
  if (fitting.length === 0) return [faultAt(path, typesOf(issue.errors) ?? issue.message)];
  const missing = (errors: readonly Issue[]): readonly Place[] =>
    errors.map((inner) => inner.path).filter((place) => valueAt(body, [...path, ...place]) === undefined);
  const isKey = (place: Place): boolean => place.length === 1;
  const keys = fitting.map((errors) => missing(errors).filter(isKey));
  // Each wants another key, and none is there: it cannot be said which was meant.
  if (fitting.length > 1 && keys.every(({ length }) => length > 0)) {
    const named = [...new Set(keys.flatMap(([first]) => first?.map((key) => `\`${String(key)}\``) ?? []))];
    return [faultAt(path, `has none of ${named.join(', ')}`)];
  }
  const score = (errors: readonly Issue[]): number =>
    missing(errors).filter(isKey).length * 10_000 + missing(errors).length * 100 + errors.length;
  const [nearest = []] = fitting.toSorted((a, b) => score(a) - score(b));
  return nearest.flatMap((inner) => faultsOf(inner, path, body));
}

function isOfOtherType(issue: Issue): boolean {
  return issue.code === 'invalid_type' && issue.path.length === 0;
}

/** In the words of the house where nobody gave it others: zod's own are those of its code. */
function messageOf(issue: Issue): string {
  if (!/^(Too small|Too big|Invalid input|Invalid option): /.test(issue.message)) return issue.message;
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${typeWords[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return `must be ${issue.values.length === 1 ? '' : 'one of '}${issue.values.map((value) => JSON.stringify(value)).join(', ')}`;
    case 'too_small':
      return sizeText(issue.origin, issue.minimum, issue.inclusive === false ? 'more than' : 'at least');
    case 'too_big':
      return sizeText(issue.origin, issue.maximum, issue.inclusive === false ? 'less than' : 'at most');
    default:
      return issue.message;
  }
}

function sizeText(origin: string, limit: number | bigint, bound: string): string {
  const noun = { string: 'character', array: 'element', set: 'element' }[origin];
  if (noun === undefined) return `must be ${bound} ${limit}`;
  if (bound === 'at least' && limit === 1) return 'must not be empty';
  return `must have ${bound} ${limit} ${noun}${limit === 1 ? '' : 's'}`;
}

const typeWords: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: '`true` or `false`',
  object: 'an object',
  record: 'an object',
  array: 'a list',
  null: '`null`',
};

/** Undefined where the alternatives do not say. */
function typesOf(alternatives: readonly (readonly Issue[])[]): string | undefined {
  const wanted = alternatives.flat().flatMap((issue) => (issue.code === 'invalid_type' ? [issue.expected] : []));
  const words = [...new Set(wanted.map((type) => typeWords[type] ?? type))];
  return words.length === 0 ? undefined : `must be ${words.join(' or ')}`;
}

function faultAt(path: Place, message: string): Fault {
  return { path: path.map(String).join('.'), message };
}

function valueAt(body: unknown, path: Place): unknown {
  let value = body;
  for (const key of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = Object.getOwnPropertyDescriptor(value, key)?.value;
  }
  return value;
}
