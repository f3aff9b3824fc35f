import { err, type JsonObject, ok } from '@concerto/base';
import type { PublicEvent, SessionRecord, Worktree } from '@concerto/protocol';
import { command, type Draft, record } from './draft.ts';
import type { Refusal, Report } from './session-command.ts';
import type { SessionState } from './session-state.ts';
import { statusOf } from './status.ts';

type Verdict = { readonly ok: true; readonly value: undefined } | { readonly ok: false; readonly error: Refusal };

/** An agent that runs is asked; one that does not starts with it. */
export function changeSettings(draft: Draft, requestId: string, params: JsonObject): Verdict {
  const { end, agentProcess, settingsAsked, settledSettings } = draft.state;
  if (settingsAsked?.requestId === requestId || settledSettings === requestId) return ok(undefined);
  if (end !== undefined) return err({ code: 'session_closed', message: `the session is ${statusOf(draft.state)}` });
  if (settingsAsked !== undefined) {
    return err({ code: 'settings_pending', message: 'the agent has not answered yet to what was asked of it before' });
  }
  if (agentProcess.kind === 'none') record(draft, { type: 'settings-changed', requestId, params });
  else record(draft, { type: 'settings-asked', requestId, params });
  askSettings(draft);
  return ok(undefined);
}

/** As soon as it is there. */
export function askSettings(draft: Draft): void {
  const { agentProcess, settingsAsked } = draft.state;
  if (settingsAsked === undefined || agentProcess.kind !== 'ready') return;
  const { requestId, params: settings } = settingsAsked;
  command(draft, { type: 'configure', incarnation: agentProcess.incarnation, requestId, settings });
}

export function settingsTold(draft: Draft, { requestId, error }: Extract<Report, { type: 'settings-told' }>): boolean {
  const { settingsAsked } = draft.state;
  if (settingsAsked?.requestId !== requestId) return false;
  const { params } = settingsAsked;
  if (error === undefined) record(draft, { type: 'settings-changed', requestId, params });
  else record(draft, { type: 'settings-refused', requestId, params, reason: error });
  return true;
}

export function changeWorktree(draft: Draft, worktree: Worktree): Verdict {
  record(draft, { type: 'worktree-changed', worktree });
  return ok(undefined);
}

export function settingsEvents(
  { before, after }: { readonly before: SessionState | undefined; readonly after: SessionState },
  records: readonly SessionRecord[],
): PublicEvent[] {
  const asked = before?.settingsAsked;
  const events: PublicEvent[] = [];
  for (const record of records) {
    const event = settingsEvent(asked, record);
    if (event !== undefined) events.push(event);
  }
  if (asked === undefined || after.settingsAsked !== undefined || events.length > 0) return events;
  const { requestId, params, by } = asked;
  return [{ type: 'settings', requestId, params, outcome: 'next_start', by }];
}

function settingsEvent(asked: SessionState['settingsAsked'], record: SessionRecord): PublicEvent | undefined {
  switch (record.type) {
    case 'worktree-changed':
      return { type: 'worktree', worktree: record.worktree, by: record.actor };
    case 'settings-changed': {
      const { requestId, params, actor } = record;
      const outcome = asked === undefined ? 'next_start' : 'changed';
      return { type: 'settings', requestId, params, outcome, by: asked?.by ?? actor };
    }
    case 'settings-refused': {
      const { requestId, params, actor, reason } = record;
      return { type: 'settings', requestId, params, outcome: 'refused', by: asked?.by ?? actor, reason };
    }
    default:
      return undefined;
  }
}
