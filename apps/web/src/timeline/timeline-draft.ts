import type { TimelineItem, TimelineState } from './timeline-state.ts';

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/** A timeline that is being folded: its own copies of what grows, so that a batch costs one copy and not one an event. */
export type TimelineDraft = Mutable<Omit<TimelineState, 'items' | 'requests' | 'tools' | 'steered'>> & {
  readonly items: TimelineItem[];
  readonly requests: Map<string, number>;
  readonly tools: Map<string, number>;
  readonly steered: Set<string>;
  /** Lists that were made in this batch: only they may be changed in place. */
  readonly fresh: WeakSet<object>;
};

export function draftOf(state: TimelineState): TimelineDraft {
  return {
    ...state,
    items: [...state.items],
    requests: new Map(state.requests),
    tools: new Map(state.tools),
    steered: new Set(state.steered),
    fresh: new WeakSet(),
  };
}

export function timelineOf(draft: TimelineDraft): TimelineState {
  const { fresh: _fresh, ...state } = draft;
  return state;
}

/** Adds to a list, in place when the list was made in this batch. */
export function appended<T>(draft: TimelineDraft, list: readonly T[], value: T): readonly T[] {
  if (draft.fresh.has(list)) {
    ownList<T>(list).push(value);
    return list;
  }
  const copy = [...list, value];
  draft.fresh.add(copy);
  return copy;
}

function ownList<T>(list: readonly T[]): T[] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- made by `appended`, which makes mutable lists
  return list as T[];
}

export function push(draft: TimelineDraft, item: TimelineItem): void {
  draft.items.push(item);
}

export function replaceLast(draft: TimelineDraft, item: TimelineItem): void {
  draft.items[draft.items.length - 1] = item;
}

export function lastItem(draft: TimelineDraft): TimelineItem | undefined {
  return draft.items.at(-1);
}
