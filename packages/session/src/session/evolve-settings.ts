import type { JsonObject } from '@concerto/base';
import type { SessionRecord } from '@concerto/protocol';
import { changed } from './change-state.ts';
import type { SessionState } from './session-state.ts';

type SettingsRecord = Extract<SessionRecord, { type: `settings-${string}` | 'worktree-changed' }>;

export function evolveSettings(state: SessionState, record: SettingsRecord): SessionState {
  switch (record.type) {
    case 'settings-asked': {
      const { requestId, params, actor: by } = record;
      return changed(state, { settingsAsked: { requestId, params, by } });
    }
    case 'settings-changed':
      return changed(withParams(state, record.params), { settledSettings: record.requestId });
    case 'settings-refused':
      return changed(state, { settingsAsked: undefined, settledSettings: record.requestId });
    case 'worktree-changed':
      return changed(state, { settings: { ...state.settings, worktree: record.worktree } });
  }
}

/** What it was asked and did not answer before it went, its next process starts with. */
export function settingsAfterLoss(state: SessionState): SessionState {
  return state.settingsAsked === undefined ? state : withParams(state, state.settingsAsked.params);
}

function withParams(state: SessionState, params: JsonObject): SessionState {
  const settings = { ...state.settings, params: { ...state.settings?.params, ...params } };
  return changed(state, { settings, settingsAsked: undefined });
}
