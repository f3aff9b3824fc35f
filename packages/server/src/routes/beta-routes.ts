import { BetaListener, betaAnswer, betaStatus, ResumeBeta, StartBeta, segmentsContent } from '@concerto/wires';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { type Context, Hono } from 'hono';
import { checkCursor } from '../cursor.ts';
import { streamHeaders } from '../event-stream.ts';
import { betaFoldTo, betaWire, tellBeta } from '../folded-wires.ts';
import { idempotently } from '../idempotency.ts';
import { actorOf } from '../people/check-role.ts';
import { ProblemError } from '../problem.ts';
import { parseBody, readJson } from '../read-body.ts';
import type { OnNode, ServerContext } from '../server-context.ts';
import { SharedFolds } from '../shared-fold.ts';
import { Target } from '../wire-session.ts';
import { writeStream } from '../wire-stream.ts';
import { found, granted } from './session-routes.ts';

/** What one session is asked to do stands behind a colon. */
const verbs = { resume, cancel } as const;

/** The later wire of seed 001's project: a run is a session, its stream ends wherever somebody is asked. */
export function betaRoutes(context: ServerContext): Hono<OnNode> {
  const { sessions } = context;
  const routes = new Hono<OnNode>();
  const folds = new SharedFolds(betaWire);

  routes.get('/sessions/:id', async (c) => {
    const session = c.req.param('id');
    found((await sessions.exists(session)) ? true : undefined, c);
    const after = readAfter(c);
    // A stream has no end while the session lives, and HEAD has no body: it must not wait for one.
    if (c.req.method === 'HEAD') return new Response(null, { headers: streamHeaders });
    await context.tails.with(session, async (tail) => {
      if (after >= 0) checkCursor(after, (await betaFoldTo(tail, await tail.head())).count - 1);
      const listener = new BetaListener(after);
      const stream = { headers: streamHeaders, reader: c.get('person') };
      await writeStream(context.feeds, c.env.outgoing, stream, (left) => tellBeta(folds.of(tail), listener, left));
    });
    return RESPONSE_ALREADY_SENT;
  });

  routes.get('/sessions/:id/status', async (c) => {
    const { id, status } = found(await sessions.get(c.req.param('id')), c);
    const { count } = await context.tails.with(id, async (tail) => await betaFoldTo(tail, await tail.head()));
    return c.json({ sessionId: id, status: betaStatus(status), eventCount: count });
  });

  // One route: with `new` beside `:target`, hono could make no single expression of all routes.
  routes.post('/sessions/:target', async (c) => {
    const target = c.req.param('target');
    if (target === 'new') return await start(context, c);
    const [, id, verb] = /^(.*):(resume|cancel)$/.exec(target) ?? [];
    if (id === undefined || (verb !== 'resume' && verb !== 'cancel')) return await c.notFound();
    return await verbs[verb](context, c, id);
  });
  return routes;
}

async function start({ sessions, log }: ServerContext, c: Context<OnNode>): Promise<Response> {
  const body = await readJson(c);
  const prompt = segmentsContent(parseBody(body, StartBeta));
  const target = parseBody(c.req.query(), Target);
  return await idempotently(c, log, body, async ({ key }) => {
    const session = granted(await sessions.startRun({ ...target, prompt }, { actor: actorOf(c), key }));
    return c.json({ sessionId: session.id });
  });
}

async function resume({ sessions, log }: ServerContext, c: Context<OnNode>, id: string): Promise<Response> {
  const body = await readJson(c);
  const answer = parseBody(body, ResumeBeta);
  return await idempotently(c, log, body, async ({ key }) => {
    const { requests } = found(await sessions.requests(id), c, id);
    const request = answer.interactionId ?? requests[0]?.requestId;
    if (request === undefined) throw new ProblemError(409, 'not_suspended', 'the session waits for no answer');
    const response = betaAnswer(answer);
    if (response === undefined) {
      throw new ProblemError(422, 'invalid_body', 'an answer is one of `input`, `selected`, `consent`, `graph`, …');
    }
    const given = { response, equalIsRepeat: true };
    granted(await sessions.answer({ session: id, request }, given, { actor: actorOf(c), key }));
    return c.json({ ok: true });
  });
}

async function cancel({ sessions, log }: ServerContext, c: Context<OnNode>, id: string): Promise<Response> {
  return await idempotently(c, log, await readJson(c), async ({ key }) => {
    granted(await sessions.control(id, 'cancel', { actor: actorOf(c), key }));
    return c.json({ sessionId: id, status: 'cancelled' });
  });
}

/** The number of the last event seen; before the first it is -1. An `EventSource` says it in its header. */
function readAfter(c: Context): number {
  const given = c.req.query('after') ?? c.req.header('last-event-id') ?? '-1';
  if (/^(-1|\d{1,15})$/.test(given)) return Number(given);
  throw new ProblemError(400, 'bad_cursor', '`after` is the number of an event, or -1');
}
