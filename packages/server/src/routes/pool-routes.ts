import { ConfigurePool, Template } from '@concerto/protocol';
import { Hono } from 'hono';
import { idempotently } from '../idempotency.ts';
import { checkInlineTools } from '../inline-tools.ts';
import { actorOf, callerOf } from '../people/check-role.ts';
import { ProblemError } from '../problem.ts';
import { parseBody, readBody, readJson } from '../read-body.ts';
import type { OnNode, ServerContext } from '../server-context.ts';
import { granted } from './session-routes.ts';

/** Pool, templates and agents: what there is to start sessions from, and how many may run. */
export function poolRoutes({ sessions, log, inlineTools }: ServerContext): Hono<OnNode> {
  const routes = new Hono<OnNode>();

  routes.get('/pool', async (c) => c.json(await sessions.pool()));
  routes.put('/pool', async (c) =>
    c.json(await sessions.configurePool((await readBody(c, ConfigurePool)).max, actorOf(c))),
  );

  routes.get('/agents', async (c) => c.json({ agents: await sessions.agents() }));

  routes.get('/templates', async (c) => c.json({ templates: await sessions.templates() }));
  routes.post('/templates', async (c) => {
    const body = await readJson(c);
    const template = parseBody(body, Template);
    checkInlineTools(template.tools, inlineTools);
    return await idempotently(c, log, body, async ({ key }) =>
      c.json(granted(await sessions.createTemplate(template, callerOf(c, key))), 201),
    );
  });
  routes.get('/templates/:name', async (c) => {
    const template = await sessions.template(c.req.param('name'));
    if (template === undefined) throw noTemplate(c.req.param('name'));
    return c.json(template);
  });
  routes.put('/templates/:name', async (c) => {
    const body = await readJson(c);
    const template = parseBody(namedTemplate(c.req.param('name'), body), Template);
    checkInlineTools(template.tools, inlineTools);
    return c.json(granted(await sessions.putTemplate(c.req.param('name'), template)));
  });
  routes.delete('/templates/:name', async (c) => {
    if (!(await sessions.deleteTemplate(c.req.param('name')))) throw noTemplate(c.req.param('name'));
    return c.body(null, 204);
  });
  return routes;
}

/** The path names it; the body may say so again. */
function namedTemplate(name: string, body: unknown): unknown {
  if (body === null || typeof body !== 'object' || Array.isArray(body)) return body;
  return { name, ...body };
}

function noTemplate(name: string): ProblemError {
  return new ProblemError(404, 'no_such_template', `there is no template ${JSON.stringify(name)}`);
}
