import { type EventLog, LogError } from '@concerto/log';
import { type Context, Hono } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { callLog } from './call-log.ts';
import { acceptTokenInUrl, checkCaller, checkToken } from './guard.ts';
import { CallCounts, metricsText, metricsType } from './metrics.ts';
import type { OpenConnections } from './open-connections.ts';
import { methodsOf, openApiDocument } from './openapi.ts';
import { checkRole } from './people/check-role.ts';
import { tokenRoutes } from './people/token-routes.ts';
import { ProblemError, problemResponse } from './problem.ts';
import { discardUnreadBody } from './read-body.ts';
import { aguiRoutes } from './routes/agui-routes.ts';
import { betaRoutes } from './routes/beta-routes.ts';
import { blobRoutes } from './routes/blob-routes.ts';
import { chatRoutes } from './routes/chat-routes.ts';
import { eventRoutes } from './routes/event-routes.ts';
import { graphRoutes } from './routes/graph-routes.ts';
import { insightRoutes } from './routes/insight-routes.ts';
import { keepingRoutes } from './routes/keeping-routes.ts';
import { messageRoutes } from './routes/message-routes.ts';
import { overviewRoutes } from './routes/overview-routes.ts';
import { poolRoutes } from './routes/pool-routes.ts';
import { programRoutes } from './routes/program-routes.ts';
import { requestRoutes } from './routes/request-routes.ts';
import { ruleRoutes } from './routes/rule-routes.ts';
import { runRoutes } from './routes/run-routes.ts';
import { sessionRoutes } from './routes/session-routes.ts';
import { settingsRoutes } from './routes/settings-routes.ts';
import { streamRoutes } from './routes/stream-routes.ts';
import { upkeepRoutes } from './routes/upkeep-routes.ts';
import type { OnNode, ServerContext } from './server-context.ts';
import { servePage } from './static-page.ts';
import { WhoCalls } from './who-calls.ts';
import { WrongTokens } from './wrong-tokens.ts';

/** The whole HTTP surface. Order matters: who calls is checked first, then the token, then whether its role may, then what is asked. */
export function createApp(
  context: ServerContext,
  report: (message: string, cause: unknown) => void,
  connections: OpenConnections,
): Hono<OnNode> {
  const whoCalls = new WhoCalls(context.guard, context.people);
  const doors = { whoCalls, wrongTokens: new WrongTokens(), connections };
  const known = [checkToken(doors), checkRole(otherCall)] as const;
  const app = new Hono<OnNode>();
  app.onError((error, c) => {
    const request = c.get('requestId');
    return problemResponse(problemOf(error, (message, cause) => report(`request ${request}: ${message}`, cause)));
  });
  const calls = new CallCounts();
  app.use('*', callLog(context));
  app.use('*', async (c, next) => {
    await next();
    calls.count(c.res.status);
    if (c.res.status >= 400 && c.req.method !== 'GET') await discardUnreadBody(c);
  });
  app.use('*', checkCaller(context.guard));

  openToAll(app, context);
  app.get('/metrics', ...known, async (c) =>
    c.body(await metricsText(context, calls), 200, { 'content-type': metricsType }),
  );

  app.use('/api/*', ...known);
  app.route('/api/sessions', sessionRoutes(context));
  app.route('/api/sessions', keepingRoutes(context));
  app.route('/api/sessions', settingsRoutes(context));
  app.route('/api/sessions', messageRoutes(context));
  app.route('/api/sessions', requestRoutes(context));
  app.route('/api/sessions', eventRoutes(context));
  app.route('/api/agent', runRoutes(context));
  app.route('/api/agui', aguiRoutes(context));
  app.route('/api/blobs', blobRoutes(context));
  app.route('/api/chat', chatRoutes(context));
  app.route('/api/streams', streamRoutes(context));
  app.route('/api', overviewRoutes(context));
  app.route('/api', insightRoutes(context));
  app.route('/api', graphRoutes(context));
  app.route('/api', poolRoutes(context));
  app.route('/api', ruleRoutes(context));
  app.route('/api', programRoutes(context));
  app.route('/api', tokenRoutes(context));
  app.route('/api', upkeepRoutes(context));

  app.use('/v1beta1/*', ...known);
  app.route('/v1beta1', betaRoutes(context));

  const mcp = context.mcp ?? noMcp;
  app.all('/mcp', ...known, (c) => mcp(c.req.raw, c.req.header('authorization')));

  app.get('*', acceptTokenInUrl(doors), servePage(context, whoCalls));
  app.notFound(otherCall);
  return app;
}

/** Whoever asks needs no token, so what they get is made once. */
function openToAll(app: Hono<OnNode>, { sessions, log, version, manifestSchema }: ServerContext): void {
  app.get('/healthz', (c) => c.json({ ok: true }));
  app.get('/readyz', async (c) => {
    if (sessions.isStopping) throw new ProblemError(503, 'stopping', 'the server is stopping');
    await storeAnswers(log);
    return c.json({ ok: true });
  });
  const json = { 'content-type': 'application/json' };
  const description = JSON.stringify(openApiDocument(version));
  app.get('/api/openapi.json', (c) => c.body(description, 200, json));
  const schema = JSON.stringify(manifestSchema());
  app.get('/api/schema/manifest', (c) => c.body(schema, 200, json));
}

function noMcp(): never {
  throw new ProblemError(404, 'no_such_call', 'this server does not speak the Model Context Protocol');
}

/** Nobody took it: the path is unknown, or it is known and the method is not. */
function otherCall(c: Context): Response {
  const { method, path } = c.req;
  const methods = methodsOf(path);
  const allow = methods.join(', ');
  if (methods.length === 0) throw new ProblemError(404, 'no_such_call', `there is no ${method} ${path}`);
  if (method === 'OPTIONS') return c.body(null, 204, { allow });
  throw new ProblemError(405, 'no_such_method', `${path} takes ${allow}, not ${method}`, { headers: { allow } });
}

/** Whoever probes gives up after a second or two, and wants to hear no rather than nothing. */
const readyWithinMs = 2_000;

async function storeAnswers(log: EventLog): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new LogError('unavailable', `the store gave no answer in ${readyWithinMs} ms`));
    }, readyWithinMs);
  });
  try {
    await Promise.race([log.ping(), late]);
  } finally {
    clearTimeout(timer);
  }
}

function problemOf(error: Error, report: (message: string, cause: unknown) => void): ProblemError {
  if (error instanceof ProblemError) return error;
  if (error instanceof HTTPException) return new ProblemError(error.status, 'bad_request', error.message);
  if (error instanceof LogError && error.code === 'bad-cursor') {
    return new ProblemError(400, 'bad_cursor', error.message, { cause: error });
  }
  if (error instanceof LogError) {
    report('the store failed', error);
    const status = error.code === 'full' ? 507 : 503;
    return new ProblemError(status, `store_${error.code.replaceAll('-', '_')}`, error.message, {
      cause: error,
      ...(status === 503 ? { headers: { 'retry-after': '5' } } : {}),
    });
  }
  // Ours, not the caller's: what went wrong is for the operator, not for the wire.
  report('a request failed', error);
  return new ProblemError(500, 'internal', 'something went wrong in the server; its log says what', { cause: error });
}
