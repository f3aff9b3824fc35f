import { ChangeSettings, ChangeWorktree } from '@concerto/protocol';
import { Hono } from 'hono';
import { idempotently } from '../idempotency.ts';
import { callerOf } from '../people/check-role.ts';
import { parseBody, readJson } from '../read-body.ts';
import type { OnNode, ServerContext } from '../server-context.ts';
import { found, granted } from './session-routes.ts';

/** What a session has of its own. */
export function settingsRoutes({ sessions, log }: ServerContext): Hono<OnNode> {
  const routes = new Hono<OnNode>();
  routes.get('/:id/agent', async (c) => c.json(found(await sessions.settings.agentOf(c.req.param('id')), c)));

  routes.post('/:id/settings', async (c) => {
    const body = await readJson(c);
    const change = parseBody(body, ChangeSettings);
    return await idempotently(c, log, body, async ({ key }) =>
      c.json(granted(await sessions.settings.change(c.req.param('id'), change, callerOf(c, key))), 202),
    );
  });

  routes.post('/:id/worktree', async (c) => {
    const body = await readJson(c);
    const change = parseBody(body, ChangeWorktree);
    return await idempotently(c, log, body, async ({ key }) =>
      c.json(granted(await sessions.settings.changeWorktree(c.req.param('id'), change, callerOf(c, key)))),
    );
  });
  return routes;
}
