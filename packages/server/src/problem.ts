import type { JsonObject } from '@concerto/base';

/** An answer to a request that cannot be served, in the form of RFC 9457 with our stable `code`. */
export class ProblemError extends Error {
  readonly status: number;
  readonly code: string;
  readonly members: JsonObject;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    code: string,
    detail: string,
    extra: {
      readonly members?: JsonObject;
      readonly headers?: Readonly<Record<string, string>>;
      readonly cause?: unknown;
    } = {},
  ) {
    super(detail, extra.cause === undefined ? undefined : { cause: extra.cause });
    this.name = 'ProblemError';
    this.status = status;
    this.code = code;
    this.members = extra.members ?? {};
    this.headers = extra.headers ?? {};
  }
}

export function problemResponse(problem: ProblemError): Response {
  const body = {
    // First: a member may have the name of one of ours, and ours counts.
    ...problem.members,
    type: `urn:concerto:problem:${problem.code}`,
    title: titles[problem.status] ?? 'Error',
    status: problem.status,
    code: problem.code,
    detail: problem.message,
  };
  return new Response(JSON.stringify(body), {
    status: problem.status,
    headers: { 'content-type': 'application/problem+json', ...problem.headers },
  });
}

const titles: Readonly<Record<number, string>> = {
  400: 'Bad request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not found',
  405: 'Method not allowed',
  409: 'Conflict',
  413: 'Content too large',
  415: 'Unsupported media type',
  421: 'Misdirected request',
  422: 'Unprocessable content',
  429: 'Too many requests',
  500: 'Internal error',
  503: 'Unavailable',
  507: 'Insufficient storage',
};
