import { RunInput, StartRun } from '@concerto/protocol';
import { Hono } from 'hono';
import { idempotently } from '../idempotency.ts';
import { callerOf } from '../people/check-role.ts';
import { ProblemError } from '../problem.ts';
import { readWord } from '../query-choice.ts';
import { parseBody, readJson } from '../read-body.ts';
import type { OnNode, ServerContext } from '../server-context.ts';
import { serveEvents } from './event-routes.ts';
import { granted } from './session-routes.ts';

/** The run wire: a run is a session that ends with its first result. */
export function runRoutes(context: ServerContext): Hono<OnNode> {
  const { sessions, log } = context;
  const routes = new Hono<OnNode>();

  // `run`, and nothing else. Spelled out, and with `:id` beside it, hono could make no single expression of all routes.
  routes.post('/:verb', async (c) => {
    if (c.req.param('verb') !== 'run') return await c.notFound();
    const body = await readJson(c);
    // `null` says as little as no body does.
    const { objective, runId, run_id: proposed = runId, ...target } = parseBody(body ?? {}, StartRun);
    if (runId !== undefined && proposed !== runId)
      throw new ProblemError(422, 'invalid_body', '`run_id`: is another one than `runId`; propose one');
    return await idempotently(c, log, body, async ({ key }) => {
      const session = granted(
        await sessions.startRun(
          {
            ...target,
            ...(isNothing(objective) ? {} : { prompt: objective }),
            ...(proposed === undefined ? {} : { id: proposed }),
          },
          callerOf(c, key),
        ),
      );
      return c.json({ run_id: session.id, runId: session.id });
    });
  });

  routes.get('/:id/events', async (c) => {
    const session = c.req.param('id');
    // What other agents ask of their models nobody here knows.
    const asks = readWord(c, 'include', 'requests') && (await sessions.get(session))?.kind === 'assistant';
    return await serveEvents(context, c, { session, wire: asks ? 'requests' : 'run' });
  });

  routes.post('/:id/input', async (c) => {
    const body = await readJson(c);
    const input = parseBody(body, RunInput);
    const request = input.request_id ?? input.requestId;
    if (request === undefined) throw new ProblemError(422, 'invalid_body', '`request_id`: is required');
    return await idempotently(c, log, body, async ({ key }) => {
      const target = { session: c.req.param('id'), request };
      granted(
        await sessions.answer(target, { response: input.response ?? null, equalIsRepeat: true }, callerOf(c, key)),
      );
      return c.json({ ok: true });
    });
  });

  routes.post('/:id/abort', async (c) => {
    return await idempotently(c, log, await readJson(c), async ({ key }) => {
      const outcome = await sessions.control(c.req.param('id'), 'cancel', callerOf(c, key));
      // Repeatable: a run that is ending or has ended is as aborted as it will ever be.
      if (!outcome.ok && outcome.error.code === 'no_such_session') granted(outcome);
      return c.json({ ok: true });
    });
  });
  return routes;
}

/** An empty objective says as little as none. */
function isNothing(objective: StartRun['objective']): objective is undefined {
  return objective === undefined || objective === '' || (typeof objective === 'object' && objective.parts.length === 0);
}
