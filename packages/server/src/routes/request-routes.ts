import { AnswerRequest } from '@concerto/protocol';
import { Hono } from 'hono';
import { idempotently } from '../idempotency.ts';
import { callerOf, requireRole } from '../people/check-role.ts';
import { parseBody, readJson } from '../read-body.ts';
import type { OnNode, ServerContext } from '../server-context.ts';
import { found, granted } from './session-routes.ts';

export function requestRoutes({ sessions, log }: ServerContext): Hono<OnNode> {
  const routes = new Hono<OnNode>();

  routes.get('/:id/requests', async (c) => c.json(found(await sessions.requests(c.req.param('id')), c)));

  routes.post('/:id/requests/:rid', async (c) => {
    const body = await readJson(c);
    const answer = parseBody(body, AnswerRequest);
    // It would answer for everybody from now on: that is a rule, and rules are the owner's.
    if (answer.remember === 'always') requireRole(c.get('person'), 'owner', '`remember: "always"`');
    const target = { session: c.req.param('id'), request: c.req.param('rid') };
    return await idempotently(c, log, body, async ({ key }) => {
      granted(await sessions.answer(target, answer, callerOf(c, key)));
      return c.json({ ok: true });
    });
  });
  return routes;
}
