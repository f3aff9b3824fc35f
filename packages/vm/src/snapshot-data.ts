import type { Json } from '@concerto/base';

/** A snapshot that does not belong to this module, or is damaged. */
export class SnapshotError extends Error {
  readonly code = 'bad_snapshot';
  constructor(problem: string, cause?: unknown) {
    super(`cannot continue from the snapshot: ${problem}`, { cause });
    this.name = 'SnapshotError';
  }
}

/** Reading JSON that `snapshot` wrote; anything else is refused. */
export type Fields = { readonly [key: string]: Json };

export function object(data: Json | undefined): Fields {
  if (typeof data !== 'object' || data === null || isList(data)) throw new SnapshotError('it is damaged');
  return data;
}

export function isList(data: Json | undefined): data is readonly Json[] {
  return Array.isArray(data);
}

export function array(data: Json | undefined): readonly Json[] {
  if (!isList(data)) throw new SnapshotError('it is damaged');
  return data;
}

export function pairs(data: Json | undefined): (readonly Json[])[] {
  return array(data).map(array);
}

export function number(data: Json | undefined): number {
  if (typeof data !== 'number') throw new SnapshotError('it is damaged');
  return data;
}

export function text(data: Json | undefined): string {
  if (typeof data !== 'string') throw new SnapshotError('it is damaged');
  return data;
}

export function numbers(data: Json | undefined): Record<string, number> {
  return Object.fromEntries(Object.entries(object(data)).map(([key, value]) => [key, number(value)]));
}
