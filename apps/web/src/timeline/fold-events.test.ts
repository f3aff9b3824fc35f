import type { FollowedEvent } from '@concerto/client';
import { textContent } from '@concerto/protocol';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { blocksText } from './blocks.ts';
import { activityEntriesMax } from './fold-activity.ts';
import { foldEvents } from './fold-events.ts';
import { emptyTimeline, type TimelineItem, type TimelineState } from './timeline-state.ts';

type Bare = FollowedEvent extends infer Event ? (Event extends unknown ? Omit<Event, 'seq' | 'at'> : never) : never;

const at = '2026-01-01T00:00:00.000Z';

function numbered(events: readonly Bare[], from = 1): FollowedEvent[] {
  return events.map((event, index) => ({ ...event, seq: from + index, at }) as FollowedEvent);
}

function folded(...events: Bare[]): TimelineState {
  return foldEvents(emptyTimeline, numbered(events));
}

function kinds({ items }: TimelineState): string[] {
  return items.map((item) => item.kind);
}

function textOfItem(item: TimelineItem | undefined): string {
  return item !== undefined && 'blocks' in item ? blocksText(item.blocks) : '';
}

const start = (text: string): Bare => ({ type: 'start', objective: textContent(text, 'user') });
const said = (text: string): Bare => ({ type: 'content', content: textContent(text) });
const call = (callId: string): Bare => ({ type: 'functionCall', callId, name: 'demo', args: {} });
const note = (callId: string, title: string, data: Record<string, string | number>): Bare => ({
  type: 'subagentAddJson',
  callId,
  title,
  data,
});
const result = (callId: string, text: string, fields: Record<string, number> = {}): Bare[] => [
  { type: 'subagentFinish', callId },
  {
    type: 'functionResult',
    callId,
    content: { role: 'user', parts: [{ functionResponse: { name: 'demo', response: { text, ...fields } } }] },
  },
  said(text),
  { type: 'turnComplete' },
];
const question = (requestId: string): Bare => ({
  type: 'waitForInput',
  requestId,
  prompt: textContent('why?'),
  inputType: 'text',
});

test('a turn: the prompt, what was said in one piece, the result once', () => {
  const state = folded(
    start('do it'),
    call('turn-1'),
    said('I am '),
    said('working.'),
    ...result('turn-1', 'Done.', { files: 3 }),
  );
  expect(kinds(state)).toEqual(['prompt', 'content', 'result']);
  expect(state.items.map(textOfItem)).toEqual(['do it', 'I am working.', 'Done.']);
  expect(state.items[2]).toMatchObject({ fields: { files: 3 }, isRepeat: false });
  expect(state).toMatchObject({ turn: 1, isTurnOpen: false });
});

test('a result that was streamed as the last words becomes the result in its place', () => {
  const state = folded(start('x'), call('turn-1'), said('All '), said('done.\n'), ...result('turn-1', 'All done.'));
  expect(kinds(state)).toEqual(['prompt', 'result']);
  expect(textOfItem(state.items[1])).toContain('All done.');
});

test('a result that was streamed in pieces with steps between is only referred to', () => {
  const state = folded(
    start('x'),
    call('turn-1'),
    said('One. '),
    note('turn-1', 'log', { message: 'step' }),
    said('Two.'),
    ...result('turn-1', 'One. Two.'),
  );
  expect(kinds(state)).toEqual(['prompt', 'content', 'activity', 'content', 'result']);
  expect(state.items[4]).toMatchObject({ isRepeat: true });
});

test('the end of a once session does not show the result again', () => {
  const outcomes = textContent('Done.');
  const complete: Bare = { type: 'complete', result: { success: true, href: '', outcomes } };
  const state = folded(start('x'), call('turn-1'), ...result('turn-1', 'Done.'), complete, { type: 'finish' });
  expect(kinds(state)).toEqual(['prompt', 'result']);
  expect(state.isFinished).toBe(true);
  expect(kinds(folded(start('x'), call('turn-1'), complete))).toEqual(['prompt', 'result']);
});

