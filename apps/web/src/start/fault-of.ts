import { ClientError } from '@concerto/client';
import { failureOf } from '../fetching/failure.ts';
import type { Fault } from './start-request.ts';

/** What drivers call otherwise than the form does. */
const names: Readonly<Record<string, string>> = {
  workingDir: 'working_dir',
  work_dir: 'working_dir',
  permission_mode: 'mode',
  approval_policy: 'mode',
  reasoning_effort: 'effort',
};

const fieldsOfCodes: Readonly<Record<string, string>> = {
  worktree_in_use: 'worktree',
  worktree_refused: 'worktree',
  no_such_program: 'supervisor',
  no_supervisor: 'supervisor',
  broken_program: 'supervisor',
  part_not_taken: 'prompt',
  no_such_blob: 'prompt',
  invalid_content: 'prompt',
  assistant_not_ready: 'agent',
  no_such_agent: 'agent',
  no_such_assistant: 'agent',
};

/** A refused start, at the field that it is about. The server names the place first: `workingDir: …`, `params.model: …`. */
export function faultOf(cause: unknown): Fault {
  const { code, text } = failureOf(cause);
  const setting: unknown = cause instanceof ClientError ? cause.problem?.setting : undefined;
  if (typeof setting === 'string') return { field: setting, text };
  const message = cause instanceof Error ? cause.message : '';
  const [, place, param] =
    /^`?(params\.(\w+)|workingDir|prompt|title|supervisor|budget(?:\.\w+)?)\b/.exec(message) ?? [];
  const named = param ?? place;
  return { field: named === undefined ? fieldsOfCodes[code] : (names[named] ?? named), text };
}
