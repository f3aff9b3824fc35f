import { readInsight } from '@concerto/runtime';
import { type Context, Hono } from 'hono';
import { ProblemError } from '../problem.ts';
import type { OnNode, ServerContext } from '../server-context.ts';

const daysMax = 366;
/** No clock is further from UTC. */
const offsetMax = 14 * 60;

/** What was done and used, and what it took of people. */
export function insightRoutes({ log }: ServerContext): Hono<OnNode> {
  const routes = new Hono<OnNode>();
  routes.get('/insight', async (c) =>
    c.json(
      await readInsight(log, {
        now: Date.now(),
        days: readNumber(c, { name: 'days', fallback: 30, min: 1, max: daysMax }),
        offsetMinutes: readNumber(c, { name: 'offset', fallback: 0, min: -offsetMax, max: offsetMax }),
      }),
    ),
  );
  return routes;
}

type Wanted = { readonly name: string; readonly fallback: number; readonly min: number; readonly max: number };

function readNumber(c: Context, { name, fallback, min, max }: Wanted): number {
  const text = c.req.query(name);
  if (text === undefined) return fallback;
  const value = Number(text);
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw new ProblemError(400, `bad_${name}`, `${name} is a whole number from ${min} to ${max}`);
}
