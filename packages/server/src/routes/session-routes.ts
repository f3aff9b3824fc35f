import type { Result } from '@concerto/base';
import { ForkSession, LifecycleVerb, SessionStatus, SetSupervisor, StartSession } from '@concerto/protocol';
import type { ServiceRefusal, Sessions } from '@concerto/runtime';
import { type Context, Hono } from 'hono';
import { readLimit, readPage } from '../cursor.ts';
import { idempotently } from '../idempotency.ts';
import { checkInlineTools } from '../inline-tools.ts';
import { callerOf, requireRole } from '../people/check-role.ts';
import { ProblemError } from '../problem.ts';
import { readFlag } from '../query-choice.ts';
import { parseBody, readJson } from '../read-body.ts';
import { problemOfRefusal } from '../refusal-status.ts';
import type { OnNode, ServerContext } from '../server-context.ts';

const soughtMax = 200;

/** Which sessions are asked for. */
function readQuery(c: Context<OnNode>): Parameters<Sessions['list']>[0] {
  const { status, q: sought, cursor, parent } = c.req.query();
  const parsed = status === undefined ? undefined : SessionStatus.safeParse(status);
  if (parsed?.success === false) {
    const known = SessionStatus.options.join(', ');
    throw new ProblemError(400, 'bad_status', `${JSON.stringify(status)} is not a status; ${known} are`);
  }
  if (sought !== undefined && sought.length > soughtMax)
    throw new ProblemError(400, 'bad_query', `what is looked for has at most ${soughtMax} characters`);
  return {
    limit: readLimit(c, { fallback: 50, max: 200 }),
    ...(parsed === undefined ? {} : { status: parsed.data }),
    ...(parent === undefined ? {} : { parent }),
    tree: readFlag(c, 'tree') === true,
    archived: readFlag(c, 'archived') === true,
    ...(cursor === undefined ? {} : { cursor }),
    ...(sought === undefined ? {} : { sought }),
  };
}

export function sessionRoutes({ sessions, log, inlineTools }: ServerContext): Hono<OnNode> {
  const routes = new Hono<OnNode>();

  routes.post('/', async (c) => {
    const body = await readJson(c);
    const start = parseBody(body, StartSession);
    checkInlineTools(start.tools, inlineTools);
    if (start.supervisor !== undefined) requireRole(c.get('person'), 'member', '`supervisor`');
    if (start.rules !== undefined) requireRole(c.get('person'), 'member', '`rules`');
    if (start.budget !== undefined) requireRole(c.get('person'), 'member', '`budget`');
    return await idempotently(c, log, body, async ({ key }) =>
      c.json(granted(await sessions.start(start, callerOf(c, key))), 201),
    );
  });

  routes.get('/', async (c) => c.json(await sessions.list(readQuery(c))));
  routes.get('/:id', async (c) => c.json(found(await sessions.get(c.req.param('id')), c)));
  routes.get('/:id/audit', async (c) => {
    const message = c.req.query('message');
    const page = readPage(c);
    return c.json(
      found(await sessions.audit(c.req.param('id'), { ...page, ...(message === undefined ? {} : { message }) }), c),
    );
  });

  routes.put('/:id/supervisor', async (c) => {
    const body = parseBody(await readJson(c), SetSupervisor);
    const caller = callerOf(c, undefined);
    return c.json(granted(await sessions.supervise(c.req.param('id'), body, caller)));
  });

  routes.post('/:id/fork', async (c) => {
    const body = await readJson(c);
    const fork = parseBody(body ?? {}, ForkSession);
    return await idempotently(c, log, body, async ({ key }) =>
      c.json(granted(await sessions.fork(c.req.param('id'), fork, callerOf(c, key))), 201),
    );
  });

  for (const verb of LifecycleVerb.options) {
    routes.post(`/:id/${verb}`, async (c) => {
      const body = await readJson(c);
      return await idempotently(c, log, body, async ({ key }) =>
        c.json(granted(await sessions.control(c.req.param('id'), verb, callerOf(c, key))), 202),
      );
    });
  }
  return routes;
}

export function granted<T>(outcome: Result<T, ServiceRefusal>): T {
  if (outcome.ok) return outcome.value;
  throw problemOfRefusal(outcome.error);
}

export function found<T>(value: T | undefined, c: Context, id = c.req.param('id')): T {
  if (value !== undefined) return value;
  throw new ProblemError(404, 'no_such_session', `there is no session ${JSON.stringify(id)}`);
}
