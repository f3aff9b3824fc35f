import type { SessionKind } from '@concerto/protocol';
import { restsUntil, type SessionState, type Wish, waitsForChildren } from '@concerto/session';
import { type AgentWorkerPorts, agentStarter } from '../agent/agent-worker.ts';
import { readKeptName } from '../agent/kept-agents.ts';
import { OwnProcessNotes, type ProcessNote, type ProcessRegister } from '../agent/process-register.ts';
import { Answering } from '../answer/answering.ts';
import { BudgetRouting } from '../answer/budget-routing.ts';
import { routeFor } from '../answer/route-request.ts';
import type { RuleBook } from '../answer/rule-book.ts';
import { assistantStarter } from '../assistant/assistant-start.ts';
import type { Catalog, CatalogEntry } from '../catalog.ts';
import { ProgramCode } from '../conducting/program-code.ts';
import { programStarter } from '../conducting/program-worker.ts';
import type { Machines } from '../program/machine/machine.ts';
import { Tenure, type TenureEnd } from '../session/tenure.ts';
import { readUnfinished } from '../session/unfinished.ts';
import { within } from '../within.ts';
import type { StartWorkers } from '../worker.ts';
import { cancelBelow } from './cancel-below.ts';
import type { PoolKeeper } from './pool-keeper.ts';
import { RestingPrograms } from './resting-programs.ts';
import { type ActorPorts, SessionActor } from './session-actor.ts';

/** With the sweep that finds it expired, less than the ten seconds in which a dead runner's sessions have moved. */
const leaseTtlMs = 8_000;
const renewEveryMs = 2_000;
/** How long a session whose agent a keeper of another machine may hold is left to a runner there. */
const otherMachineMs = 30_000;
/** How often we look for sessions that nobody told us about: expired leases, lost wake-ups. */
const sweepEveryMs = 1_000;
/** What the pool is not told in this time at a stop, comparing finds. */
const poolToldMs = 2_000;
const programsMaxDefault = 1_000;
/** Of so many sweeps one looks after programs whose agents wait for people: what calls them back is seen when it happens. */
const sweepsPerLook = 300;
/** How often we look for agents whose session needs none any more: their runner died before it had ended them. */
const orphansEveryMs = 30_000;

export type RunnerOptions = ActorPorts &
  AgentWorkerPorts & {
    readonly name: string;
    readonly catalog: Catalog;
    readonly pool: PoolKeeper;
    readonly rules: RuleBook;
    /** The only session that it owns, with those below it: whatever else the store holds is left as it is. */
    readonly tree?: string | undefined;
    /** Programs at work here at the same time; more wait until one rests or ends. */
    readonly programsMax?: number;
    /** Where programs are run; in this thread unless given. */
    readonly machines?: Machines;
    readonly processes: Pick<ProcessRegister, 'remember' | 'forget' | 'end' | 'here' | 'isElsewhere'>;
  };

type Owned = {
  readonly actor: SessionActor;
  readonly kind: SessionKind;
  readonly epoch: number;
  readonly ended: Promise<void>;
  renewedAt: number;
};

/**
 * Owns sessions: claims those that need an owner, keeps their leases, and gives them up when told to stop. Several
 * runners share a store; the lease decides who owns what, and its epoch fences whoever has lost it.
 */
export class Runner {
  readonly #options: RunnerOptions;
  readonly #code: ProgramCode;
  readonly #startWorkers: StartWorkers;
  readonly #owned = new Map<string, Owned>();
  readonly #claiming = new Map<string, Promise<void>>();
  /** Sessions that another runner held when we last tried: not worth a try before then. */
  readonly #heldUntil = new Map<string, number>();
  /** Those that we left to another machine, whose time to take them up again runs. */
  readonly #leftElsewhere = new Set<string>();
  readonly #resting: RestingPrograms;
  #sweeps = 0;
  #stopping = false;
  #cancels: (() => void)[] = [];