test('progress and its status line are one step, collapsed with the notes around it', () => {
  const state = folded(
    start('x'),
    call('turn-1'),
    { type: 'functionCallUpdate', callId: 'turn-1', status: 'Reading' },
    note('turn-1', 'progress', { message: 'Reading', percent: 5 }),
    note('turn-1', 'log', { level: 'info', message: '42 files' }),
    { type: 'functionCallUpdate', callId: 'turn-1', status: 'Planning' },
    note('turn-1', 'progress', { message: 'Planning', percent: 30 }),
  );
  expect(kinds(state)).toEqual(['prompt', 'activity']);
  expect(state.items[1]).toMatchObject({
    steps: 2,
    entries: [{ message: 'Reading', percent: 5 }, { title: 'log' }, { message: 'Planning', percent: 30 }],
  });
  expect(state.progress).toEqual({ message: 'Planning', percent: 30 });
});

test('an activity does not grow without end', () => {
  const notes = Array.from({ length: activityEntriesMax + 1 }, (_, n) => note('turn-1', 'log', { message: `${n}` }));
  const state = folded(start('x'), call('turn-1'), ...notes);
  expect(kinds(state)).toEqual(['prompt', 'activity', 'activity']);
});

test('the first call of a turn is the agent, the others are its tools and end with their own results', () => {
  const tool: Bare = { type: 'functionCall', callId: 't', name: 'read_file', args: { path: 'a.ts' } };
  const broken: Bare = { type: 'functionCall', callId: 'u', name: 'write_file', args: {} };
  const state = folded(
    start('x'),
    call('turn-1'),
    tool,
    { type: 'functionCallUpdate', callId: 't', status: 'reading' },
    { type: 'functionResult', callId: 't', content: textContent('text of a.ts') },
    broken,
    { type: 'subagentError', callId: 'u', error: { $error: 'disk full' } },
    { type: 'functionResult', callId: 'u', content: textContent('disk full') },
  );
  expect(kinds(state)).toEqual(['prompt', 'tool', 'tool']);
  expect(state.items[1]).toMatchObject({ name: 'read_file', outcome: 'done', status: undefined });
  expect(state.items[2]).toMatchObject({ outcome: 'failed' });
});

test('a request is open until it is settled, by whom or why', () => {
  const asked = folded(start('x'), call('turn-1'), question('q1'), question('q2'));
  expect(asked.open).toEqual(['q1', 'q2']);
  const settled = foldEvents(
    asked,
    numbered(
      [
        { type: 'requestSettled', requestId: 'q1', outcome: 'answered', by: 'user' },
        { type: 'requestSettled', requestId: 'q2', outcome: 'withdrawn', reason: 'the turn was interrupted' },
      ],
      5,
    ),
  );
  expect(settled.open).toEqual([]);
  expect(settled.items[1]).toMatchObject({ settled: { outcome: 'answered', by: 'user' } });
  expect(settled.items[2]).toMatchObject({ settled: { outcome: 'withdrawn', reason: 'the turn was interrupted' } });
  expect(asked.items[1]).toMatchObject({ settled: undefined });
});

test('an error has its stderr apart, and its reason is not told twice', () => {
  const text = 'agent "x" ended with code 134; the end of its stderr:\nfatal: out of memory';
  const state = folded(
    start('x'),
    call('turn-1'),
    { type: 'subagentError', callId: 'turn-1', error: { $error: text } },
    { type: 'status', status: 'failed', previous: 'running', reason: text },
    { type: 'error', message: text },
    { type: 'finish' },
  );
  expect(kinds(state)).toEqual(['prompt', 'error', 'status']);
  expect(state.items[1]).toMatchObject({ message: 'agent "x" ended with code 134', tail: 'fatal: out of memory' });
  expect(state.items[2]).toMatchObject({ status: 'failed', reason: undefined });
});

