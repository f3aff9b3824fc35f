import { createHash } from 'node:crypto';
import type { EventLog } from '@concerto/log';
import { openRequests, type SessionCommand, type SessionState, turnCallId, type Wish } from '@concerto/session';
import type { Catalog } from '../catalog.ts';
import type { Clock, Report } from '../ports.ts';
import type { SessionStore } from '../session/session-store.ts';
import type { Tenure } from '../session/tenure.ts';

export type SupervisionOptions = {
  readonly log: EventLog;
  readonly store: SessionStore;
  readonly clock: Clock;
  readonly catalog: Catalog;
  readonly report: Report;
  readonly tenure: Tenure;
};

/** A run of the supervisor: another for each time that one was set. */
type Run = { readonly id: string; readonly name: string };

/**
 * Keeps the supervisor of a session: opens its session, ends the one that was replaced, and passes on what is asked of one that is
 * over. Like whoever asks models it follows the state, so that the next owner goes on with the same run.
 */
export class Supervision {
  readonly #options: SupervisionOptions;
  #run: Run | undefined;
  #isTold = false;
  #stopWatching: () => void = () => {};
  #last: Promise<void> = Promise.resolve();

  constructor(options: SupervisionOptions) {
    this.#options = options;
    options.tenure.over.addEventListener('abort', () => this.#stopWatching(), { once: true });
  }

  stands(state: SessionState): void {
    const wanted = runOf(state);
    const isAsked = openRequests(state).some(({ routedTo }) => routedTo?.startsWith('supervisor:') === true);
    if (wanted?.id !== this.#run?.id) {
      this.#run = wanted;
      this.#isTold = false;
      this.#stopWatching();
      this.#inOrder(() => this.#change(state, wanted));
    } else if (isAsked) this.#inOrder(() => this.#check());
  }

  #inOrder(work: () => Promise<void>): void {
    this.#last = this.#last
      .then(async () => (this.#options.tenure.isOver ? undefined : await work()))
      .catch((cause: unknown) => {
        if (this.#options.tenure.isOver) return;
        this.#options.report(
          `session ${this.#options.tenure.session}: its supervisor could not be looked after`,
          cause,
        );
      });
  }

  async #change(state: SessionState, wanted: Run | undefined): Promise<void> {
    const { log, store } = this.#options;
    for (const child of state.children) {
      if (child === wanted?.id || !(await this.#isOpen(child))) continue;
      await this.#write(child, { type: 'finish' });
    }
    if (wanted === undefined) return;
    // Another may have been wanted, or the session lost, while we looked at those before it.
    this.#stopWatching();
    this.#stopWatching = log.onGrowth(() => this.#inOrder(() => this.#check()), wanted.id);
    if (this.#options.tenure.isOver) return this.#stopWatching();
    if ((await store.state(wanted.id)) === undefined && this.#programOf(wanted)) await this.#open(state, wanted);
    await this.#check();
  }

  /** A supervisor of this session that is not over. */
  async #isOpen(child: string): Promise<boolean> {
    const state = await this.#options.store.state(child);
    return state?.supervises === this.#options.tenure.session && state.end === undefined;
  }

  #programOf({ name }: Run): boolean {
    return this.#options.catalog.find('program', name) !== undefined;
  }

  async #open({ id: parent, root = parent }: SessionState, { id, name }: Run): Promise<void> {
    // On record first: whoever looks for it must find it.
    await this.#opened(id);
    await this.#write(id, {
      type: 'start',
      sessionId: id,
      kind: 'program',
      agent: name,
      title: `${name} supervises`,
      once: true,
      prompt: { messageId: `m_${id}`, content: parent },
      parent,
      root,
      supervises: parent,
      // A program holds no place of the pool.
      slot: 'held',
    });
  }

  /** Whoever cannot be asked any more is passed by, with the reason. */
  async #check(): Promise<void> {
    const run = this.#run;
    const { store, tenure } = this.#options;
    const state = await store.state(tenure.session);
    if (run === undefined || state === undefined || state.end !== undefined) return;
    const why = await this.#gone(run);
    if (why === undefined) return;
    const by = `supervisor:${run.name}`;
    const reason = `${by} ${why.text}`;
    if (why.isFailure) await this.#tell(state, reason);
    for (const { requestId, routedTo } of openRequests(state)) {
      if (routedTo === by) await this.#write(tenure.session, { type: 'pass-request', requestId, by, reason }, by);
    }
  }

  async #gone(run: Run): Promise<{ readonly text: string; readonly isFailure: boolean } | undefined> {
    const state = await this.#options.store.state(run.id);
    if (state === undefined) {
      return this.#programOf(run)
        ? undefined
        : { text: `cannot be asked: there is no [programs.${run.name}]`, isFailure: true };
    }
    if (state.end === undefined) return undefined;
    const { status, reason } = state.end;
    if (status === 'completed') return { text: 'has ended', isFailure: false };
    return { text: `${status}: ${state.error?.message ?? reason ?? 'it is over'}`, isFailure: true };
  }

  /** Once, where everybody looks: from now on nobody answers in its place. */
  async #tell({ turn }: SessionState, message: string): Promise<void> {
    if (this.#isTold) return;
    this.#isTold = true;
    const { store, clock, tenure, report } = this.#options;
    report(`session ${tenure.session}: ${message}`);
    const event = { type: 'subagentAddJson', callId: turnCallId(turn.number), title: 'log' } as const;
    const events = [{ ...event, data: { level: 'error', message } }];
    const at = new Date(clock.now()).toISOString();
    await store.show(tenure.session, { events, journal: [] }, { at, fence: tenure.fence });
  }

  async #opened(child: string): Promise<void> {
    const { store, tenure } = this.#options;
    const told = { type: 'child-opened', epoch: tenure.epoch, child } as const;
    const command: SessionCommand = { ...this.#asked(`runner:${tenure.runner}`), ...told };
    await this.#options.tenure.patiently(() => store.execute(tenure.session, command, { fence: tenure.fence }));
  }

  async #write(id: string, wish: Wish, actor = `runner:${this.#options.tenure.runner}`): Promise<void> {
    const { store } = this.#options;
    await this.#options.tenure.patiently(() => store.execute(id, { ...this.#asked(actor), ...wish }));
  }

  #asked(actor: string): { readonly at: number; readonly actor: string } {
    return { at: this.#options.clock.now(), actor };
  }
}

/** Named by what makes it: after a crash it is the same. */
function runOf({ id, supervisor, supervisions, end }: SessionState): Run | undefined {
  if (supervisor === undefined || end !== undefined) return undefined;
  const digest = createHash('sha256').update(JSON.stringify([id, supervisor, supervisions]));
  return { id: `s_${digest.digest('base64url').slice(0, 20)}`, name: supervisor };
}
