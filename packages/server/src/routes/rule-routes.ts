import { PutRules, TryPolicy, TryRules } from '@concerto/protocol';
import { Hono } from 'hono';
import { actorOf } from '../people/check-role.ts';
import { readBody } from '../read-body.ts';
import { problemOfRefusal } from '../refusal-status.ts';
import type { OnNode, ServerContext } from '../server-context.ts';
import { granted } from './session-routes.ts';

/** What is answered without a person. */
export function ruleRoutes({ sessions }: ServerContext): Hono<OnNode> {
  const routes = new Hono<OnNode>();
  routes.get('/rules', async (c) => c.json(await sessions.rules.list()));
  routes.put('/rules', async (c) => c.json(granted(await sessions.rules.put(await readBody(c, PutRules), actorOf(c)))));
  routes.post('/rules/try', async (c) => {
    const tried = await readBody(c, TryRules);
    const unknown = sessions.rules.unknownAgent(tried.agent);
    if (unknown !== undefined) throw problemOfRefusal(unknown);
    return c.json(await sessions.rules.try(tried));
  });
  routes.post('/policies/try', async (c) =>
    c.json(granted(await sessions.trials.try(await readBody(c, TryPolicy), c.req.raw.signal))),
  );
  return routes;
}
