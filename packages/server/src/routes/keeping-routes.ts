import { DescribeSession } from '@concerto/protocol';
import { Hono } from 'hono';
import { idempotently } from '../idempotency.ts';
import { callerOf } from '../people/check-role.ts';
import { parseBody, readJson } from '../read-body.ts';
import type { OnNode, ServerContext } from '../server-context.ts';
import { granted } from './session-routes.ts';

/** What sessions are called, which are put away, and which are no more. */
export function keepingRoutes({ sessions, log }: ServerContext): Hono<OnNode> {
  const routes = new Hono<OnNode>();

  routes.patch('/:id', async (c) => {
    const body = await readJson(c);
    const change = parseBody(body, DescribeSession);
    return await idempotently(c, log, body, async ({ key }) =>
      c.json(granted(await sessions.describe(c.req.param('id'), change, callerOf(c, key)))),
    );
  });
  routes.delete('/:id', async (c) => {
    granted(await sessions.delete(c.req.param('id'), callerOf(c, undefined)));
    return c.json({ ok: true });
  });
  return routes;
}
