import type { ServiceRefusal } from '@concerto/runtime';
import { ProblemError } from './problem.ts';

/** Refusals are conflicts with the state of things unless they stand here. */
const statuses: Readonly<Record<string, number>> = {
  no_such_session: 404,
  no_such_message: 404,
  no_such_request: 404,
  no_such_template: 404,
  no_such_agent: 422,
  no_such_program: 422,
  no_such_assistant: 422,
  assistant_not_ready: 422,
  invalid_content: 422,
  no_such_blob: 422,
  part_not_taken: 422,
  invalid_tools: 422,
  invalid_start: 422,
  invalid_template: 422,
  invalid_rules: 422,
  graph_too_large: 413,
  invalid_policy: 422,
  no_supervisor: 422,
  broken_program: 422,
  invalid_params: 422,
  invalid_folder: 422,
  not_live: 422,
  not_per_session: 403,
  folder_not_allowed: 403,
  cannot_remember: 422,
  cannot_fork: 422,
  invalid_answer: 422,
  key_reused: 422,
  stopping: 503,
};

export function problemOfRefusal(refusal: ServiceRefusal): ProblemError {
  const { code, message, details } = refusal;
  // A problem's own `status` is the HTTP one; the session's has a name of its own beside it.
  const { status, ...rest } = details;
  const members = status === undefined ? rest : { ...rest, sessionStatus: status };
  return new ProblemError(statuses[code] ?? 409, code, message, {
    members,
    ...(code === 'stopping' ? { headers: { 'retry-after': '2' } } : {}),
  });
}
