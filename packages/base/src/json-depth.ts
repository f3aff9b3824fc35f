import type { Json } from './json.ts';

/** Deepest nesting that we take from others: parsing has no limit of its own, but whatever walks the value later recurses. */
export const jsonDepthMax = 500;

/** Whether arrays and objects lie within one another more often than that. */
export function isNestedTooDeep(value: Json, levels: number = jsonDepthMax): boolean {
  if (value === null || typeof value !== 'object') return false;
  if (levels === 0) return true;
  return Object.values(value).some((member: Json) => isNestedTooDeep(member, levels - 1));
}
