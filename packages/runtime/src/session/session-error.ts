import { AgentError } from '@concerto/agents';
import type { SessionError } from '@concerto/protocol';

/** What a session says of a failure; `stderr` is the end of what its process wrote, where more is known than the cause says. */
export function sessionError(cause: unknown, stderr?: string): SessionError {
  const tail = stderr ?? (cause instanceof AgentError ? cause.stderr : undefined);
  return {
    code: cause instanceof AgentError ? cause.code : 'internal',
    message: cause instanceof Error ? cause.message : String(cause),
    ...(tail === undefined || tail === '' ? {} : { stderr: tail }),
  };
}
