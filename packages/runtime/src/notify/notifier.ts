import type { EventLog } from '@concerto/log';
import { overviewStream } from '../overview/overview.ts';
import type { Clock, Report } from '../ports.ts';
import { becomeDue, type Notice, type NoticeRules, NoticeState, nextLook, noticed, type Owed } from './notice-book.ts';
import { type NotifyCommand, runCommand } from './run-command.ts';
import { NotTaken, sendWebhook, type Webhook } from './send-webhook.ts';

const collection = 'notify';
const key = 'state';
const lease = 'notify';
const leaseTtlMs = 15_000;
/** Of several servers on one store one tells; the others look so often whether it still lives. */
const lookEveryMs = 5_000;
const pageEntries = 500;
const attemptsMax = 8;
const backoffMs = 1_000;
const backoffMaxMs = 60_000;

export type NotifierOptions = NoticeRules & {
  readonly log: EventLog;
  readonly clock: Clock;
  readonly report: Report;
  readonly name: string;
  readonly webhook?: Webhook | undefined;
  readonly command?: NotifyCommand | undefined;
  /** Where the page is. */
  readonly address?: string | undefined;
};

/**
 * Tells people elsewhere that they are needed. It reads the overview's stream with a cursor and keeps, with that cursor, who
 * waits and what is owed: a restart goes on there, so that nothing is left out, and tells nothing again that was taken.
 */
export class Notifier {
  readonly #options: NotifierOptions;
  readonly #stops: readonly (() => void)[];
  #state: NoticeState | undefined;
  #epoch: number | undefined;
  #cancel: (() => void) | undefined;
  #working: Promise<void> = Promise.resolve();
  #isClosed = false;
  #hasGrown = true;
  /** The store has less than we know: what it has counts, and its lease is asked for anew. */
  #isRewound = false;

  constructor(options: NotifierOptions) {
    this.#options = options;
    const grew = (): void => {
      this.#hasGrown = true;
      this.#soon(0);
    };
    this.#stops = [
      options.log.onGrowth(grew, overviewStream),
      options.log.onRewind(() => {
        this.#isRewound = true;
        grew();
      }),
    ];
    this.#soon(0);
  }

  /** What is under way is finished; what is owed is told by the next. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const stop of this.#stops) stop();
    this.#cancel?.();
    await this.#working;
    if (this.#epoch !== undefined)
      await this.#options.log.releaseLease({ name: lease, epoch: this.#epoch }).catch(() => undefined);
  }

  #soon(ms: number): void {
    if (this.#isClosed) return;
    const { clock } = this.#options;
    this.#cancel?.();
    this.#cancel = clock.at(clock.now() + ms, () => {
      this.#working = this.#working.then(() => this.#look());
    });
  }

  async #look(): Promise<void> {
    if (this.#isClosed) return;
    let wait = lookEveryMs;
    let isBehind = false;
    try {
      if (await this.#isOurs()) {
        if (this.#hasGrown) await this.#read();
        await this.#tell();
        const next = this.#state === undefined ? undefined : nextLook(this.#state, this.#options);
        if (next !== undefined) wait = Math.min(wait, Math.max(0, next - this.#options.clock.now()));
      }
      isBehind = this.#hasGrown && this.#epoch !== undefined;
    } catch (cause) {
      // Not at once: a store that is away would be asked as fast as it refuses.
      this.#hasGrown = true;
      this.#options.report('people are told later that they are needed: the store failed', cause);
    }
    this.#soon(isBehind ? 0 : wait);
  }

  async #isOurs(): Promise<boolean> {
    const { log, name } = this.#options;
    const request = { name: lease, owner: name, ttlMs: leaseTtlMs };
    if (this.#isRewound) this.#epoch = undefined;
    this.#isRewound = false;
    if (this.#epoch !== undefined && (await log.renewLease({ ...request, epoch: this.#epoch }))) return true;
    const got = await log.acquireLease(request);
    this.#epoch = got.kind === 'acquired' ? got.epoch : undefined;
    // Another may have told more since: what is stored counts.
    this.#state = undefined;
    this.#hasGrown = true;
    return this.#epoch !== undefined;
  }

  /** The first time it begins with what happens from now on. */
  async #load(): Promise<NoticeState> {
    const { log } = this.#options;
    const stored = await log.getDocument(collection, key);
    if (stored !== undefined) return NoticeState.parse(JSON.parse(stored.value));
    return { position: await log.head(overviewStream, 'events'), waiting: [], owed: [], told: [] };
  }

  async #read(): Promise<void> {
    const { log, clock } = this.#options;
    let state = this.#state ?? (await this.#load());
    this.#hasGrown = false;
    for (;;) {
      const after = state.position;
      const page = await log.read({ session: overviewStream, stream: 'events', after, limit: pageEntries });
      state = page.entries.reduce(noticed, state);
      if (page.entries.length === 0) {
        // What was trimmed before it was read is told again by the rows.
        state = { ...state, position: Math.max(state.position, page.oldest - 1) };
        break;
      }
    }
    await this.#save(becomeDue(state, clock.now(), this.#options));
  }

  async #save(state: NoticeState): Promise<void> {
    const value = JSON.stringify(state);
    if (this.#state === undefined || JSON.stringify(this.#state) !== value) {
      const documents = [{ collection, key, value }];
      const { log } = this.#options;
      const fence = { lease, epoch: this.#epoch ?? 0 };
      const written = await log.append({ session: overviewStream, fence, streams: [], documents });
      if (written.kind !== 'appended') throw new Error('another server tells people now');
    }
    this.#state = state;
  }

  async #tell(): Promise<void> {
    const { clock } = this.#options;
    if (this.#state === undefined) return;
    await this.#save(becomeDue(this.#state, clock.now(), this.#options));
    for (const owed of this.#state.owed.filter(({ notBefore }) => notBefore <= clock.now())) {
      if (this.#isClosed) return;
      const left = await this.#send(owed);
      const others = this.#state.owed.filter(({ notice }) => notice.id !== owed.notice.id);
      await this.#save({ ...this.#state, owed: left === undefined ? others : [...others, left] });
    }
  }

  /** What is still owed of it, and when it is tried again. */
  async #send({ notice, attempts, done: before }: Owed): Promise<Owed | undefined> {
    const { clock, report } = this.#options;
    const done = [...before];
    try {
      for (const [name, deliver] of this.#targets()) {
        if (done.includes(name)) continue;
        await deliver(notice);
        done.push(name);
      }
      return undefined;
    } catch (cause) {
      const tried = attempts + 1;
      const why = cause instanceof Error ? cause.message : String(cause);
      if (cause instanceof NotTaken || tried >= attemptsMax) {
        report(`nobody could be told of ${notice.id}, and it is not tried again: ${why}`);
        return undefined;
      }
      const wait = Math.min(backoffMaxMs, backoffMs * 2 ** attempts);
      return { notice, attempts: tried, notBefore: clock.now() + wait, done };
    }
  }

  #targets(): readonly (readonly [string, (notice: Notice) => Promise<void>])[] {
    const { webhook, command, clock, address } = this.#options;
    const linked = (notice: Notice) =>
      address === undefined ? notice : { ...notice, url: `${address}/sessions/${encodeURIComponent(notice.session)}` };
    return [
      ...(webhook === undefined
        ? []
        : [['webhook', (notice: Notice) => sendWebhook(webhook, linked(notice), clock.now())] as const]),
      ...(command === undefined ? [] : [['command', (notice: Notice) => runCommand(command, linked(notice))] as const]),
    ];
  }
}
