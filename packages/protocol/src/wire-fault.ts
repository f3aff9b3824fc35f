import type { JsonObject } from '@concerto/base';
import type * as z from 'zod/mini';

type Issue = z.core.$ZodIssue;

const shownLength = 60;
/** Of a message with more faults than these the rest is told when they are mended. */
const toldMax = 5;

/** What is wrong with one field of a message of an agent, for its author: `field `percent`: expected a number, …`. */
export function wireFault(raw: JsonObject, issue: Issue): string {
  const field = issue.path.map(String).join('.');
  return `field \`${field}\`: expected ${expectedBy(issue)}, found ${described(valueAt(raw, issue.path))}`;
}

export function wireFaults(raw: JsonObject, issues: readonly Issue[]): string {
  return issues
    .slice(0, toldMax)
    .map((issue) => wireFault(raw, issue))
    .join('; ');
}

function expectedBy(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      return /^[aeio]/.test(issue.expected) ? `an ${issue.expected}` : `a ${issue.expected}`;
    case 'invalid_union':
      return issue.errors.flatMap(([first]) => (first === undefined ? [] : [alternativeOf(first)])).join(' or ');
    case 'invalid_value':
      return issue.values.map((value) => JSON.stringify(value)).join(' or ');
    case 'too_small':
      return sized(issue.origin, 'at least', issue.minimum);
    case 'too_big':
      return sized(issue.origin, 'at most', issue.maximum);
    default:
      return issue.message;
  }
}

function sized(origin: string, bound: string, limit: number | bigint): string {
  if (origin === 'string') return `a string of ${bound} ${limit} ${limit === 1 ? 'character' : 'characters'}`;
  if (origin === 'array') return `an array of ${bound} ${limit} ${limit === 1 ? 'element' : 'elements'}`;
  return `a number of ${bound} ${limit}`;
}

/** One thing that it could have been; of a list that is one, what its first wrong element should be. */
function alternativeOf(issue: Issue): string {
  const [place] = issue.path;
  return place === undefined ? expectedBy(issue) : `${expectedBy(issue)} at ${String(place)}`;
}

export function valueAt(raw: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, name) => (typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined),
    raw,
  );
}

function described(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  // JSON can spell a number that no number can hold.
  const text = typeof value === 'number' ? String(value) : JSON.stringify(value);
  const shown = text.length > shownLength ? `${text.slice(0, shownLength)}…` : text;
  return `${Array.isArray(value) ? 'the array' : `the ${typeof value}`} ${shown}`;
}
