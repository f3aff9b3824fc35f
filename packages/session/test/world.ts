import type { PoolRecord, PublicEvent, RunnerCommand, SessionRecord } from '@concerto/protocol';
import { decidePool, newPool, type Pool, type PoolCommand, type PoolOutcome } from '../src/pool/pool.ts';
import { nextDeadline } from '../src/session/deadlines.ts';
import { decide } from '../src/session/decide.ts';
import type { Asked, Decision, Notice, Report, SessionCommand, Wish } from '../src/session/session-command.ts';
import type { SessionState } from '../src/session/session-state.ts';

export type Asking = (Wish | Notice | Report) & Pick<Asked, 'attending'>;

export type Watcher = {
  /** Called with every decision that was taken, before the pool hears of it. */
  decided(session: WorldSession, command: Asking, decision: Decision): void;
  pooled(before: Pool, after: Pool, records: readonly PoolRecord[]): void;
};

export type WorldSession = {
  readonly id: string;
  state: SessionState | undefined;
  readonly records: SessionRecord[];
  readonly commands: RunnerCommand[];
  readonly events: PublicEvent[];
  /** The owner was asked to come and has not yet. */
  called: boolean;
};

type Distribute<T, Keys extends PropertyKey> = T extends unknown ? Omit<T, Keys> : never;

/** Some sessions, the pool, and the shell between them, which may forget to tell the pool: then only reconciliation helps. */
export class World {
  now = 1_000_000;
  pool: Pool = newPool(2);
  readonly sessions: WorldSession[] = [];
  private readonly places: number;
  private readonly watcher: Watcher;
  /** While true the shell dies before it reaches the pool. */
  forgetful = false;
  private minted = 0;
  private epochs = 0;

  constructor(watcher: Watcher, places: number) {
    this.watcher = watcher;
    this.places = places;
    for (let place = 0; place < places; place++) this.open();
  }

  private open(): WorldSession {
    const id = `s${this.sessions.length}`;
    const session = { id, state: undefined, records: [], commands: [], events: [], called: false };
    this.sessions.push(session);
    return session;
  }

  mint(prefix: string): string {
    this.minted += 1;
    return `${prefix}${this.minted}`;
  }

  nextEpoch(): number {
    this.epochs += 1;
    return this.epochs;
  }

  /** The newest session of a place; when it is over a new one takes its place, unless its last words are wanted. */
  session(place: number, evenEnded: boolean): WorldSession {
    const last = this.sessions.findLast((_, index) => index % this.places === place);
    if (last === undefined) throw new Error('no such place');
    if (last.state?.end === undefined || evenEnded) return last;
    while (this.sessions.length % this.places !== place) this.open();
    return this.open();
  }

  /** A wish can come to a server in whose process the owner lives: it is then decided in the owner's place. */
  wishBesideOwner(session: WorldSession, wish: Wish, epoch: number): boolean {
    return this.ask(session, { ...wish, attending: { epoch, actor: 'runner:r' } });
  }

  ask(session: WorldSession, command: Asking, actor = 'user'): boolean {
    // Whoever holds an older state holds it as it was: a decision makes its own.
    const before = session.state && Object.freeze(session.state);
    const decided = decide(before, { ...command, at: this.now, actor } as SessionCommand);
    if (!decided.ok) return false;
    const { records, commands, events, state } = decided.value;
    session.state = state;
    session.records.push(...records);
    session.commands.push(...commands);
    session.events.push(...events);
    const comes = command.type === 'claimed' || (command.type === 'attend' && command.epoch === state.epoch);
    session.called = commands.some((one) => one.type === 'attend') || (session.called && !comes);
    this.watcher.decided(session, command, decided.value);
    if (!this.forgetful) this.tellPool(session);
    return true;
  }

  askPool(command: Distribute<PoolCommand, 'at' | 'actor'>): PoolOutcome {
    const before = this.pool;
    const decision = decidePool(before, { ...command, at: this.now, actor: 'user' } as PoolCommand);
    this.pool = decision.pool;
    this.watcher.pooled(before, this.pool, decision.records);
    for (const id of decision.admitted) this.admit(id);
    return decision.outcome;
  }

  private admit(id: string): void {
    const session = this.sessions.find((one) => one.id === id);
    if (session?.state !== undefined && !this.forgetful) this.ask(session, { type: 'admit' }, 'pool');
  }

  /** What a shell does after each commit. */
  tellPool(session: WorldSession): void {
    const { id, state } = session;
    if (state === undefined) return;
    const { slots, waiting } = this.pool;
    if (state.slot.kind === 'none' && (slots.has(id) || waiting.has(id))) {
      this.askPool({ type: 'release', sessionId: id, reason: 'given back' });
    } else if (state.slot.kind === 'wanted') {
      const outcome = this.askPool({ type: 'reserve', sessionId: id, ifFull: 'queue' });
      if (outcome.kind === 'held') this.ask(session, { type: 'admit' }, 'pool');
    }
  }

  /** What a shell does every ten seconds and at boot. */
  reconcile(): void {
    const says = new Map(
      this.sessions.flatMap(({ id, state }) => (state === undefined ? [] : [[id, state.slot.kind] as const])),
    );
    this.askPool({ type: 'reconcile', sessions: says });
    for (const session of this.sessions) {
      if (session.state?.slot.kind === 'wanted' && this.pool.slots.has(session.id)) {
        this.ask(session, { type: 'admit' }, 'pool');
      }
    }
  }

  /** Time goes by and every deadline is kept, whichever session's is first. */
  pass(ms: number): void {
    const until = this.now + ms;
    for (;;) {
      const due = this.sessions
        .flatMap((session) => {
          const at = session.state === undefined ? undefined : nextDeadline(session.state);
          return at === undefined ? [] : [{ session, at }];
        })
        .toSorted((a, b) => a.at - b.at)[0];
      if (due === undefined || due.at > until) break;
      this.now = Math.max(this.now, due.at);
      this.ask(due.session, { type: 'expire' }, 'clock');
    }
    this.now = until;
  }
}
