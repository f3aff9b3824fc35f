import { StopServer } from '@concerto/protocol';
import { Hono } from 'hono';
import { ProblemError } from '../problem.ts';
import { readBody } from '../read-body.ts';
import type { OnNode, ServerContext, Upkeep } from '../server-context.ts';

/** What an operator does elsewhere than on the server's own machine: see the agents that are kept, end them, stop. */
export function upkeepRoutes({ upkeep }: ServerContext): Hono<OnNode> {
  const routes = new Hono<OnNode>();
  routes.get('/kept', async (c) => c.json({ agents: [...((await upkeep?.kept()) ?? [])] }));
  routes.delete('/kept/:session', async (c) => {
    const session = c.req.param('session');
    if ((await upkeep?.end(session)) === true) return c.body(null, 204);
    throw new ProblemError(404, 'no_such_agent', `no agent of ${JSON.stringify(session)} is kept here`);
  });
  routes.post('/stop', async (c) => {
    const { agents = false } = await readBody(c, StopServer);
    if (upkeep === undefined) throw new ProblemError(409, 'cannot_stop', 'this server cannot be stopped from outside');
    upkeep.stop(agents);
    return c.json({ ok: true }, 202);
  });
  // Whoever asks while it is looked into hears the same.
  let looking: ReturnType<Upkeep['doctor']> | undefined;
  routes.post('/doctor', async (c) => {
    if (upkeep === undefined) throw new ProblemError(409, 'cannot_look', 'this server cannot look into its agents');
    looking ??= upkeep.doctor().finally(() => {
      looking = undefined;
    });
    return c.json({ findings: [...(await looking)] });
  });
  return routes;
}
