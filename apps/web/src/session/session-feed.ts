import type { ConcertoClient, ConnectionState, FollowedEvent } from '@concerto/client';
import { SessionFold, type SessionView, type Turn } from '@concerto/protocol';
import { breathe } from './breathe.ts';
import { readEarlier } from './read-earlier.ts';

export type FeedConnection =
  | { readonly kind: 'connecting' | 'live' | 'ended' }
  | { readonly kind: 'waiting'; readonly until: number; readonly error: unknown }
  /** The server said no, and would say it again. */
  | { readonly kind: 'refused'; readonly error: unknown };

export type FeedState = {
  readonly view: SessionView;
  /** The position of the last change to the queue: when it moves, the queue is to be read again. */
  readonly queueRevision: number;
  /** The same for what the session as a whole is. */
  readonly sessionRevision: number;
  readonly connection: FeedConnection;
  /** Goes up with each connection that was made: what was read beside the events may be outdated then. */
  readonly connections: number;
  /** Only the end of a long session is shown yet; so many events before it are still being read. */
  readonly earlier: number;
  /** What was let go and read again, to be shown before the view's own turns. */
  readonly before: readonly Turn[];
  /** The position up to which nothing is shown, though there was something. */
  readonly unshownTo: number;
  /** More comes than anybody can read. */
  readonly isBusy: boolean;
};

/**
 * A browser opens few connections to one server, so a tab that nobody has looked at for a while gives its own back
 * and only looks in now and then: enough for its title to say that somebody is waited for.
 */
const hiddenLiveMs = 60_000;
const lookInEveryMs = 15_000;
const lookInForMs = 4000;

/** A page that is not painted has no animation frames; its events are folded after this time. */
const unseenFoldMs = 250;

/** So many entries of a session are kept, at most twice as many; older ones are read again on demand. */
const keptEntries = 4000;
/** Nothing goes under the eyes of whoever reads what is older; but not without end. */
const heldEntries = 40_000;

/** Work on events stops after so long for whatever else the page has to do. */
const sliceMs = 8;
/** So many events in one drawing: the next comes later. Nobody reads as fast. */
const busyEvents = 25;
const busyDrawMs = 200;

/** One that is longer is shown from its end at once, while all of it is read behind that. */
const glimpseFrom = 3000;
const glimpseEvents = 400;

/** Events after which the session's own row may say something else. */
const changesSession: ReadonlySet<string> = new Set([
  'status',
  'settings',
  'worktree',
  'start',
  'turnComplete',
  'requestSettled',
  'requestRouted',
  'waitForInput',
  'waitForChoice',
  'queryConsent',
  'finish',
]);

/** Before anything was read. */
export const emptyFeed: FeedState = {
  view: new SessionFold().view,
  queueRevision: 0,
  sessionRevision: 0,
  connection: { kind: 'connecting' },
  connections: 0,
  earlier: 0,
  before: [],
  unshownTo: 0,
  isBusy: false,
};

/**
 * The events of a session, folded as they come, for as long as somebody looks. However fast they come, the page is
 * asked to draw once a frame.
 */
export class SessionFeed {
  readonly #client: ConcertoClient;
  readonly #id: string;
  readonly #listeners = new Set<() => void>();
  readonly #folded = new SessionFold();
  #state: FeedState = { ...emptyFeed, view: this.#folded.view };
  #isHeld = false;
  #isReadingEarlier = false;
  /** The position up to which everything must be read before it takes the place of the glimpse. */
  #glimpsedTo = 0;
  #waiting: FollowedEvent[] = [];
  #leaving: AbortController | undefined;
  #frame: number | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #rest: ReturnType<typeof setTimeout> | undefined;
  #hiddenAt = Number.POSITIVE_INFINITY;

  constructor(client: ConcertoClient, id: string) {
    this.#client = client;
    this.#id = id;
  }

  readonly state = (): FeedState => this.#state;

