import type * as z from 'zod/mini';

/** What a newer version may have added to one stored thing; more is not a newer version. */
const unknownMax = 64;

/** A shape of whatever kind. */
type Readable<T> = {
  safeParse(
    value: unknown,
  ): { readonly success: true; readonly data: T } | { readonly success: false; readonly error: z.core.$ZodError };
};

/**
 * Reads what was stored. A field that is not known here was written by a newer version beside us: it stays in the log
 * and is left out here, so that one new field does not close the session to every older process.
 */
export function readStored<T>(schema: Readable<T>, value: unknown): T {
  let read = schema.safeParse(value);
  if (read.success) return read.data;
  const copy: unknown = JSON.parse(JSON.stringify(value));
  for (let removed = 0; removed < unknownMax; removed++) {
    if (!withoutUnknown(copy, read.error)) break;
    read = schema.safeParse(copy);
    if (read.success) return read.data;
  }
  throw read.error;
}

/** Removes the fields that nobody knows; whether there were any. */
function withoutUnknown(value: unknown, error: z.core.$ZodError): boolean {
  let removed = false;
  for (const issue of error.issues) {
    if (issue.code !== 'unrecognized_keys') continue;
    const owner = issue.path.reduce<unknown>((at, key) => (isRecord(at) ? at[String(key)] : undefined), value);
    if (!isRecord(owner)) continue;
    for (const key of issue.keys) removed = Reflect.deleteProperty(owner, key) || removed;
  }
  return removed;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
