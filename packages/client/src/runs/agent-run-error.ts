export type AgentRunErrorCode =
  /** Nobody is registered for a suspend: whoever asks would wait for ever. */
  | 'no_handler'
  /** A handler threw or rejected; `cause` is its error. */
  | 'handler_failed'
  /** The stream could not be opened, or the server refused. */
  | 'connection_failed'
  /** The stream ended before the run did, and cannot be taken up again. */
  | 'ended_early';

/** Why a run could not be followed to its end. An abort is not one of these: it rejects with the signal's reason. */
export class AgentRunError extends Error {
  override readonly name = 'AgentRunError';
  readonly code: AgentRunErrorCode;

  constructor(code: AgentRunErrorCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
  }
}