  readonly subscribe = (onChange: () => void): (() => void) => {
    this.#listeners.add(onChange);
    if (this.#leaving === undefined) {
      this.retry();
      document.addEventListener('visibilitychange', this.#onVisibility);
      if (document.hidden) this.#onVisibility();
    }
    return () => {
      this.#listeners.delete(onChange);
      // A listener that comes back at once, as a remounted component does, continues where it was.
      setTimeout(() => this.#leaveIfUnused(), 0);
    };
  };

  /** Connects now, from where it was. */
  readonly retry = (): void => {
    this.#leaving?.abort();
    this.#fold();
    const leaving = new AbortController();
    this.#leaving = leaving;
    const isNew = this.#folded.position === 0;
    void this.#follow(leaving.signal, isNew ? this.#glimpse(leaving.signal) : undefined);
  };

  /** While somebody reads what is older, what stands stays. */
  readonly hold = (isHeld: boolean): void => {
    this.#isHeld = isHeld;
    if (!isHeld && this.#state.before.length > 0) this.#change({ before: [], unshownTo: this.#state.view.forgottenTo });
  };

  /** Reads some of what was let go. */
  readonly readEarlier = async (): Promise<void> => {
    const { before, view, unshownTo: to } = this.#state;
    if (this.#isReadingEarlier || to === 0) return;
    this.#isReadingEarlier = true;
    this.#isHeld = true;
    try {
      const { turns, from } = await readEarlier(this.#client, this.#id, { to, next: before[0] ?? view.turns[0] });
      this.#change({ before: [...turns, ...this.#state.before], unshownTo: from });
    } finally {
      this.#isReadingEarlier = false;
    }
  };

  readonly #onVisibility = (): void => {
    clearTimeout(this.#rest);
    if (this.#state.view.isFinished) return;
    if (document.hidden) {
      this.#hiddenAt = Date.now();
      this.#rest = setTimeout(() => this.#sleep(), hiddenLiveMs);
      return;
    }
    // A system that froze the tab has neither told us nor the connection, which may look alive and be dead.
    if (Date.now() - this.#hiddenAt >= hiddenLiveMs) this.retry();
  };

  #sleep(): void {
    this.#leaving?.abort();
    if (this.#state.view.isFinished) return;
    this.#rest = setTimeout(() => {
      this.retry();
      this.#rest = setTimeout(() => this.#sleep(), lookInForMs);
    }, lookInEveryMs);
  }

  /** Asks for nothing before the glimpse is there: it would come no sooner than all of it. */
  async #follow(signal: AbortSignal, glimpse: Promise<void> | undefined): Promise<void> {
    let sliceStart = 0;
    try {
      await glimpse;
      const after = this.#folded.position;
      const onState = (state: ConnectionState): void => {
        if (!signal.aborted) this.#connection(state);
      };
      for await (const event of this.#client.follow(this.#id, { after, signal, onState })) {
        if (signal.aborted) return;
        this.#waiting.push(event);
        this.#foldSoon();
        if (performance.now() - sliceStart < sliceMs) continue;
        await breathe();
        sliceStart = performance.now();
      }
    } catch (error) {
      if (!signal.aborted) this.#change({ connection: { kind: 'refused', error } });
    }
  }

  /** The end of a long session, long before all of it is here. */
  async #glimpse(signal: AbortSignal): Promise<void> {
    try {
      const { position } = await this.#client.get(this.#id, { signal });
      if (position < glimpseFrom) return;
      const end = new SessionFold();
      for await (const event of this.#client.follow(this.#id, { after: position - glimpseEvents, signal })) {
        end.take(event);
        if (event.seq >= position) break;
      }
      if (signal.aborted || this.#folded.position >= position) return;
      this.#glimpsedTo = position;
      this.#change({ view: end.view, earlier: position - glimpseEvents });
    } catch {
      // All of it is being read anyway, and says what is wrong.
    }
  }

  #connection(state: ConnectionState): void {
    if (state.kind === 'waiting') {
      const until = Date.now() + state.retryInMs;
      this.#change({ connection: { kind: 'waiting', until, error: state.error } });
      return;
    }
    const connections = this.#state.connections + (state.kind === 'live' ? 1 : 0);
    // Between two tries nothing has become better: what is shown stays until there is a connection.
    const isRetry = state.kind === 'connecting' && this.#state.connection.kind === 'waiting';
    if (!isRetry) this.#change({ connection: { kind: state.kind }, connections });
  }

  #foldSoon(): void {
    if (!this.#state.isBusy) this.#frame ??= requestAnimationFrame(() => this.#fold());
    this.#timer ??= setTimeout(() => this.#fold(), this.#state.isBusy ? busyDrawMs : unseenFoldMs);
  }

  #fold(): void {
    if (this.#frame !== undefined) cancelAnimationFrame(this.#frame);
    clearTimeout(this.#timer);
    this.#frame = undefined;
    this.#timer = undefined;
    const events = this.#waiting;
    if (events.length === 0) return;
    this.#waiting = [];
    let { queueRevision, sessionRevision } = this.#state;
    for (const event of events) {
      this.#folded.take(event);
      if (event.type === 'message') queueRevision = event.seq;
      else if (changesSession.has(event.type)) sessionRevision = event.seq;
    }
    const isReplay = this.#folded.position < this.#glimpsedTo;
    if (this.#folded.size > (this.#isHeld && !isReplay ? heldEntries : 2 * keptEntries))
      this.#folded.forget(keptEntries);
    if (isReplay) return;
    const { view } = this.#folded;
    const unshownTo = this.#state.before.length > 0 ? this.#state.unshownTo : view.forgottenTo;
    const isBusy = events.length > busyEvents;
    this.#change({ view, queueRevision, sessionRevision, earlier: 0, unshownTo, isBusy });
  }

  #change(change: Partial<FeedState>): void {
    this.#state = { ...this.#state, ...change };
    for (const onChange of this.#listeners) onChange();
  }

  #leaveIfUnused(): void {
    if (this.#listeners.size > 0) return;
    document.removeEventListener('visibilitychange', this.#onVisibility);
    clearTimeout(this.#rest);
    this.#leaving?.abort();
    this.#leaving = undefined;
    this.#fold();
  }
}
