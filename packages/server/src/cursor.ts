import type { Context } from 'hono';
import { ProblemError } from './problem.ts';

/** The position to go on from: `?after` wins over `Last-Event-ID`; neither means from the beginning. */
export function readCursor(c: Context): number {
  const text = c.req.query('after') ?? c.req.header('last-event-id') ?? '0';
  if (!/^\d+$/.test(text)) throw new ProblemError(400, 'bad_cursor', `${JSON.stringify(text)} is not a position`);
  return Number(text);
}

export function readLimit(c: Context, limits: { readonly fallback: number; readonly max: number }): number {
  const text = c.req.query('limit');
  if (text === undefined) return limits.fallback;
  const limit = Number(text);
  if (!Number.isInteger(limit) || limit < 1) throw new ProblemError(400, 'bad_limit', 'limit is a whole number from 1');
  return Math.min(limit, limits.max);
}

/** Of a list that only grows at its end. */
export function readPage(c: Context): { readonly after: number; readonly limit: number } {
  return { after: readCursor(c), limit: readLimit(c, { fallback: 1_000, max: 5_000 }) };
}

export function checkCursor(position: number, head: number): void {
  if (position <= head) return;
  throw new ProblemError(409, 'cursor_ahead', `the cursor ${position} is beyond the end, ${head}`, {
    members: { position: head },
  });
}
