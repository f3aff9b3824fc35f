import type { Problem } from '@concerto/protocol';

/** Codes of our own; every other code is the server's, from its problem document. */
export type ClientErrorCode = 'unreachable' | 'timeout' | 'bad_answer' | (string & {});

/** Why a call came to nothing. With a `problem`, the server refused; without, it was not reached or not understood. */
export class ClientError extends Error {
  override readonly name = 'ClientError';
  readonly code: ClientErrorCode;
  readonly status: number | undefined;
  readonly problem: Problem | undefined;

  constructor(
    code: ClientErrorCode,
    message: string,
    facts: { status?: number; problem?: Problem; cause?: unknown } = {},
  ) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.code = code;
    this.status = facts.status;
    this.problem = facts.problem;
  }
}