  constructor(options: RunnerOptions) {
    this.#options = options;
    this.#code = new ProgramCode(options.log);
    this.#resting = new RestingPrograms(options.store, (program) => this.#consider(program));
    this.#startWorkers = {
      agent: agentStarter(options),
      assistant: assistantStarter(options),
      program: programStarter({ ...options, code: this.#code }),
    };
  }

  start(): void {
    this.#cancels.push(this.#options.log.onGrowth((session) => this.#grew(session)));
    this.#cancels.push(this.#options.log.onRewind(() => void this.#reported(this.#rewound())));
    this.#every(sweepEveryMs, () => this.#sweep());
    this.#every(renewEveryMs, () => this.#renewAll());
    this.#every(orphansEveryMs, () => this.#endOrphans());
    void this.#reported(this.#sweep());
    void this.#reported(this.#endOrphans());
  }

  get owned(): readonly string[] {
    return [...this.#owned.keys()];
  }

  /**
   * Hands every session over; agents that are at work go on without us where they may, and where a keeper holds them.
   * Resolves when nothing of ours runs any more, with the names under which a keeper holds those that go on.
   */
  async stop(reason: string, keeps = false): Promise<readonly string[]> {
    this.#stopping = true;
    for (const cancel of this.#cancels.splice(0)) cancel();
    await Promise.all(this.#claiming.values());
    const left = await Promise.all(
      [...this.#owned.values()].map(async ({ actor, ended }) => {
        const name = await actor.release(reason, keeps);
        await ended;
        return name;
      }),
    );
    // Whoever closes the store next would cut off what the pool is being told of them.
    await within(this.#options.clock, poolToldMs, this.#options.pool.settled());
    return left.filter((name) => name !== undefined);
  }

  #every(ms: number, work: () => Promise<void>): void {
    let cancel: () => void = () => {};
    const again = (): void => {
      cancel = this.#options.clock.at(this.#options.clock.now() + ms, () => {
        void this.#reported(work()).then(() => {
          if (!this.#stopping) again();
        });
      });
    };
    again();
    this.#cancels.push(() => cancel());
  }

