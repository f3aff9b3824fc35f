import { unreachable } from '@concerto/base';
import { ClientError, type ConcertoClient } from '@concerto/client';
import type { Session } from '@concerto/protocol';
import { listSessions } from './list-sessions.ts';
import { type Rows, waitingIn, withRows } from './session-rows.ts';
import { openTabChannel, type TabChannel, type Told } from './tab-channel.ts';

export type OverviewState = {
  /** Undefined until they were read once. */
  readonly rows: Rows | undefined;
  readonly waiting: readonly Session[];
  /** There are older ones that were not read. */
  readonly hasMore: boolean;
  /** Some of those that were not read may wait too. */
  readonly mayMoreWait: boolean;
  /** Why it may not be so any more; the rows are then those of before. */
  readonly error: unknown;
  /** Goes up when any session's status changes. */
  readonly statuses: number;
  /** Goes up when the graph may have changed. */
  readonly graphs: number;
};

/** Rows that change often are drawn so often. */
const drawEveryMs = 150;
const listedAtFirst = 200;
/** A server that said no may say yes later: somebody signs in, it is started anew. */
const againAfterMs = 5000;
/** Whoever was away for so long looks for themselves: a system that slept may have told nobody. */
const awayMs = 60_000;

/** All sessions as they are now, for every view of this tab, over one stream for all tabs. */
export class OverviewFeed {
  readonly #client: ConcertoClient;
  readonly #listeners = new Set<() => void>();
  #state: OverviewState = {
    rows: undefined,
    waiting: [],
    hasMore: false,
    mayMoreWait: false,
    error: undefined,
    statuses: 0,
    graphs: 0,
  };
  #channel: TabChannel | undefined;
  #changed: Session[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** The position of the last change that was heard, by whichever tab. */
  #cursor: number | undefined;
  #listing: 'still' | 'reading' | 'outdated' = 'still';
  #wanted = listedAtFirst;
  /** What is known may be of a store that is no more. */
  #isAnew = false;
  #hiddenAt = Number.POSITIVE_INFINITY;

  constructor(client: ConcertoClient) {
    this.#client = client;
  }

  readonly state = (): OverviewState => this.#state;

  /** For the page's whole life: something always shows who waits. */
  readonly subscribe = (onChange: () => void): (() => void) => {
    this.#listeners.add(onChange);
    if (this.#channel === undefined) this.#begin();
    return () => this.#listeners.delete(onChange);
  };

  /** So many of the newest are to be known. */
  readonly want = (count: number): void => {
    if (count <= this.#wanted) return;
    this.#wanted = count;
    void this.#list();
  };

  #begin(): void {
    this.#channel = openTabChannel((told) => this.#hear(told));
    void this.#watch(this.#channel);
    void this.#list();
    document.addEventListener('visibilitychange', () => {
      if (document.hidden) this.#hiddenAt = Date.now();
      else if (Date.now() - this.#hiddenAt >= awayMs) void this.#list();
    });
  }

  async #watch(channel: TabChannel): Promise<void> {
    const { tell } = channel;
    await channel.whenFirst(async () => {
      for (;;) {
        try {
          await this.#lead(channel);
        } catch (error) {
          this.#change({ error });
          tell({ kind: 'state', state: 'ended' });
        }
        await new Promise((resolve) => setTimeout(resolve, againAfterMs));
      }
    });
  }

  async #lead({ tell }: TabChannel): Promise<void> {
    const watched = this.#client.watch({
      tree: true,
      rows: false,
      // Another tab may have led before: it told how far it was.
      ...(this.#cursor === undefined ? {} : { after: this.#cursor }),
      onAnew: () => tell({ kind: 'anew' }),
      onState: ({ kind }) => tell({ kind: 'state', state: kind }),
    });
    for await (const event of watched) tell({ kind: 'event', event });
  }

  #hear(told: Told): void {
    switch (told.kind) {
      case 'anew':
        this.#cursor = undefined;
        this.#isAnew = true;
        void this.#list();
        this.#change({ graphs: this.#state.graphs + 1 });
        return;
      case 'state':
        if (told.state === 'waiting')
          this.#change({ error: new ClientError('unreachable', 'the connection was lost') });
        else if (told.state === 'live' && this.#state.error !== undefined) void this.#list();
        return;
      case 'event':
        this.#cursor = told.event.seq;
        if (told.event.type === 'session' && told.event.summary.archived !== true) this.#take(told.event.summary);
        else if (told.event.type === 'session' || told.event.type === 'sessionDeleted') this.#without();
        else if (told.event.type === 'graph') this.#change({ graphs: this.#state.graphs + 1 });
        return;
      default:
        unreachable(told);
    }
  }

  /** A row went: all are read again. */
  #without(): void {
    this.#isAnew = true;
    void this.#list();
  }

  #take(session: Session): void {
    this.#changed.push(session);
    // A tab that nobody sees has slow clocks, and somebody may have to be called.
    if (document.hidden) this.#draw();
    else this.#timer ??= setTimeout(() => this.#draw(), drawEveryMs);
  }

  #draw(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    // Before the rows were read, what changes is kept for them.
    if (this.#state.rows === undefined) return;
    const changed = this.#changed;
    this.#changed = [];
    this.#rows(withRows(this.#state.rows, changed), {});
  }

  async #list(): Promise<void> {
    if (this.#listing !== 'still') {
      this.#listing = 'outdated';
      return;
    }
    do {
      this.#listing = 'reading';
      try {
        const isAnew = this.#isAnew;
        const { sessions, hasMore, mayMoreWait } = await listSessions(this.#client, this.#wanted);
        const before = isAnew ? undefined : this.#state.rows;
        if (isAnew) this.#isAnew = false;
        const changed = this.#changed;
        this.#changed = [];
        this.#rows(withRows(withRows(before ?? new Map(), sessions), changed), {
          hasMore,
          mayMoreWait,
          error: undefined,
        });
      } catch (error) {
        this.#change({ error });
      }
    } while (this.#isOutdated());
    this.#listing = 'still';
  }

  #isOutdated(): boolean {
    return this.#listing === 'outdated';
  }

  #rows(rows: Rows, more: Partial<OverviewState>): void {
    const before = this.#state.rows;
    const isSame = rows === before && Object.keys(more).length === 0;
    if (isSame) return;
    const hasMoved =
      before === undefined || [...rows.values()].some(({ id, status }) => before.get(id)?.status !== status);
    this.#change({ ...more, rows, waiting: waitingIn(rows), statuses: this.#state.statuses + (hasMoved ? 1 : 0) });
  }

  #change(change: Partial<OverviewState>): void {
    this.#state = { ...this.#state, ...change };
    for (const onChange of this.#listeners) onChange();
  }
}