test('only a status that a person should find again becomes a line', () => {
  const statuses = ['queued', 'starting', 'running', 'pausing', 'paused', 'resuming', 'running', 'idle'] as const;
  const events = statuses.map((status, index): Bare => {
    const previous = statuses[index - 1];
    return { type: 'status', status, ...(previous === undefined ? {} : { previous }) };
  });
  const state = folded(...events);
  expect(state.items.map((item) => item.kind === 'status' && item.status)).toEqual(['paused', 'running']);
  expect(state.status).toBe('idle');
});

test('a message that was steered into the turn is shown once, a queued one by its own turn', () => {
  const message = { id: 'm1', content: 'use tabs', priority: 'immediate', source: 'user', createdAt: at } as const;
  const delivered: Bare = { type: 'message', message: { ...message, status: 'delivered', how: 'steer' } };
  const state = folded(
    start('x'),
    call('turn-1'),
    { type: 'message', message: { ...message, status: 'pending', inFlight: true } },
    delivered,
    delivered,
  );
  expect(state.items).toMatchObject([
    { kind: 'prompt', how: 'prompt' },
    { kind: 'prompt', how: 'steer' },
  ]);
  expect(state.queueRevision).toBe(5);
});

test('what is newer than this page, or was trimmed, is shown as it came', () => {
  const state = folded(
    { type: 'unknown', raw: { type: 'hologram', seq: 1, at } },
    { type: 'gap', from: 1, to: 900 },
    { type: 'usage', inputTokens: 5, outputTokens: 7 },
  );
  expect(kinds(state)).toEqual(['raw', 'gap']);
  expect(state.usage).toEqual({ inputTokens: 5, outputTokens: 7 });
});

test('events that are already in the timeline change nothing', () => {
  const events = numbered([start('x'), call('turn-1'), said('a')]);
  const once = foldEvents(emptyTimeline, events);
  expect(foldEvents(once, events)).toEqual(once);
});

const anyEvent: fc.Arbitrary<Bare> = fc.oneof(
  fc.string().map(start),
  fc.string().map(said),
  fc.constantFrom('turn-1', 't1', 't2').map(call),
  fc.string().map((text): Bare => ({ type: 'functionCallUpdate', callId: 'turn-1', status: text })),
  fc
    .tuple(fc.constantFrom('progress', 'log', 'diff'), fc.string())
    .map(([title, text]) => note('turn-1', title, { message: text })),
  fc.constantFrom('q1', 'q2', 'q3').map(question),
  fc
    .constantFrom('q1', 'q2', 'q3')
    .map((requestId): Bare => ({ type: 'requestSettled', requestId, outcome: 'answered', by: 'user' })),
  fc.constantFrom('t1', 't2').map((callId): Bare => ({ type: 'functionResult', callId, content: textContent('r') })),
  fc.string().map((text): Bare => ({ type: 'subagentError', callId: 'turn-1', error: { $error: text } })),
  fc.constant<Bare>({ type: 'turnComplete' }),
);

test('however the events are cut into batches, the timeline is the same, and no batch changes an older one', () => {
  fc.assert(
    fc.property(fc.array(anyEvent, { maxLength: 60 }), fc.array(fc.nat(60), { maxLength: 8 }), (bare, cuts) => {
      const events = numbered(bare);
      const whole = foldEvents(emptyTimeline, events);
      let state = emptyTimeline;
      let from = 0;
      for (const to of [...cuts.sort((a, b) => a - b), events.length]) {
        const before = state;
        const copy = structuredClone(before);
        state = foldEvents(state, events.slice(from, to));
        expect(before).toEqual(copy);
        from = Math.max(from, Math.min(to, events.length));
      }
      expect(state).toEqual(whole);
    }),
    { numRuns: 300 },
  );
});