  async #reported(work: Promise<void>): Promise<void> {
    try {
      await work;
    } catch (cause) {
      this.#options.report('the runner could not reach the store; it tries again', cause);
    }
  }

  /** What our actors know is of a past that is gone: their sessions are claimed anew, and settled as the store has them. */
  async #rewound(): Promise<void> {
    this.#heldUntil.clear();
    const ended = [...this.#owned.values()].map(({ actor, ended: end }) => {
      actor.abandon();
      return end;
    });
    await Promise.all(ended);
    await this.#sweep();
    // Of sessions that are no more.
    await this.#endOrphans();
  }

  #grew(session: string): void {
    const owned = this.#owned.get(session);
    if (owned === undefined) {
      const heldUntil = this.#heldUntil.get(session) ?? 0;
      if (heldUntil <= this.#options.clock.elapsed()) void this.#consider(session);
      return;
    }
    const state = this.#options.store.known(session);
    if (state === undefined) return;
    owned.actor.noticed(state);
    void this.#reported(this.#resting.childStands(state));
  }

  async #sweep(): Promise<void> {
    const unfinished = await readUnfinished(this.#options.log);
    for (const session of this.#heldUntil.keys()) if (!unfinished.has(session)) this.#heldUntil.delete(session);
    const now = this.#options.clock.now();
    const looks = this.#sweeps++ % sweepsPerLook === 0;
    for (const [session, { slot, parent, called, restsUntil: until = 0, restsOn, endsBelow }] of unfinished) {
      if (this.#stopping) return;
      if (!this.#isBelow(session, unfinished)) continue;
      if (endsBelow === true) await this.#reported(this.#cancelBelow(session));
      const opener = parent === undefined ? undefined : unfinished.get(parent);
      const mayBeAlone = called === true || opener === undefined || opener.idle === true;
      if (parent !== undefined && mayBeAlone) await this.#reported(this.#endIfAlone(session, parent));
      const heldUntil = this.#heldUntil.get(session) ?? 0;
      const isDue = until <= now || session === this.#options.tree || (looks && restsOn === true);
      const worthTrying = slot === 'held' && isDue && heldUntil <= this.#options.clock.elapsed();
      if (worthTrying && !this.#owned.has(session)) await this.#consider(session);
    }
    if (this.#options.tree === undefined) await this.#options.pool.reconcile();
  }

  /** As far as those between it and the top of our tree are not over either. */
  #isBelow(session: string, unfinished: Awaited<ReturnType<typeof readUnfinished>>): boolean {
    const { tree } = this.#options;
    if (tree === undefined) return true;
    let at: string | undefined = session;
    while (at !== undefined && at !== tree) at = unfinished.get(at)?.parent;
    return at === tree;
  }

  #isOurs({ id, root = id }: SessionState): boolean {
    return this.#options.tree === undefined || this.#options.tree === root;
  }

  /** Whoever opened it is over, or has lost the turn in which it did, and was not there any more to end it. */
  async #endIfAlone(session: string, parent: string): Promise<void> {
    const { store, clock, name } = this.#options;
    const state = await store.state(parent);
    if (state === undefined || (state.end === undefined && (state.kind === 'agent' || state.turn.active))) return;
    await store.execute(session, { type: 'finish', at: clock.now(), actor: `runner:${name}` });
  }

  async #cancelBelow(session: string): Promise<void> {
    const { store, clock, name } = this.#options;
    const state = (id: string): Promise<SessionState | undefined> => store.state(id);
    const now = (): number => clock.now();
    const execute = async (id: string, wish: Wish): Promise<unknown> =>
      await store.execute(id, { at: now(), actor: `runner:${name}`, ...wish });
    const expire = async (id: string): Promise<unknown> =>
      await store.execute(id, { at: now(), actor: 'clock', type: 'expire' });
    await cancelBelow(session, { state, execute, now, expire });
  }

  async #endOrphans(): Promise<void> {
    await this.#endHeld();
    for (const note of await this.#options.processes.here()) {
      if (this.#stopping) return;
      if (this.#owned.get(note.session)?.epoch !== note.epoch) await this.#endIfOrphan(note);
    }
  }

  /** What a keeper of ours holds for nobody: its owner was killed after it had said that its agent was over. */
  async #endHeld(): Promise<void> {
    const { keeper, store } = this.#options;
    for (const { agent, owned, epoch } of (await keeper?.list()) ?? []) {
      const whose = readKeptName(agent);
      if (owned || whose === undefined || this.#stopping) continue;
      const process = (await store.state(whose.session))?.agentProcess;
      const isWanted = process !== undefined && process.kind !== 'none' && process.incarnation === whose.incarnation;
      if (!isWanted) await keeper?.end(agent, { epoch });
    }
  }

  /** One of an owner that was superseded is rightful nowhere; one that nobody needs may just be ending in good order. */
  async #endIfOrphan(note: ProcessNote): Promise<void> {
    const { log, store, name, processes, clock } = this.#options;
    const state = await store.state(note.session);
    if (state === undefined || !this.#isOurs(state)) return;
    if (note.epoch < state.epoch) return await processes.end(note);
    // Where an owner is needed, its claim does it.
    if (needsOwner(state, clock.now())) return;
    const lease = leaseOf(note.session);
    const got = await log.acquireLease({ name: lease, owner: `${name}/orphans`, ttlMs: leaseTtlMs });
    if (got.kind === 'held') return;
    await processes.end(note);
    await log.releaseLease({ name: lease, epoch: got.epoch });
  }

  async #consider(session: string): Promise<void> {
    if (this.#stopping || this.#claiming.has(session) || this.#owned.has(session) || session.startsWith('@')) return;
    const claiming = this.#claimIfNeeded(session)
      .catch((cause: unknown) => this.#options.report(`session ${session}: could not be claimed`, cause))
      .finally(() => this.#claiming.delete(session));
    this.#claiming.set(session, claiming);
    await claiming;
  }

  async #claimIfNeeded(session: string): Promise<void> {
    const { log, store, name, clock } = this.#options;
    const state = await store.state(session);
    if (state === undefined) return;
    if (!this.#isOurs(state)) {
      // Whatever becomes of it.
      this.#heldUntil.set(session, Number.POSITIVE_INFINITY);
      return;
    }
    await this.#resting.childFound(state);
    if (waitsForChildren(state)) return;
    // Whoever wants this very session has not come to let it rest.
    const now = session === this.#options.tree ? Number.POSITIVE_INFINITY : clock.now();
    if (!needsOwner(state, now) && !(await this.#resting.isCalled(state))) return;
    const entry = await this.#entryOf(state);
    // Another runner may know it; when none does, the session says that it waits for one.
    if (entry === undefined || (entry.kind === 'program' && !this.#hasRoomForProgram())) return;
    const lease = leaseOf(session);
    const got = await log.acquireLease({ name: lease, owner: name, ttlMs: leaseTtlMs });
    if (got.kind === 'held') {
      this.#leftElsewhere.delete(session);
      this.#heldUntil.set(session, clock.elapsed() + Math.min(got.expiresInMs, leaseTtlMs));
      return;
    }
    const isLeft = !this.#leftElsewhere.delete(session) && (await this.#mayBeHeldElsewhere(state));
    if (isLeft) {
      this.#leftElsewhere.add(session);
      this.#heldUntil.set(session, clock.elapsed() + otherMachineMs);
    }
    if (this.#stopping || isLeft) return await log.releaseLease({ name: lease, epoch: got.epoch });
    this.#heldUntil.delete(session);
    const { rules, catalog, report, processes } = this.#options;
    const tenure = new Tenure({ session, runner: name, fence: { lease, epoch: got.epoch }, clock, report });
    // Only a program hears every word of those that it opened.
    const isChild = state.code !== undefined;
    const answering = new Answering({ ...this.#options, tenure });
    const route = routeFor({ rules, catalog, entry, report, session: () => store.known(session) });
    const actor = new SessionActor(this.#options, {
      tenure,
      answering,
      entry,
      startWorker: this.#startWorkers[entry.kind],
      notes: new OwnProcessNotes(processes, tenure),
      once: state.once,
      isChild,
      budget: new BudgetRouting({ store, clock, tenure, route, report }),
      route,
    });
    const ended = actor.run().then((end) => this.#ended(tenure, end));
    this.#owned.set(session, { actor, kind: entry.kind, epoch: got.epoch, ended, renewedAt: clock.elapsed() });
  }

  /** One that finds none is found again by the sweep. */
  #hasRoomForProgram(): boolean {
    const { programsMax = programsMaxDefault } = this.#options;
    let programs = 0;
    for (const { kind } of this.#owned.values()) if (kind === 'program') programs++;
    return programs < programsMax;
  }

  /** Its agent runs on another machine, and a keeper there may hold it: a runner that comes back can take it up. */
  async #mayBeHeldElsewhere({ id, kind, agentProcess }: SessionState): Promise<boolean> {
    const { keeper, processes } = this.#options;
    if (keeper === undefined || kind !== 'agent' || agentProcess.kind === 'none') return false;
    return await processes.isElsewhere(id);
  }

  /**
   * What a session runs: by its name, or as the code of the program that opened it says. A program that has begun goes on
   * with its own code, also where nobody has declared it, if its folder is here.
   */
  async #entryOf({ kind, agent, code, version }: SessionState): Promise<CatalogEntry | undefined> {
    if (code !== undefined) return await this.#code.agentEntry(code, agent);
    const declared = this.#options.catalog.find(kind, agent);
    if (declared !== undefined || kind !== 'program' || version === undefined) return declared;
    return await this.#code.programEntry(version, agent);
  }

  async #ended({ session, fence }: Tenure, end: TenureEnd): Promise<void> {
    this.#owned.delete(session);
    const { log, report, store } = this.#options;
    if (end === 'lost') return; // Somebody else's, or ours again after a moment: the sweep finds it.
    await log
      .releaseLease({ name: fence.lease, epoch: fence.epoch })
      .catch((cause: unknown) => report(`session ${session}: its lease runs out by itself`, cause));
    // Something may have been asked for between the actor's last look and its lease being free.
    if (end === 'done') await this.#consider(session);
    const state = store.known(session);
    const waits = state?.end?.status === 'cancelled' ? state.parent : session;
    if (waits !== undefined) await this.#reported(this.#cancelBelow(waits));
  }

  async #renewAll(): Promise<void> {
    const { log, name, clock } = this.#options;
    await Promise.all(
      [...this.#owned].map(async ([session, owned]) => {
        const request = { name: leaseOf(session), owner: name, epoch: owned.epoch, ttlMs: leaseTtlMs };
        const renewed = await log.renewLease(request).catch(() => undefined);
        if (renewed === true) owned.renewedAt = clock.elapsed();
        // No word from the store counts as lost only once the lease must have run out.
        else if (renewed === false || clock.elapsed() - owned.renewedAt > leaseTtlMs) owned.actor.abandon();
      }),
    );
  }
}

/** Whoever holds it owns the session. */
export function leaseOf(session: string): string {
  return `session:${session}`;
}

function needsOwner(state: SessionState, now: number): boolean {
  if ((restsUntil(state) ?? 0) > now) return false;
  return state.slot.kind === 'held' && (state.end === undefined || state.agentProcess.kind !== 'none');
}
