import { type FoldedEvent, type PublicEvent, SessionFold, textContent } from '@concerto/protocol';
import { describe, expect, test } from 'vitest';
import { activityNotesMax, isFailed, type TimelineItem, TimelineItems } from './timeline-items.ts';

const at = '2026-11-16T00:00:00.000Z';
const start: PublicEvent = { type: 'start', objective: textContent('do it', 'user') };
const turnCall: PublicEvent = { type: 'functionCall', callId: 'turn-1', name: 'a', args: {}, isTurn: true };
const note = (title: string, message: string): PublicEvent => ({
  type: 'subagentAddJson',
  callId: 'turn-1',
  title,
  data: { message },
});
const said = (text: string, messageId: string): PublicEvent => ({
  type: 'content',
  content: textContent(text),
  messageId,
});
const done: PublicEvent = { type: 'turnComplete', outcome: 'done' };

function folded(...events: readonly PublicEvent[]): SessionFold {
  return new SessionFold().takeAll(events.map((event, index): FoldedEvent => ({ ...event, at, seq: index + 1 })));
}

function itemsOf(...events: readonly PublicEvent[]): readonly TimelineItem[] {
  return new TimelineItems().of(folded(...events).view.turns);
}

const kinds = (items: readonly TimelineItem[]): readonly string[] => items.map(({ kind }) => kind);

describe('what the timeline shows', () => {
  test('the last words of a turn that is done are its result; of one that runs they are words', () => {
    const events = [start, turnCall, said('first', 'm1'), note('progress', 'step'), said('last', 'm2')];
    expect(kinds(itemsOf(...events))).toEqual(['prompt', 'text', 'activity', 'text']);
    expect(kinds(itemsOf(...events, done))).toEqual(['prompt', 'text', 'activity', 'result']);
  });

  test('fields that come with the result stand beside its text, and alone where there is none', () => {
    const result: PublicEvent = {
      type: 'functionResult',
      callId: 'turn-1',
      content: { parts: [{ functionResponse: { name: 'a', response: { text: 'ok', files: 3 } } }] },
    };
    expect(itemsOf(start, turnCall, result, said('ok', 'm'), done).at(-1)).toMatchObject({ fields: { files: 3 } });
    expect(itemsOf(start, turnCall, result, done).at(-1)).toMatchObject({ kind: 'result', fields: { files: 3 } });
  });

  test('notes that follow each other are one activity, up to a size, and the same object while it stands', () => {
    const notes = Array.from({ length: activityNotesMax + 1 }, (_, n) => note('log', String(n)));
    expect(kinds(itemsOf(start, turnCall, ...notes))).toEqual(['prompt', 'activity', 'activity']);
    const fold = folded(start, turnCall, note('log', 'a'), said('b', 'm1'));
    const items = new TimelineItems();
    const before = items.of(fold.view.turns);
    fold.take({ ...said('c', 'm1'), at, seq: 99 });
    const after = items.of(fold.view.turns);
    expect(after[1]).toBe(before[1]);
    expect(after[2]).not.toBe(before[2]);
  });

  test('that a program begins to listen and has heard the end is told by the call of its agent', () => {
    const events = [note('listen:start', ''), note('listen:complete', ''), note('listen:overtaken', 'by user:ann')];
    const notes = itemsOf(start, turnCall, ...events).flatMap((item) => (item.kind === 'activity' ? item.notes : []));
    expect(notes.map(({ title }) => title)).toEqual(['listen:overtaken']);
  });

  test('a failure is told once: by its error, else by the turn, never again by the status', () => {
    const failed: PublicEvent = { type: 'turnComplete', outcome: 'failed', reason: 'gone' };
    const status: PublicEvent = { type: 'status', status: 'interrupted', previous: 'running', reason: 'gone' };
    const error: PublicEvent = { type: 'subagentError', callId: 'turn-1', error: { $error: 'gone' } };
    const untold = itemsOf(start, turnCall, status, failed);
    expect(untold.filter(({ kind }) => kind === 'error')).toHaveLength(1);
    expect(untold[1]).toMatchObject({ kind: 'status', reason: undefined });
    expect(kinds(itemsOf(start, turnCall, error, failed))).toEqual(['prompt', 'error']);
    expect(folded(start, turnCall, failed).view.turns.some(isFailed)).toBe(true);
    expect(folded(start, turnCall, done).view.turns.some(isFailed)).toBe(false);
  });

  test('only a status that a person should find again becomes a line', () => {
    const statuses = (['queued', 'starting', 'running', 'paused', 'resuming', 'cancelled'] as const).map(
      (status): PublicEvent => ({ type: 'status', status }),
    );
    expect(itemsOf(...statuses).map((item) => item.kind === 'status' && item.status)).toEqual(['paused', 'cancelled']);
  });
});
