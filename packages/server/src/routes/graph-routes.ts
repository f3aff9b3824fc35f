import { PutGraph } from '@concerto/protocol';
import { GraphBook } from '@concerto/runtime';
import { Hono } from 'hono';
import { actorOf } from '../people/check-role.ts';
import { readBody } from '../read-body.ts';
import type { OnNode, ServerContext } from '../server-context.ts';
import { granted } from './session-routes.ts';

/** The graph of the project. */
export function graphRoutes({ log }: ServerContext): Hono<OnNode> {
  const routes = new Hono<OnNode>();
  const graph = new GraphBook(log);
  routes.get('/graph', async (c) => c.json(await graph.read()));
  routes.put('/graph', async (c) => c.json(granted(await graph.put(await readBody(c, PutGraph), actorOf(c)))));
  return routes;
}
