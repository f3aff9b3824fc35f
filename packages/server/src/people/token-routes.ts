import { AddToken } from '@concerto/protocol';
import { Hono } from 'hono';
import { ProblemError } from '../problem.ts';
import { readBody } from '../read-body.ts';
import type { OnNode, ServerContext } from '../server-context.ts';
import { actorOf } from './check-role.ts';

/** Who may call, and as what. */
export function tokenRoutes({ people }: ServerContext): Hono<OnNode> {
  const routes = new Hono<OnNode>();
  routes.get('/me', (c) => {
    const { name, role } = c.get('person');
    return c.json({ name, role });
  });
  routes.get('/tokens', (c) => c.json({ tokens: people.list() }));
  // Without `Idempotency-Key`: the first answer would have to be kept, and it holds the token.
  routes.post('/tokens', async (c) => {
    const added = await people.add(await readBody(c, AddToken), actorOf(c));
    if (added.ok) return c.json(added.value, 201);
    throw new ProblemError(409, added.error.code, added.error.message);
  });
  routes.delete('/tokens/:name', async (c) => {
    const name = c.req.param('name');
    if (await people.revoke(name, actorOf(c))) return c.body(null, 204);
    throw new ProblemError(404, 'no_such_token', `nobody has a token as ${JSON.stringify(name)}`);
  });
  return routes;
}
