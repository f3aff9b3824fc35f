import type { Json } from './json.ts';

/** What `JSON.stringify` takes: members that are undefined are left out. */
type Written = Json | readonly Written[] | { readonly [key: string]: Written | undefined };

/** JSON text that does not depend on the order in which keys were written: equal values have equal texts. */
export function canonicalJson(value: Written): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const members = Object.entries(value)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([key, member]) => (member === undefined ? [] : `${JSON.stringify(key)}:${canonicalJson(member)}`));
  return `{${members.join(',')}}`;
}
