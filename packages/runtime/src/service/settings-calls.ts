import { err, ok, type Result } from '@concerto/base';
import type {
  ChangeSettings,
  ChangeWorktree,
  SessionAgent,
  SessionSettings,
  SettingsAccepted,
  StartSession,
  Worktree,
} from '@concerto/protocol';
import type { SessionState, Wish } from '@concerto/session';
import { agentDetails } from '../agent/agent-details.ts';
import { folderOf } from '../answer/request-risk.ts';
import type { CatalogEntry } from '../catalog.ts';
import { refusal, type ServiceRefusal } from '../session/service-refusal.ts';
import { planChange, planSettings, type SettingsPorts } from '../start/session-settings.ts';
import { changeWorktree, makeWorktree, worktreeWish } from '../start/worktrees.ts';
import type { Caller } from './caller.ts';
import { isSessionId, keyedIdLength } from './session-wishes.ts';
import type { SessionsOptions } from './sessions.ts';

type Execute = (id: string, caller: Caller, wish: Wish) => Promise<Result<SessionState, ServiceRefusal>>;

/** What users can ask about what a session has of its own. */
export class SettingsCalls {
  readonly #options: SessionsOptions;
  readonly #execute: Execute;

  constructor(options: SessionsOptions, execute: Execute) {
    this.#options = options;
    this.#execute = execute;
  }

  /** What the session is to have of its own, made where it has to be; when it is refused, its slot is free again. */
  async forStart(
    id: string,
    request: Pick<StartSession, 'workingDir' | 'params'>,
    entry: CatalogEntry,
  ): Promise<Result<SessionSettings | undefined, ServiceRefusal>> {
    const planned = await planSettings(request, entry, this.#ports());
    const settings = planned.ok ? await this.#checkOut(id, planned.value, entry) : planned;
    if (!settings.ok) await this.#options.pool.release(id, 'the start was refused');
    return settings;
  }

  /** A checkout of its own, where the session asks for one or its entry gives each one. */
  async #checkOut(
    id: string,
    settings: SessionSettings | undefined,
    entry: CatalogEntry,
  ): Promise<Result<SessionSettings | undefined, ServiceRefusal>> {
    if (entry.kind !== 'agent') return ok(settings);
    const wish = worktreeWish(settings?.params?.worktree ?? entry.worktree, id);
    if (wish === undefined) return ok(settings);
    const made = await makeWorktree(settings?.workingDir ?? folderOf(entry.spec) ?? '.', wish);
    return made.ok ? ok({ ...settings, ...made.value }) : made;
  }

  /** Merges the session's checkout, or takes it away. */
  async changeWorktree(id: string, change: ChangeWorktree, caller: Caller): Promise<Result<Worktree, ServiceRefusal>> {
    const state = await this.#state(id);
    if (state === undefined) return err(refusal('no_such_session', `there is no session ${JSON.stringify(id)}`));
    const worktree = state.settings?.worktree;
    if (worktree === undefined) return err(refusal('no_worktree', 'this session has no checkout of its own'));
    const isAtWork = state.turn.active || (change.action === 'remove' && state.agentProcess.kind !== 'none');
    if (isAtWork) {
      const how = change.action === 'merge' ? 'wait for its turn to end, or interrupt it' : 'cancel the session first';
      return err(refusal('session_busy', `its agent works there; ${how}`));
    }
    const changed = await changeWorktree(worktree, change);
    if (!changed.ok) return changed;
    const noted = await this.#execute(id, caller, { type: 'change-worktree', worktree: changed.value });
    return noted.ok ? changed : noted;
  }

  /** Switches the model, the mode, the effort of a session, as its entry allows and its agent can. */
  async change(
    id: string,
    { params }: ChangeSettings,
    caller: Caller,
  ): Promise<Result<SettingsAccepted, ServiceRefusal>> {
    const state = await this.#state(id);
    if (state === undefined) return err(refusal('no_such_session', `there is no session ${JSON.stringify(id)}`));
    const planned = await planChange(params, this.#entryOf(state), this.#ports());
    if (!planned.ok) return planned;
    const requestId = caller.key === undefined ? this.#options.mintId('c') : `c_${caller.key.slice(0, keyedIdLength)}`;
    const executed = await this.#execute(id, caller, {
      type: 'change-settings',
      requestId,
      params: planned.value,
    });
    if (!executed.ok) return executed;
    return ok({ requestId, outcome: executed.value.settingsAsked?.requestId === requestId ? 'asked' : 'kept' });
  }

  /** What its agent offers, as it last said, and what of it may be set. */
  async agentOf(id: string): Promise<SessionAgent | undefined> {
    const state = await this.#state(id);
    return state === undefined ? undefined : await agentDetails(this.#options.log, state, this.#entryOf(state));
  }

  async #state(id: string): Promise<SessionState | undefined> {
    return isSessionId(id) ? await this.#options.store.state(id) : undefined;
  }

  #entryOf({ kind, agent }: SessionState): CatalogEntry | undefined {
    return this.#options.catalog.find(kind, agent);
  }

  #ports(): SettingsPorts {
    const { folders = [], environment = process.env } = this.#options;
    return { folders, environment };
  }
}
