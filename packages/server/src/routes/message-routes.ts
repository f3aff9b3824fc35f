import { OrderMessages, ReviseMessage, SendMessage } from '@concerto/protocol';
import { Hono } from 'hono';
import { readPage } from '../cursor.ts';
import { idempotently } from '../idempotency.ts';
import { callerOf } from '../people/check-role.ts';
import { readFlag } from '../query-choice.ts';
import { parseBody, readJson } from '../read-body.ts';
import type { OnNode, ServerContext } from '../server-context.ts';
import { found, granted } from './session-routes.ts';

export function messageRoutes({ sessions, log }: ServerContext): Hono<OnNode> {
  const routes = new Hono<OnNode>();

  routes.get('/:id/messages', async (c) => {
    const query = readFlag(c, 'all') === true ? { history: readPage(c) } : {};
    return c.json(found(await sessions.messages(c.req.param('id'), query), c));
  });

  routes.post('/:id/messages', async (c) => {
    const body = await readJson(c);
    const message = parseBody(body, SendMessage);
    return await idempotently(c, log, body, async ({ key }) =>
      c.json(granted(await sessions.send(c.req.param('id'), message, callerOf(c, key))), 202),
    );
  });

  // Before `:mid`, or "order" would be taken for a message's id.
  routes.put('/:id/messages/order', async (c) => {
    const body = await readJson(c);
    const order = parseBody(body, OrderMessages);
    return await idempotently(c, log, body, async ({ key }) =>
      c.json(granted(await sessions.order(c.req.param('id'), order, callerOf(c, key)))),
    );
  });

  routes.patch('/:id/messages/:mid', async (c) => {
    const body = await readJson(c);
    const revision = parseBody(body, ReviseMessage);
    const target = { session: c.req.param('id'), message: c.req.param('mid') };
    return await idempotently(c, log, body, async ({ key }) =>
      c.json(granted(await sessions.revise(target, revision, callerOf(c, key)))),
    );
  });

  routes.delete('/:id/messages/:mid', async (c) => {
    const target = { session: c.req.param('id'), message: c.req.param('mid') };
    return await idempotently(c, log, await readJson(c), async ({ key }) =>
      c.json(granted(await sessions.unsend(target, callerOf(c, key)))),
    );
  });
  return routes;
}
