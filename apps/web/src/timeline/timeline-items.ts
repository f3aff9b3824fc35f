import type { Json } from '@concerto/base';
import {
  type BudgetEntry,
  type Entry,
  finalStatuses,
  type GapEntry,
  type LlmContent,
  type NoteEntry,
  type RawEntry,
  type RequestEntry,
  type StatusEntry,
  type SteerEntry,
  type TextEntry,
  type Tool,
  type Turn,
  type UsageSum,
} from '@concerto/protocol';
import { isJsonObject } from '../json/json-object.ts';

type Common = { readonly key: number; readonly at: string };

export type PromptItem = Common & { readonly kind: 'prompt'; readonly number: number; readonly content: LlmContent };
/** What the agent did between two things it said. */
export type ActivityItem = Common & { readonly kind: 'activity'; readonly notes: readonly NoteEntry[] };
/** The last thing that was said in a turn that is over. */
export type ResultItem = Common & {
  readonly kind: 'result';
  readonly number: number;
  readonly entry: TextEntry | undefined;
  /** What the agent reported beside the text. */
  readonly fields: Readonly<Record<string, Json>>;
  readonly usage: UsageSum;
  readonly tookMs: number;
};
export type FailureItem = Common & { readonly kind: 'error'; readonly message: string };

export type TimelineItem =
  | PromptItem
  | ActivityItem
  | ResultItem
  | FailureItem
  | TextEntry
  | SteerEntry
  | Tool
  | RequestEntry
  | StatusEntry
  | BudgetEntry
  | GapEntry
  | RawEntry;

/** An activity that grows beyond this is continued in another, so that no single one becomes too large to show. */
export const activityNotesMax = 500;

const activitiesMax = 10_000;

/**
 * What the timeline shows of a session's turns, in order. A turn that has not changed gives the items that it gave
 * before, and so does an activity: what stands is not drawn again.
 */
export class TimelineItems {
  readonly #ofTurn = new WeakMap<Turn, readonly TimelineItem[]>();
  readonly #activities = new Map<number, ActivityItem>();

  of(turns: readonly Turn[]): readonly TimelineItem[] {
    // Those that were let go are forgotten here too; those that stand are drawn once more.
    if (this.#activities.size > activitiesMax) this.#activities.clear();
    return turns.flatMap((turn, index) => {
      const known = this.#ofTurn.get(turn) ?? this.#items(turn);
      this.#ofTurn.set(turn, known);
      // The prompt of a turn whose beginning is shown too stands there.
      return index > 0 && turn.isCut && known[0]?.kind === 'prompt' ? known.slice(1) : known;
    });
  }

  #items(turn: Turn): readonly TimelineItem[] {
    const { key, at, number, objective, entries } = turn;
    const items: TimelineItem[] = [];
    if (objective !== undefined) items.push({ kind: 'prompt', key, at, number, content: objective });
    const result = resultOf(turn);
    const hasFailure = entries.some((entry) => entry.kind === 'error');
    let notes: NoteEntry[] = [];
    const endNotes = (): void => {
      if (notes.length > 0) items.push(this.#activity(notes));
      notes = [];
    };
    for (const entry of entries) {
      if (entry.kind === 'note') {
        if (isToldByCall(entry)) continue;
        if (notes.length === activityNotesMax) endNotes();
        notes.push(entry);
        continue;
      }
      const item = entry === result?.entry ? result : itemOf(entry, hasFailure || isFailed(turn));
      if (item === undefined) continue;
      endNotes();
      items.push(item);
    }
    endNotes();
    if (result !== undefined && result.entry === undefined) items.push(result);
    if (!hasFailure && isFailed(turn) && turn.reason !== undefined) {
      items.push({ kind: 'error', key: key + 0.5, at: turn.endedAt ?? at, message: turn.reason });
    }
    return items;
  }

  #activity(notes: readonly NoteEntry[]): ActivityItem {
    const [first] = notes;
    const key = first?.key ?? 0;
    const before = this.#activities.get(key);
    if (before?.notes.length === notes.length) return before;
    const item: ActivityItem = { kind: 'activity', key, at: first?.at ?? '', notes };
    this.#activities.set(key, item);
    return item;
  }
}

/** That a program begins to listen and has heard the end: the call of its agent stands there, and says how it went. */
function isToldByCall({ title }: NoteEntry): boolean {
  return title === 'listen:start' || title === 'listen:complete';
}

/** Undefined for what is no news to a person. A reason that an error above has told is not told again. */
function itemOf(entry: Exclude<Entry, NoteEntry>, isReasonTold: boolean): TimelineItem | undefined {
  // What it asks at the end of its budget stands beside this, with the figures.
  if (entry.kind === 'budget') return entry.level === 'reached' ? undefined : entry;
  if (entry.kind !== 'status') return entry;
  const { status, previous } = entry;
  const isEnd = finalStatuses.includes(status);
  const isResumed = previous === 'resuming' && status !== 'interrupted' && !isEnd;
  if (!isEnd && !isResumed && status !== 'paused' && status !== 'interrupted') return undefined;
  return isReasonTold ? { ...entry, reason: undefined } : entry;
}

/** Whether the turn ended with an error; older logs say so only by its reason, and some never told the end. */
export function isFailed({ state, reason }: Turn): boolean {
  if (state === 'failed' || state === 'lost') return true;
  return (state === 'over' || state === 'running') && reason !== undefined;
}

function resultOf(turn: Turn): ResultItem | undefined {
  const { state, entries, result, number, usage, endedAt, at } = turn;
  if ((state !== 'done' && state !== 'over') || isFailed(turn) || endedAt === undefined) return undefined;
  const entry = entries.findLast((candidate) => candidate.kind === 'text');
  const isText = entry?.kind === 'text' ? entry : undefined;
  const fields = reportedFields(result);
  if (isText === undefined && Object.keys(fields).length === 0) return undefined;
  // One without words is the very fields that would stand beside it.
  const shownFields = isText !== undefined && isText.text === '' ? {} : fields;
  const tookMs = Date.parse(endedAt) - Date.parse(at);
  const key = isText?.key ?? turn.key + 0.25;
  return { kind: 'result', key, at: endedAt, number, entry: isText, fields: shownFields, usage, tookMs };
}

/** All that an agent reports with its result, beside the text that comes as content. */
function reportedFields(content: LlmContent | undefined): Readonly<Record<string, Json>> {
  const part = content?.parts[0];
  const given: unknown = part !== undefined && 'functionResponse' in part ? part.functionResponse : undefined;
  const response = isJsonObject(given) ? given.response : undefined;
  if (!isJsonObject(response)) return {};
  return Object.fromEntries(Object.entries(response).filter(([name]) => name !== 'text'));
}
