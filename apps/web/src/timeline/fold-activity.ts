import type { Json } from '@concerto/base';
import { isJsonObject } from '../json/json-object.ts';
import { lineOf } from '../json/line-of.ts';
import { appended, lastItem, push, replaceLast, type TimelineDraft } from './timeline-draft.ts';
import type { ActivityEntry, EventOf } from './timeline-state.ts';

/** An activity that grows beyond this is continued in another, so that no single one becomes too large to show. */
export const activityEntriesMax = 500;

export function foldProgress(draft: TimelineDraft, event: { seq: number; at: string }, message: string): void {
  draft.progress = { message, percent: undefined };
  addEntry(draft, { kind: 'progress', seq: event.seq, at: event.at, message, percent: undefined, data: undefined });
}

export function foldNote(draft: TimelineDraft, event: EventOf<'subagentAddJson'>): void {
  const { seq, at, title, data } = event;
  if (title !== 'progress') return addEntry(draft, { kind: 'note', seq, at, title, data });
  const message = stepText(data);
  const percent = numberMember(data, 'percent');
  draft.progress = { message, percent };
  const entry: ActivityEntry = { kind: 'progress', seq, at, message, percent, data };
  // The status line that came before it says the same: the two are one step.
  if (!enrichLast(draft, entry)) addEntry(draft, entry);
}

function enrichLast(draft: TimelineDraft, entry: Extract<ActivityEntry, { kind: 'progress' }>): boolean {
  const item = lastItem(draft);
  const last = item?.kind === 'activity' ? item.entries.at(-1) : undefined;
  if (item?.kind !== 'activity' || last?.kind !== 'progress') return false;
  if (last.data !== undefined || last.message !== entry.message) return false;
  replaceLast(draft, { ...item, entries: [...item.entries.slice(0, -1), entry] });
  return true;
}

function addEntry(draft: TimelineDraft, entry: ActivityEntry): void {
  const item = lastItem(draft);
  const steps = entry.kind === 'progress' ? 1 : 0;
  if (item?.kind === 'activity' && item.turn === draft.turn && item.entries.length < activityEntriesMax) {
    const entries = appended(draft, item.entries, entry);
    return replaceLast(draft, { ...item, entries, steps: item.steps + steps });
  }
  const { seq: key, at } = entry;
  push(draft, { kind: 'activity', key, at, turn: draft.turn, entries: [entry], steps });
}

/** A step in words: the agent's own, or all that was said with it. A program may emit a bare text, which comes as `value`. */
function stepText(data: Json): string {
  if (typeof data === 'string') return data;
  return textMember(data, 'message') ?? textMember(data, 'text') ?? textMember(data, 'value') ?? lineOf(data);
}

function textMember(data: Json, key: string): string | undefined {
  const value = member(data, key);
  return typeof value === 'string' ? value : undefined;
}

function numberMember(data: Json, key: string): number | undefined {
  const value = member(data, key);
  return typeof value === 'number' ? value : undefined;
}

function member(data: Json, key: string): Json | undefined {
  return isJsonObject(data) ? data[key] : undefined;
}
