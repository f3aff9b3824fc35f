export type AgentErrorCode =
  /** The command is not there, may not be run, or the system refused to start it. */
  | 'spawn-failed'
  /** A configured variable refers to one that is not set here. */
  | 'missing-variable'
  | 'init-timeout'
  | 'init-refused'
  /** The process has ended; what was asked of it cannot happen. */
  | 'exited'
  /** The agent broke the wire in a way that may have lost part of the turn. */
  | 'protocol'
  | 'line-too-long'
  | 'invalid-utf8'
  /** The agent does not read its stdin. */
  | 'stdin-stalled'
  /** Asked for something the agent has not announced. */
  | 'not-announced';

/** Everything that can go wrong with an agent's process, in words for the person who can act on it. */
export class AgentError extends Error {
  override readonly name = 'AgentError';
  readonly code: AgentErrorCode;
  /** What is wrong, without what to do about it; the message says both. */
  readonly what: string;
  readonly advice: string | undefined;
  /** What the agent last wrote on stderr, when it had a process. */
  readonly stderr: string | undefined;

  constructor(
    code: AgentErrorCode,
    what: string,
    options: { cause?: unknown; stderr?: string | undefined; advice?: string | undefined } = {},
  ) {
    const { cause, stderr, advice } = options;
    super(advice === undefined ? what : `${what}; ${advice}`, cause === undefined ? undefined : { cause });
    this.code = code;
    this.what = what;
    this.advice = advice;
    this.stderr = stderr;
  }
}
