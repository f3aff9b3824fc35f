import type { KeptAgent } from '@concerto/agents';
import { Blobs, type EventLog, LogError } from '@concerto/log';
import type { RunnerCommand } from '@concerto/protocol';
import { type SessionState, statusOf } from '@concerto/session';
import { rememberCapabilities } from '../agent/agent-capabilities.ts';
import { preparing } from '../agent/agent-details.ts';
import { type Claimed, claimAgent, type Held, type KeepingPorts, stillWanted } from '../agent/kept-agents.ts';
import type { OwnProcessNotes } from '../agent/process-register.ts';
import { errorEvent } from '../agent/translate.ts';
import type { Answering } from '../answer/answering.ts';
import type { BudgetRouting } from '../answer/budget-routing.ts';
import type { Route } from '../answer/route-request.ts';
import type { CatalogEntry } from '../catalog.ts';
import type { Clock, MintId, Report } from '../ports.ts';
import { sessionError } from '../session/session-error.ts';
import type { SessionStore } from '../session/session-store.ts';
import type { Tenure, TenureEnd } from '../session/tenure.ts';
import type { StartWorker, Worker } from '../worker.ts';
import { CommandFollowing } from './command-following.ts';
import { DeadlineWatch, startWithin } from './deadline-watch.ts';
import { Hearing } from './hearing.ts';
import { holdBelow } from './hold-below.ts';
import { Incarnation, undelivered } from './incarnation.ts';
import { OwnerWriter } from './owner-writer.ts';
import { type TurnLimits, TurnTimeouts } from './turn-timeouts.ts';
import { WorkerJournal } from './worker-journal.ts';

/** What the owner of a session has of the world. */
export type ActorPorts = KeepingPorts & {
  readonly log: EventLog;
  readonly store: SessionStore;
  readonly clock: Clock;
  readonly mintId: MintId;
  readonly report: Report;
  /** Where only this session and what is below it is run. */
  readonly tree?: string | undefined;
};

/** What is owned: the session, what works in it, and for whom. */
export type Owned = {
  readonly tenure: Tenure;
  readonly entry: CatalogEntry;
  readonly startWorker: StartWorker;
  readonly notes: OwnProcessNotes;
  /** Asks the models that its requests are put before. */
  readonly answering: Answering;
  /** Puts what the session itself asks before whoever may answer it. */
  readonly budget: BudgetRouting;
  readonly once: boolean;
  /** Another session opened it, and hears it. */
  readonly isChild: boolean;
  /** Who answers before a person does; undefined leaves it to people. */
  readonly route: Route | undefined;
};

/**
 * Owns one session: obeys its commands, drives its worker, reports what happens. It decides nothing; every report goes
 * through the domain, and every write is fenced by the epoch under which the session was claimed.
 */
export class SessionActor {
  readonly #ports: ActorPorts;
  readonly #owned: Owned;
  readonly #tenure: Tenure;
  readonly #limits: Limits;
  /** Of a session that another one opened, and hears. */
  readonly #journal: WorkerJournal | undefined;
  readonly #timeouts: TurnTimeouts;
  readonly #writer: OwnerWriter;
  readonly #commands: CommandFollowing;
  #last: Incarnation | undefined;
  #leaving = false;
  #followed: SessionState | undefined;
  #capabilities: readonly string[] | undefined;
  readonly #deadlines: DeadlineWatch;

  constructor(ports: ActorPorts, owned: Owned) {
    this.#ports = ports;
    this.#owned = owned;
    const { tenure, once, isChild } = owned;
    this.#tenure = tenure;
    this.#limits = limitsOf(owned.entry);
    const { log, store, clock } = ports;
    this.#timeouts = new TurnTimeouts(
      clock,
      { ...this.#limits, wholeRun: once },
      (why) => void tenure.guard(this.#timedOut(why)),
    );
    this.#commands = new CommandFollowing({
      log,
      clock,
      tenure,
      obey: (command) => tenure.guard(this.#obey(command)),
      // A wish decided by another process may have set a deadline that is ours to keep.
      caughtUp: async () => {
        const state = await store.state(tenure.session);
        if (state !== undefined) this.noticed(state);
      },
    });
    this.#deadlines = new DeadlineWatch({
      clock,
      // A program that is run by itself finds its agents as it left them.
      parks: ports.tree === undefined,
      passed: (deadline) => {
        // The same state, an instant later, has passed its deadline.
        this.#followed = undefined;
        void tenure.guard(this.#writer.expire(deadline));
      },
    });
    const stands = (state: SessionState): void => this.noticed(state);
    this.#writer = new OwnerWriter({ store, clock, tenure, log, commands: this.#commands, stands });
    if (isChild) this.#journal = new WorkerJournal(this.#writer, clock);
    tenure.over.addEventListener('abort', () => this.#drop(), { once: true });
  }

