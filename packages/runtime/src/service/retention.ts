import type { EventLog } from '@concerto/log';
import { activeAtOf, finalStatuses, type Session } from '@concerto/protocol';
import type { Clock, Report } from '../ports.ts';
import { removeLeftContents } from './delete-session.ts';
import type { Sessions } from './sessions.ts';

/** How long what is over is kept; nothing happens to sessions that are not. */
export type RetentionRules = {
  readonly archiveAfterMs?: number | undefined;
  readonly deleteAfterMs?: number | undefined;
  /** Of more that are over, the oldest are deleted. */
  readonly keepSessions?: number | undefined;
  /** While the store takes more, the oldest are deleted. */
  readonly keepBytes?: number | undefined;
};

export type RetentionOptions = {
  readonly log: EventLog;
  readonly sessions: Sessions;
  readonly rules: RetentionRules;
  readonly clock: Clock;
  readonly report: Report;
};

const everyMs = 60 * 60 * 1_000;
/** Not at once: a server that starts has better things to do. */
const firstAfterMs = 60_000;
const pageRows = 200;
const caller = { actor: 'retention', key: undefined };

/** Puts away and deletes what is old, and finishes what a crash left of deletions. Any number of servers may do so. */
export class Retention {
  readonly #options: RetentionOptions;
  #cancel: () => void;
  #busy: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(options: RetentionOptions) {
    this.#options = options;
    this.#cancel = this.#in(firstAfterMs);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancel();
    await this.#busy;
  }

  #in(ms: number): () => void {
    const { clock, report } = this.#options;
    return clock.at(clock.now() + ms, () => {
      this.#busy = this.sweep()
        .catch((cause: unknown) => report('old sessions are kept for now: the store could not be reached', cause))
        .then(() => {
          if (!this.#isClosed) this.#cancel = this.#in(everyMs);
        });
    });
  }

  async sweep(): Promise<void> {
    const { log, sessions, rules, clock } = this.#options;
    await removeLeftContents(log, sessions.blobs);
    const { archiveAfterMs, deleteAfterMs, keepSessions, keepBytes } = rules;
    if (Object.values(rules).every((rule) => rule === undefined)) return;
    const over = await this.#over();
    const now = clock.now();
    for (const [index, session] of over.entries()) {
      if (this.#isClosed) return;
      const age = now - Date.parse(activeAtOf(session));
      const isTooMany = keepSessions !== undefined && index >= keepSessions;
      // One whose children are not over yet is deleted the next time.
      if (isTooMany || age >= (deleteAfterMs ?? Number.POSITIVE_INFINITY)) await sessions.delete(session.id, caller);
      else if (session.archived !== true && age >= (archiveAfterMs ?? Number.POSITIVE_INFINITY))
        await sessions.describe(session.id, { archived: true }, caller);
    }
    if (keepBytes !== undefined) await this.#makeRoom(keepBytes, over);
  }

  /** The oldest go until the rest fits; what is not over stays, whatever it takes. */
  async #makeRoom(keepBytes: number, over: readonly Session[]): Promise<void> {
    const { log, sessions, report } = this.#options;
    let size = await log.size();
    for (const { id } of over.toReversed()) {
      if (size <= keepBytes || this.#isClosed) return;
      if ((await sessions.delete(id, caller)).ok) size = await log.size();
    }
    if (size <= keepBytes) return;
    report(
      `the store takes ${mebibytes(size)} MiB, more than the ${mebibytes(keepBytes)} MiB it may, and none that is over is left to delete`,
    );
  }

  /** The newest first. */
  async #over(): Promise<readonly Session[]> {
    const rows: Session[] = [];
    for (const status of finalStatuses) {
      for (const archived of [false, true]) {
        for (let cursor: string | undefined; ; ) {
          const query = { status, archived, limit: pageRows, ...(cursor === undefined ? {} : { cursor }) };
          const page = await this.#options.sessions.list(query);
          rows.push(...page.sessions);
          cursor = page.nextCursor;
          if (cursor === undefined) break;
        }
      }
    }
    return rows.toSorted((a, b) => (activeAtOf(a) < activeAtOf(b) ? 1 : -1));
  }
}

function mebibytes(bytes: number): number {
  return Math.ceil(bytes / 1024 ** 2);
}
