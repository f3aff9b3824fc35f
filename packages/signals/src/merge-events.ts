import type { MergedEvent, SignalEvent } from './events.ts';

export type EventMerger = {
  push(event: SignalEvent): void;
  /** Hands out the block still open. */
  finish(): void;
};

type Text = Extract<MergedEvent, { type: 'think' | 'respond' | 'system' }>;

/**
 * Joins the pieces of each block into one event as soon as the block is over. A parser never mixes the pieces of two
 * blocks, and a turn never ends in a piece, so the events of several turns may follow each other.
 */
export function createEventMerger(onEvent: (event: MergedEvent) => void): EventMerger {
  let open: Text | undefined;
  let block = -1;
  const finish = (): void => {
    if (open !== undefined) onEvent(open);
    open = undefined;
  };
  const push = (event: SignalEvent): void => {
    if (event.type === 'think' || event.type === 'respond' || event.type === 'system') {
      if (open !== undefined && event.block === block) {
        open.content += event.content;
        return;
      }
      finish();
      block = event.block;
      const { type, content } = event;
      open =
        event.type === 'respond' && event.implicit ? { type: 'respond', content, implicit: true } : { type, content };
      return;
    }
    finish();
    onEvent(withoutDetail(event));
  };
  return { push, finish };
}

/** The events of a turn as they are however it was cut into pieces. */
export function mergeEvents(events: Iterable<SignalEvent>): MergedEvent[] {
  const merged: MergedEvent[] = [];
  const merger = createEventMerger((event) => merged.push(event));
  for (const event of events) merger.push(event);
  merger.finish();
  return merged;
}

function withoutDetail(event: Exclude<SignalEvent, { type: 'think' | 'respond' | 'system' }>): MergedEvent {
  switch (event.type) {
    case 'calls':
      return { type: 'calls', content: event.content, calls: event.calls };
    case 'call':
      return { type: 'call', index: event.index, call: event.call };
    case 'error':
      return { type: 'error', code: event.code };
    case 'execute':
    case 'end':
      return { type: event.type, content: event.content };
  }
}
