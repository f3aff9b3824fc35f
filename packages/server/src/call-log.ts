import { randomUUID } from 'node:crypto';
import type { MiddlewareHandler } from 'hono';
import { routeOf } from './openapi.ts';
import type { OnNode, ServerContext } from './server-context.ts';

/** A call that was answered, as the operator's log has it: never a query, a header or a body. */
export type AnsweredCall = {
  readonly request: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly ms: number;
  readonly session?: string;
  /** The id of the trace that it belongs to. */
  readonly trace?: string;
};

const requestIdHeader = 'x-request-id';
/** What a proxy before us says; anything else could be made to look like another line. */
const requestId = /^[\w.:-]{1,64}$/;
const sessionPath = /^\/api\/sessions\/([\w.~-]{1,128})/;

type Watched = Pick<ServerContext, 'onAnswered' | 'tracing'>;

/** Gives each call an id, which its answer carries, and tells of it when it is answered; of a stream at its end. */
export function callLog({ onAnswered, tracing }: Watched): MiddlewareHandler<OnNode> {
  return async (c, next) => {
    const began = performance.now();
    const given = c.req.header(requestIdHeader);
    const request = given !== undefined && requestId.test(given) ? given : randomUUID();
    c.set('requestId', request);
    const { method, path } = c.req;
    const traced = tracing?.call(method, c.req.header('traceparent'));
    c.set('trace', traced);
    // On Node's own answer: to touch the headers of ours makes a whole Response of what Node could write at once. And
    // before it: a stream writes its head itself.
    c.env.outgoing.setHeader(requestIdHeader, request);
    await next();
    const session = sessionPath.exec(path)?.[1];
    const { status } = c.res;
    onAnswered?.({
      request,
      method,
      path,
      status,
      ms: Math.round(performance.now() - began),
      ...(session === undefined ? {} : { session }),
      ...(traced === undefined ? {} : { trace: traced.traceId }),
    });
    traced?.end({ method, route: routeOf(method, path), status, session });
  };
}
