import type { EventLog, StoredDocument } from '@concerto/log';
import { readStored, Session, type SessionList, type SessionStatus } from '@concerto/protocol';
import type { Report } from '../ports.ts';
import { childrenCollection, sessionsCollection } from './session-append.ts';
import { searchSessions } from './session-search.ts';

/** More children are not shown in a tree; `?parent=` lists them by pages. */
const childrenListedMax = 1_000;

export type SessionQuery = {
  readonly status?: SessionStatus;
  readonly parent?: string;
  readonly tree?: boolean;
  /** Those that were put away, and no others; without it the others. */
  readonly archived?: boolean;
  /** Those in which every word of it was said; see `searchSessions`. */
  readonly sought?: string;
  readonly cursor?: string;
  readonly limit: number;
};

/** The rows of all sessions, as the decisions about them left them. */
export class SessionIndex {
  readonly #log: EventLog;
  readonly #report: Report;

  /** `report` hears of rows that cannot be read. */
  constructor(log: EventLog, report: Report = () => {}) {
    this.#log = log;
    this.#report = report;
  }

  async list({ sought, ...query }: SessionQuery): Promise<SessionList> {
    if (sought === undefined) return await this.#page(query);
    return await searchSessions(this.#log, { ...query, sought }, (rows) => this.#page(rows));
  }

  async #page(query: SessionQuery): Promise<SessionList> {
    const { parent, status, cursor, limit } = query;
    const tag = parent ?? status;
    const page = await this.#log.listDocuments({
      collection: parent === undefined ? sessionsCollection : childrenCollection,
      limit,
      ...(tag === undefined ? {} : { tag }),
      ...(cursor === undefined ? {} : { cursor }),
    });
    const listed = await this.#rows(page.documents);
    const isWanted = (session: Session): boolean =>
      (parent !== undefined || (session.archived === true) === (query.archived === true)) &&
      (status === undefined || session.status === status);
    const fitting = listed.filter(isWanted);
    const sessions = query.tree === true ? await this.#withChildren(fitting) : fitting;
    return { sessions, ...(page.nextCursor === undefined ? {} : { nextCursor: page.nextCursor }) };
  }

  /** In the order in which they were opened. */
  async childrenOf(parent: string): Promise<Session[]> {
    const query = { collection: childrenCollection, tag: parent, limit: childrenListedMax };
    const { documents } = await this.#log.listDocuments(query);
    return (await this.#rows(documents)).reverse();
  }

  async #withChildren(sessions: readonly Session[]): Promise<Session[]> {
    const trees = await Promise.all(
      sessions.map(async (session) => {
        const children = (session.children ?? 0) === 0 ? [] : await this.childrenOf(session.id);
        return [session, ...(await this.#withChildren(children))];
      }),
    );
    return trees.flat();
  }

  async #rows(documents: readonly StoredDocument[]): Promise<Session[]> {
    const unread = (key: string, cause: unknown): void => this.#report(`session ${key}: its row cannot be read`, cause);
    const rows = readRows(documents, unread);
    return await Promise.all(rows.map(async (row) => ({ ...row, position: await this.#log.head(row.id, 'events') })));
  }
}

/** One that cannot be read is left out: it does not take the others with it. */
export function readRows(
  documents: readonly StoredDocument[],
  unread: (key: string, cause: unknown) => void = () => {},
): readonly Session[] {
  return documents.flatMap(({ key, value }) => {
    try {
      return [readStored(Session, JSON.parse(value))];
    } catch (cause) {
      unread(key, cause);
      return [];
    }
  });
}
