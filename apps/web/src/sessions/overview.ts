import { activeAtOf, finalStatuses, type Session, type SessionStatus } from '@concerto/protocol';
import { isJsonObject } from '../json/json-object.ts';
import { asksYou, needsYou } from '../status/status-words.ts';

/** What one looks for, in the words of the page; the groups of the list, in its order. */
export const groups = {
  you: { label: 'Needs you', statuses: needsYou },
  working: {
    label: 'Working',
    statuses: ['queued', 'starting', 'running', 'interrupting', 'pausing', 'resuming', 'cancelling'],
  },
  held: { label: 'On hold', statuses: ['paused', 'interrupted'] },
  idle: { label: 'Idle', statuses: ['idle'] },
  over: { label: 'Over', statuses: finalStatuses },
} as const satisfies Record<string, { label: string; statuses: readonly SessionStatus[] }>;

type GroupName = keyof typeof groups;
export type FilterName = 'all' | GroupName;
const groupNames: readonly GroupName[] = ['you', 'working', 'held', 'idle', 'over'];
export const filterNames: readonly FilterName[] = ['all', ...groupNames];

export const sorts = { activity: 'Last activity', created: 'Newest' } as const;
export type SortName = keyof typeof sorts;

export type Wish = {
  readonly filter: FilterName;
  readonly sought: string;
  readonly sort: SortName;
  /** Those that were put away instead of the others. */
  readonly isArchive: boolean;
};
/** Sessions of which the server says that the words are in their texts. */
type Hits = Pick<ReadonlyMap<string, Session>, 'has'>;
const noHits: Hits = new Map<string, Session>();

/** Those at hand, as they are now, and those that only the server knew. */
export function withHits(
  sessions: readonly Session[] | undefined,
  hits: ReadonlyMap<string, Session>,
): readonly Session[] | undefined {
  if (sessions === undefined || hits.size === 0) return sessions;
  const atHand = new Set(sessions.map(({ id }) => id));
  return [...sessions, ...[...hits.values()].filter(({ id }) => !atHand.has(id))];
}

/** How deep a session stands below another of the same group. */
type Row = { readonly session: Session; readonly depth: number };
export type Group = { readonly name: GroupName; readonly rows: readonly Row[] };

export function labelOf(filter: FilterName): string {
  return filter === 'all' ? 'All' : groups[filter].label;
}

/** The sessions that are wanted, by what they need from a person. Groups that are empty are left out. */
export function groupSessions(
  sessions: readonly Session[],
  { filter, sought, sort }: Omit<Wish, 'isArchive'>,
  hits: Hits = noHits,
): readonly Group[] {
  const found = sessions.filter((session) => isFound(session, sought, hits));
  return groupNames
    .filter((name) => filter === 'all' || filter === name)
    .map((name) => ({
      name,
      rows: childrenAfterParents(ofGroup(found, name).toSorted(name === 'you' ? longestFirst : by(sort))),
    }))
    .filter(({ rows }) => rows.length > 0);
}

export function countsOf(
  sessions: readonly Session[],
  sought: string,
  hits: Hits = noHits,
): Readonly<Record<FilterName, number>> {
  const found = sessions.filter((session) => isFound(session, sought, hits));
  const count = (name: GroupName): number => ofGroup(found, name).length;
  return {
    all: found.length,
    you: count('you'),
    working: count('working'),
    held: count('held'),
    idle: count('idle'),
    over: count('over'),
  };
}

/** What a session opened stands under it, as far as both are in the group. */
function childrenAfterParents(sessions: readonly Session[]): readonly Row[] {
  const here = new Set(sessions.map(({ id }) => id));
  const isUnder = ({ parent }: Session): boolean => parent !== undefined && here.has(parent);
  const rowsOf = (session: Session, depth: number): readonly Row[] => [
    { session, depth },
    ...sessions.filter(({ parent }) => parent === session.id).flatMap((child) => rowsOf(child, depth + 1)),
  ];
  return sessions.filter((session) => !isUnder(session)).flatMap((session) => rowsOf(session, 0));
}

function ofGroup(sessions: readonly Session[], name: GroupName): readonly Session[] {
  const statuses: readonly SessionStatus[] = groups[name].statuses;
  const isAsking = ({ status }: Session): boolean => needsYou.includes(status);
  if (name === 'you') return sessions.filter(asksYou);
  // Somebody else is asked: it is on its way.
  return sessions.filter(
    (session) => !asksYou(session) && (statuses.includes(session.status) || (name === 'working' && isAsking(session))),
  );
}

/** Every word is somewhere in its title, agent, id, question, error or result, or the server found it in its texts. */
function isFound(session: Session, sought: string, hits: Hits): boolean {
  const words = sought
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  if (words.length === 0 || hits.has(session.id)) return true;
  const { title, agent, id, waiting, error, result } = session;
  const text = [title, agent, id, waiting?.detail, error?.message, resultText(result)].join('\n').toLowerCase();
  return words.every((word) => text.includes(word));
}

export function resultText(result: Session['result']): string | undefined {
  return isJsonObject(result) && typeof result.text === 'string' ? result.text : undefined;
}

/** Who has waited longest for a person comes first. */
function longestFirst(a: Session, b: Session): number {
  return compare(a.waiting?.since ?? activeAtOf(a), b.waiting?.since ?? activeAtOf(b)) || compare(a.id, b.id);
}

function by(sort: SortName): (a: Session, b: Session) => number {
  return (a, b) =>
    (sort === 'activity' ? compare(activeAtOf(b), activeAtOf(a)) : compare(b.createdAt, a.createdAt)) ||
    compare(a.id, b.id);
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