  async #holdBelow(state: SessionState): Promise<void> {
    const { log, store, clock } = this.#ports;
    await this.#tenure.patiently(() => holdBelow(state, { log, store, now: () => clock.now() }));
  }

  get #live(): Incarnation | undefined {
    return this.#last?.isGone === true ? undefined : this.#last;
  }

  /** Runs until the session needs no owner, is lost to another one, or `release` or `abandon` is called. Never rejects. */
  async run(): Promise<TenureEnd> {
    const tenure = this.#tenure;
    try {
      // Whoever owned it before is fenced already: what stands here is from before our claim.
      const after = await tenure.patiently(() => this.#ports.log.head(tenure.session, 'commands'));
      await this.#writer.begin();
      const { held, ...lost } = await tenure.patiently(() => this.#heldStill());
      const { runner, epoch } = tenure;
      const goesOn = held === undefined ? lost : { kept: held.incarnation };
      const within = startWithin(this.#limits.initTimeoutMs);
      const state = await this.#writer.tell({ type: 'claimed', epoch, runner, ...within, ...goesOn });
      if (held !== undefined && state !== undefined) await this.#goOn(held, state);
      if (state !== undefined) await this.#holdBelow(state);
      await this.#commands.run(after);
    } catch (cause) {
      tenure.fail(cause);
    } finally {
      this.#deadlines.stop();
      this.#timeouts.stop();
      await tenure.guard(this.#letGo());
    }
    return tenure.how;
  }

  /**
   * Gives the session up in good order; the next owner carries on. Where it may, a worker that is at work goes on
   * without us; any other ends. Gives the name of one that goes on.
   */
  readonly release = (reason: string, keeps: boolean): Promise<string | undefined> =>
    this.#leave(reason, 'released', { keeps });

  /** The worker first: whoever comes next must not find two. Its end is ours, so it is not reported as its own. */
  async #leave(
    reason: string,
    end: TenureEnd,
    { keeps = false, rests }: { readonly keeps?: boolean; readonly rests?: Worker['rests'] } = {},
  ): Promise<string | undefined> {
    const tenure = this.#tenure;
    if (tenure.isOver || this.#leaving) return undefined;
    this.#leaving = true;
    const live = this.#live;
    const stays = keeps && live?.isKept === true && this.#followed?.turn.active === true;
    let left: string | undefined;
    if (live !== undefined) live.isDismissed = !stays;
    await tenure.guard(
      stays
        ? live.leave().then((name) => {
            left = name;
          })
        : this.#endWorker(),
    );
    await tenure.guard(
      this.#writer.tell((state) => ({
        type: 'released',
        epoch: tenure.epoch,
        reason,
        rests,
        ...(stays ? { kept: live.number } : { undelivered: undelivered(state, live) }),
      })),
    );
    tenure.end(end);
    return left;
  }

  /** The lease is gone: let the worker go and write nothing more. */
  abandon(): void {
    this.#tenure.end('lost');
  }

  /** Whoever has the session now finds its worker as it is, where a keeper holds it. */
  #drop(): void {
    const live = this.#live;
    if (live === undefined) return;
    const isLeft =
      this.#tenure.how === 'lost' && this.#ports.keeper !== undefined && this.#owned.entry.kind === 'agent';
    if (isLeft) void live.leave();
    else live.endStart();
  }

  async #obey(command: RunnerCommand): Promise<void> {
    if (this.#leaving) return; // What is still wanted is given to the next owner.
    if (command.type === 'attend') {
      await this.#writer.attend();
      return;
    }
    const tenure = this.#tenure;
    if (command.type === 'start') {
      // Our successor's: we have lost the session and did not know.
      return command.epoch === tenure.epoch ? this.#start(command.incarnation) : tenure.end('lost');
    }
    const live = this.#live;
    if (live === undefined || command.incarnation !== live.number) return;
    switch (command.type) {
      case 'deliver':
        return live.deliver(command);
      case 'answer':
        return live.answer(command);
      case 'respond':
        return live.respond(command);
      case 'withdraw':
        return live.withdraw(command);
      case 'configure':
        return live.configure(command);
      case 'interrupt':
      case 'pause':
      case 'cancel':
        return await this.#control(live, { verb: command.type, id: command.requestId });
      case 'resume':
        return await this.#control(live, { verb: 'resume', id: command.requestId, force: command.frozen });
      case 'signal-interrupt':
        return await this.#control(live, { verb: 'interrupt', id: command.requestId, force: true });
      case 'freeze':
        return await this.#control(live, { verb: 'pause', id: command.requestId, force: true });
      case 'terminate':
        return void tenure.guard(live.stop());
      case 'kill':
        return void tenure.guard(live.stop({ now: true }));
      case 'stop':
        return void tenure.guard(this.#leave(`the session is ${command.reason}`, 'done'));
    }
  }

  async #control(live: Incarnation, control: Parameters<Incarnation['control']>[0]): Promise<void> {
    if (live.control(control) === 'asked') return;
    await this.#writer.tell({ type: 'control-acked', ...live.speaker, requestId: control.id });
  }

  #start(number: number): void {
    const live = this.#begin(number);
    live.up = this.#tenure.guard(this.#bringUp(live));
  }

  #begin(number: number, held?: KeptAgent): Incarnation {
    if (this.#last !== undefined) this.#last.isGone = true;
    const parts = { tenure: this.#tenure, writer: this.#writer, timeouts: this.#timeouts, journal: this.#journal };
    this.#last = new Incarnation({ ...parts, number, held });
    return this.#last;
  }

  async #heldStill(): Promise<Claimed> {
    const state = await this.#ports.store.state(this.#tenure.session);
    return state === undefined ? { lost: undefined } : await claimAgent(this.#ports, this.#tenure, state);
  }

  /** One that its keeper held: it says all again that it said, and is then given what it has not got. */
  async #goOn(held: Held, state: SessionState): Promise<void> {
    const { incarnation, agent } = held;
    const live = this.#begin(incarnation, agent);
    live.turn = state.turn.number;
    if (state.turn.active) this.#turnGoesOn(state);
    const wanted = stillWanted(state, held);
    live.goesOn(wanted);
    if (wanted.handedOver !== undefined) await live.delivered(wanted.handedOver);
    for (const requestId of wanted.answered) live.answered(requestId);
    const isReady = state.agentProcess.kind === 'ready';
    live.up = this.#tenure.guard(this.#bringUp(live, { isReady, held }));
    const given = live.takenUp.then(async () => {
      for (const command of wanted.commands) await this.#tenure.guard(this.#obey(command));
    });
    // One that is still starting is waited for like any other.
    if (isReady) await Promise.race([given, live.up]);
  }

  /** A turn of an owner before us: how it stands was told before there was one here, and nothing may come to tell it again. */
  #turnGoesOn(state: SessionState): void {
    this.#timeouts.turnStarted();
    this.#timeouts.stands(statusOf(state));
  }

  async #bringUp(live: Incarnation, before: { readonly isReady?: boolean; readonly held?: Held } = {}): Promise<void> {
    const worker = await this.#startWorker(live);
    if (worker === undefined) return;
    const writer = this.#writer;
    if (before.isReady !== true) {
      const announced = this.#journal === undefined ? undefined : worker.announced;
      const { version, sandbox } = worker;
      const state = await writer.tell({
        type: 'agent-ready',
        ...live.speaker,
        capabilities: [...(announced ?? worker.capabilities)],
        ...(version === undefined ? {} : { version }),
        ...(sandbox === undefined ? {} : { sandbox }),
      });
      live.announced(state?.control);
      // A program or an assistant goes on with the turn that its last owner left.
      if (state?.turn.active === true) live.turn = state.turn.number;
      if (state?.turn.active === true && this.#owned.entry.kind === 'assistant') this.#turnGoesOn(state);
    }
    writer.hears(live.number);
    const { mintId, clock, log } = this.#ports;
    const { entry, route } = this.#owned;
    const parts = { writer, timeouts: this.#timeouts, journal: this.#journal, mintId, clock, entry, route };
    const tenure = this.#tenure;
    const files = { session: tenure.session, log, blobs: new Blobs(log, () => clock.now()), tenure };
    const prepare = preparing(worker, entry.name, { ...this.#ports, session: tenure.session });
    const { heard, isToldSilent = false } = before.held ?? {};
    const hearing = new Hearing({ ...parts, incarnation: live, heard, isToldSilent, files, prepare });
    await hearing.listen(worker, (rests) => this.#leave('nothing is to be done until it is called', 'done', { rests }));
  }

  /** Undefined when there is none, which is told. */
  async #startWorker(live: Incarnation): Promise<Worker | undefined> {
    try {
      const { entry, notes, startWorker } = this.#owned;
      const { number: incarnation, held, ended, left } = live;
      const hands = { tenure: this.#tenure, writer: this.#writer, journal: this.#journal, notes };
      const worker = await startWorker({ ...hands, entry, incarnation, held, ended, left });
      live.isUp(worker);
      if (live.ended.aborted) await worker.stop();
      live.ended.throwIfAborted();
      return worker;
    } catch (cause) {
      // Our own store failed, not the worker: the next owner starts it again.
      if (cause instanceof LogError) throw cause;
      if (live.isGone || this.#leaving || live.left.aborted) return undefined;
      live.isGone = true;
      await this.#writer.tell({ type: 'start-failed', ...live.speaker, error: sessionError(cause) });
      return undefined;
    }
  }

  async #timedOut(why: string): Promise<void> {
    const live = this.#live;
    if (live === undefined) return;
    const error = { code: 'timeout', message: why };
    const observed = [errorEvent(live.callId, why)];
    await this.#writer.tell({ type: 'turn-ended', ...live.speaker, outcome: 'error', observed, error });
    await live.stop();
  }

  /** After every decision that we make or see, a user's too: arms the next deadline, and leaves when nobody is needed. */
  noticed(state: SessionState): void {
    if (state === this.#followed || this.#tenure.isOver) return;
    this.#followed = state;
    this.#owned.answering.stands(state);
    this.#owned.budget.stands(state);
    if (this.#capabilities !== undefined && this.#capabilities !== state.capabilities) {
      rememberCapabilities(this.#ports, this.#owned.entry.name, state.capabilities);
    }
    this.#capabilities = state.capabilities;
    if (state.agentProcess.kind === 'none') {
      if (state.end !== undefined) return this.#tenure.end('done');
      if (state.slot.kind === 'none' && state.owner !== undefined) {
        this.#deadlines.stop();
        return void this.#tenure.guard(this.#leave('the session is parked', 'done'));
      }
    }
    this.#timeouts.stands(statusOf(state));
    // A deadline of an owner before us may have passed while nobody could keep it: it is not ours before our claim.
    if (state.owner?.epoch !== this.#tenure.epoch) return;
    this.#deadlines.stands(state);
  }

  async #endWorker(): Promise<void> {
    const live = this.#live;
    if (live === undefined) return;
    await live.stop({ now: this.#followed?.end?.reason === 'forced' });
    live.worker?.kept?.forget();
  }

  /** At the end: what was left to another owner is not ours to end. */
  async #letGo(): Promise<void> {
    if (this.#live?.left.aborted === true) await this.#live.up;
    else await this.#endWorker();
  }
}

type Limits = Omit<TurnLimits, 'wholeRun'> & { readonly initTimeoutMs?: number };

function limitsOf(entry: CatalogEntry): Limits {
  if (entry.kind === 'agent') return entry;
  return entry.kind === 'assistant' && entry.timeoutMs !== undefined ? { timeoutMs: entry.timeoutMs } : {};
}
