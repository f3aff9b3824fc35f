import { err, type JsonObject, ok, type Result } from '@concerto/base';
import { claudeParams } from '@concerto/protocol';
import type { AgentSettings } from '../agent-connection.ts';

/** What the program is asked to switch to, a request each; never a mode that skips approvals. */
export function claudeSwitches({
  model,
  mode,
  effort,
}: AgentSettings): Result<readonly (JsonObject & { readonly subtype: string })[], string> {
  const asked = {
    ...(model === undefined ? {} : { model }),
    ...(mode === undefined ? {} : { permission_mode: mode }),
    ...(effort === undefined ? {} : { effort }),
  };
  const read = claudeParams.shape.safeParse(asked);
  if (!read.success) return err(`${read.error.issues[0]?.path.join('.')}: ${read.error.issues[0]?.message}`);
  return ok([
    ...(model === undefined ? [] : [{ subtype: 'set_model', model }]),
    ...(mode === undefined ? [] : [{ subtype: 'set_permission_mode', mode }]),
    ...(effort === undefined ? [] : [{ subtype: 'apply_flag_settings', settings: { effortLevel: effort } }]),
  ]);
}
