import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Message, type PublicEvent, textContent } from '../index.ts';
import { SessionFold } from './session-fold.ts';
import type { Entry, FoldedEvent, SessionView, Tool } from './session-view.ts';

const at = '2026-11-16T00:00:00.000Z';

function stored(events: readonly PublicEvent[]): FoldedEvent[] {
  return events.map((event, index) => ({ ...event, at, seq: index + 1 }));
}

function viewOf(...events: readonly PublicEvent[]): SessionView {
  return new SessionFold().takeAll(stored(events)).view;
}

const start = (text: string): PublicEvent => ({ type: 'start', objective: textContent(text, 'user') });
const turnCall: PublicEvent = { type: 'functionCall', callId: 'turn-1', name: 'echo', args: {}, isTurn: true };
const piece = (text: string, messageId?: string): PublicEvent => ({
  type: 'content',
  content: textContent(text),
  ...(messageId === undefined ? {} : { messageId }),
});
const whole = (text: string, messageId: string): PublicEvent => ({
  type: 'content',
  content: textContent(text),
  messageId,
  whole: true,
});
const call = (callId: string, more: object = {}): PublicEvent => ({
  type: 'functionCall',
  callId,
  name: 'Bash',
  args: { command: 'ls' },
  ...more,
});
const result = (callId: string, text = 'done', more: object = {}): PublicEvent => ({
  type: 'functionResult',
  callId,
  content: { role: 'user', parts: [{ functionResponse: { name: 'Bash', response: { result: text } } }] },
  ...more,
});

function entries(view: SessionView): readonly Entry[] {
  return view.turns.flatMap((turn) => turn.entries);
}

function tools(view: SessionView): readonly Tool[] {
  return entries(view).filter((entry) => entry.kind === 'tool');
}

function texts(view: SessionView): readonly string[] {
  return entries(view).flatMap((entry) => (entry.kind === 'text' ? [entry.text] : []));
}

describe('messages', () => {
  test('pieces of one message are one text; a whole text replaces them; another id is another message', () => {
    const view = viewOf(start('x'), piece('one ', 'm1'), piece('two', 'm1'), piece('three', 'm2'), whole('ONE', 'm1'));
    expect(texts(view)).toEqual(['ONE', 'three']);
  });

  test('equal texts of two messages are two texts: nothing is found out by comparing', () => {
    expect(texts(viewOf(start('x'), piece('done', 'm1'), whole('done', 'm2')))).toEqual(['done', 'done']);
  });

  test('an id that is used again in the next turn is another message', () => {
    const view = viewOf(
      start('x'),
      piece('a', 'm1'),
      { type: 'turnComplete', outcome: 'done' },
      start('y'),
      piece('b', 'm1'),
    );
    expect(view.turns.map(({ entries: [entry] }) => entry?.kind === 'text' && entry.text)).toEqual(['a', 'b']);
  });

  test('without ids, as older logs have it, what comes together is together', () => {
    expect(texts(viewOf(start('x'), piece('a'), piece('b'), call('c1'), result('c1'), piece('c')))).toEqual([
      'ab',
      'c',
    ]);
  });

  test('thoughts stand beside the text of their message', () => {
    const view = viewOf(start('x'), { type: 'thought', text: 'hm', messageId: 'm1' }, piece('a', 'm1'));
    expect(entries(view)).toMatchObject([
      { kind: 'thought', text: 'hm', messageId: 'm1' },
      { kind: 'text', text: 'a', messageId: 'm1' },
    ]);
  });

  test('pictures and data are kept beside the text', () => {
    const picture = { inlineData: { mimeType: 'image/png', data: 'AA==' } };
    const view = viewOf(start('x'), {
      type: 'content',
      content: { parts: [{ text: 'see ' }, picture] },
      messageId: 'm',
    });
    expect(entries(view)).toMatchObject([{ text: 'see ', parts: [picture] }]);
  });
});

describe('calls', () => {
  test('the turn itself is no tool', () => {
    const view = viewOf(start('x'), turnCall, call('c1'), result('c1'), result('turn-1', 'all'));
    expect(tools(view).map(({ callId }) => callId)).toEqual(['c1']);
    expect(view.turns[0]).toMatchObject({ agent: 'echo', callId: 'turn-1', result: { role: 'user' } });
  });

  test('how it ended is what its result says, else what was said before it', () => {
    const error: PublicEvent = { type: 'subagentError', callId: 'c1', error: { $error: 'boom' } };
    expect(tools(viewOf(start('x'), call('c1'), result('c1', 'no', { outcome: 'denied' })))[0]?.state).toBe('denied');
    expect(tools(viewOf(start('x'), call('c1'), error, result('c1')))[0]).toMatchObject({
      state: 'failed',
      error: 'boom',
    });
    expect(tools(viewOf(start('x'), call('c1')))[0]?.state).toBe('running');
  });

  test('of two results the first counts', () => {
    const view = viewOf(
      start('x'),
      call('c1'),
      result('c1', 'a', { outcome: 'ok' }),
      result('c1', 'b', { outcome: 'failed' }),
    );
    expect(tools(view)).toMatchObject([
      { state: 'ok', result: { parts: [{ functionResponse: { response: { result: 'a' } } }] } },
    ]);
  });

  test('a budget that comes near its end stands where it did, and the view has it as it is now', () => {
    const budget = { limits: { tokens: 100 }, spent: { tokens: 85 }, left: { tokens: 15 } };
    const view = viewOf(start('x'), { type: 'budget', level: 'near', what: ['tokens'], ...budget });
    expect(entries(view)).toMatchObject([{ kind: 'budget', level: 'near', what: ['tokens'], budget }]);
    expect(view.budget).toEqual(budget);
  });

  test('a result without its call is shown as it is', () => {
    expect(entries(viewOf(start('x'), result('nobody')))).toMatchObject([
      { kind: 'raw', title: expect.stringContaining('nobody') },
    ]);
  });

  test('a turn that ends leaves none running', () => {
    const view = viewOf(start('x'), call('c1'), call('c2', { parentCallId: 'c1' }), {
      type: 'turnComplete',
      outcome: 'lost',
    });
    expect(tools(view)).toMatchObject([{ state: 'cancelled', calls: [{ state: 'cancelled' }] }]);
  });

  test('nor one of a sub-agent that an earlier turn had started', () => {
    const background = [start('x'), call('c1'), start('y'), call('c2', { parentCallId: 'c1' })];
    expect(tools(viewOf(...background))).toMatchObject([{ calls: [{ callId: 'c2', state: 'running' }] }]);
    const over = viewOf(...background, { type: 'turnComplete', outcome: 'done' });
    expect(tools(over)).toMatchObject([{ calls: [{ callId: 'c2', state: 'cancelled' }] }]);
  });

  test('the calls of a sub-agent stand under its own, however deep', () => {
    const view = viewOf(
      start('x'),
      call('c1'),
      call('c2', { parentCallId: 'c1' }),
      call('c3', { parentCallId: 'c2' }),
      { type: 'toolOutput', callId: 'c3', text: 'deep' },
      result('c3'),
    );
    expect(tools(view)).toMatchObject([
      { calls: [{ callId: 'c2', calls: [{ callId: 'c3', output: 'deep', state: 'ok' }] }] },
    ]);
  });

  test('changes and locations told later replace those told before', () => {
    const change = { path: 'a', kind: 'edit' as const, patch: '', added: 1, removed: 0 };
    const update: PublicEvent = { type: 'functionCallUpdate', callId: 'c1', status: 'editing', changes: [change] };
    const running = viewOf(start('x'), call('c1', { locations: [{ path: 'a' }] }), update);
    expect(tools(running)).toMatchObject([{ status: 'editing', changes: [change], locations: [{ path: 'a' }] }]);
    const done = viewOf(start('x'), call('c1'), update, result('c1', 'ok', { changes: [] }));
    expect(tools(done)).toMatchObject([{ status: undefined, changes: [] }]);
  });

  test('what a call was given is what was told of it last', () => {
    const given: PublicEvent = {
      type: 'functionCallUpdate',
      callId: 'c1',
      status: null,
      extra: { args: { command: 'pwd' } },
    };
    const busy: PublicEvent = { type: 'functionCallUpdate', callId: 'c1', status: 'busy', extra: { args: 'odd' } };
    expect(tools(viewOf(start('x'), call('c1'), given, busy))).toMatchObject([
      { args: { command: 'pwd' }, status: 'busy' },
    ]);
  });

  test('of an output without end the end is kept', () => {
    const fold = new SessionFold().takeAll(stored([start('x'), call('c1')]));
    for (let seq = 3; seq < 1_500; seq++)
      fold.take({ type: 'toolOutput', callId: 'c1', text: `${seq} `.repeat(200), at, seq });
    const { output } = tools(fold.view)[0] ?? { output: '' };
    expect(output.length).toBeLessThan(600_000);
    expect(output.endsWith('1499 ')).toBe(true);
  });
});

describe('steers, requests, queue, plan, usage', () => {
  const steer = (status: Message['status'], more: object = {}): PublicEvent => ({
    type: 'message',
    message: { id: 'q1', content: 'blue', priority: 'immediate', status, source: 'user', createdAt: at, ...more },
    version: 1,
  });
  const heard: PublicEvent = { type: 'content', content: textContent('blue', 'user'), messageId: 'q1' };

  test('a steer stands where it was handed over, and from then on where it was heard', () => {
    const before = [
      start('x'),
      piece('one', 'm1'),
      steer('delivered', { how: 'steer' }),
      piece(' more', 'm1'),
      call('c1'),
    ];
    const kinds = (view: SessionView) => entries(view).map(({ kind }) => kind);
    expect(kinds(viewOf(...before))).toEqual(['text', 'steer', 'tool']);
    const view = viewOf(...before, heard, piece('two', 'm2'));
    expect(kinds(view)).toEqual(['text', 'tool', 'steer', 'text']);
    expect(entries(view)[2]).toMatchObject({ messageId: 'q1', isHeard: true });
  });

  test('a request is open until it is settled, and tells who is asked', () => {
    const ask: PublicEvent = { type: 'waitForInput', requestId: 'r1', prompt: textContent('?'), inputType: 'text' };
    const routed: PublicEvent = { type: 'requestRouted', requestId: 'r1', to: 'person' };
    const settled: PublicEvent = {
      type: 'requestSettled',
      requestId: 'r1',
      outcome: 'answered',
      by: 'user',
      response: 'x',
    };
    expect(viewOf(start('x'), ask, routed).requests).toMatchObject([{ requestId: 'r1', routed: [{ to: 'person' }] }]);
    const view = viewOf(start('x'), ask, routed, settled, { ...settled, by: 'other' });
    expect(view.requests).toEqual([]);
    expect(entries(view)).toMatchObject([
      { kind: 'request', settled: { outcome: 'answered', by: 'user', response: 'x' } },
    ]);
  });

  test('the queue: Immediate first, edits in place, promoted to the end of the lane, order as told', () => {
    const queued = (id: string, more: object = {}): PublicEvent => {
      const message = {
        id,
        content: id,
        priority: 'queued',
        status: 'pending',
        source: 'user',
        createdAt: at,
        ...more,
      };
      return { type: 'message', message, version: 2 } as PublicEvent;
    };
    const ids = (...events: PublicEvent[]) => viewOf(...events).queue.pending.map(({ content }) => content);
    expect(ids(queued('a'), queued('b'), queued('c', { priority: 'immediate' }))).toEqual(['c', 'a', 'b']);
    expect(ids(queued('a'), queued('b'), queued('a', { content: 'A' }))).toEqual(['A', 'b']);
    expect(ids(queued('a'), queued('b'), queued('b', { priority: 'immediate' }))).toEqual(['b', 'a']);
    expect(ids(queued('a'), queued('b'), { ...queued('b'), order: ['b', 'a'] } as PublicEvent)).toEqual(['b', 'a']);
    expect(ids(queued('a'), queued('b'), queued('a', { status: 'cancelled' }))).toEqual(['b']);
  });

  test('usage adds up, by turn and by model; the sum of an older log stands', () => {
    const used = (more: object): PublicEvent => ({ type: 'usage', inputTokens: 1, outputTokens: 2, ...more });
    const view = viewOf(
      start('x'),
      used({ turn: 1, model: 'a' }),
      used({ turn: 1, model: 'a' }),
      start('y'),
      used({ turn: 2 }),
    );
    expect(view.usage.total).toEqual({ inputTokens: 3, outputTokens: 6 });
    expect(view.usage.byModel.get('a')).toEqual({ inputTokens: 2, outputTokens: 4 });
    expect(view.turns.map(({ usage }) => usage.total.inputTokens)).toEqual([2, 1]);
    expect(viewOf(start('x'), used({}), used({ inputTokens: 9 })).usage.total.inputTokens).toBe(9);
  });

  test('plan, agent and window are as last told', () => {
    const view = viewOf(
      { type: 'agentInfo', model: 'a', modes: [{ id: 'plan' }] },
      { type: 'agentInfo', model: 'b' },
      { type: 'plan', entries: [{ content: 'Read', status: 'pending' }] },
      { type: 'plan', entries: [{ content: 'Read', status: 'completed' }] },
      { type: 'usage', inputTokens: 0, outputTokens: 0, turn: 0, context: { used: 5, size: 10 } },
    );
    expect(view.agent).toEqual({ model: 'b', modes: [{ id: 'plan' }] });
    expect(view.plan).toEqual([{ content: 'Read', status: 'completed' }]);
    expect(view.context).toEqual({ used: 5, size: 10 });
  });

  test('a turn tells how and why it ended', () => {
    const view = viewOf(start('x'), { type: 'turnComplete', outcome: 'lost', reason: 'the agent exited' });
    expect(view.turns).toMatchObject([{ number: 1, state: 'lost', reason: 'the agent exited', endedAt: at }]);
  });
});

const someId = fc.constantFrom('a', 'b', 'c');
const someText = fc.constantFrom('x', 'yes ', 'x');
const anyEvent: fc.Arbitrary<PublicEvent> = fc.oneof(
  fc.constant(start('go')),
  fc.constant(turnCall),
  fc.tuple(someText, fc.option(someId, { nil: undefined })).map(([text, id]) => piece(text, id)),
  fc.tuple(someText, someId).map(([text, id]) => whole(text, id)),
  someId.map((messageId): PublicEvent => ({ type: 'content', content: textContent('hey', 'user'), messageId })),
  fc.tuple(someText, someId).map(([text, messageId]): PublicEvent => ({ type: 'thought', text, messageId })),
  fc
    .tuple(someId, fc.option(someId, { nil: undefined }))
    .map(([id, parent]) => call(id, parent === undefined || parent === id ? {} : { parentCallId: parent })),
  someId.map((id) => result(id)),
  someId.map((callId): PublicEvent => ({ type: 'toolOutput', callId, text: 'out' })),
  someId.map((callId): PublicEvent => ({ type: 'functionCallUpdate', callId, status: 'busy' })),
  someId.map((callId): PublicEvent => ({ type: 'subagentError', callId, error: { $error: 'boom' } })),
  someId.map((requestId): PublicEvent => ({ type: 'readGraph', requestId })),
  someId.map((requestId): PublicEvent => ({ type: 'requestSettled', requestId, outcome: 'answered' })),
  fc.constant<PublicEvent>({ type: 'turnComplete', outcome: 'done' }),
  fc.constant<PublicEvent>({ type: 'status', status: 'idle' }),
);
const anyLog = fc.array(anyEvent, { maxLength: 60 }).map(stored);

describe('whatever the events', () => {
  test('looking in between changes nothing, and what was seen stays as it was', () => {
    fc.assert(
      fc.property(anyLog, (log) => {
        const looked = new SessionFold();
        const seen: [SessionView, string][] = [];
        for (const event of log) {
          looked.take(event);
          seen.push([looked.view, JSON.stringify(looked.view)]);
        }
        expect(looked.view).toEqual(new SessionFold().takeAll(log).view);
        for (const [view, text] of seen) expect(JSON.stringify(view)).toBe(text);
      }),
    );
  });

  test('what an event does not touch is the same object', () => {
    fc.assert(
      fc.property(anyLog, (log) => {
        const fold = new SessionFold();
        let before = new Map<number, Entry>();
        for (const event of log) {
          const touched = fold.take(event);
          const now = new Map(entries(fold.view).map((entry) => [entry.key, entry]));
          const isEnd = event.type === 'start' || event.type === 'turnComplete';
          // The parents of a nested call are made anew with it.
          const replaced = [...now].filter(([key, entry]) => {
            const old = before.get(key);
            const holds = entry.kind === 'tool' && entry.calls.length > 0;
            return old !== undefined && old !== entry && key !== touched && !isEnd && !holds;
          });
          expect(replaced).toEqual([]);
          before = now;
        }
      }),
    );
  });

  test('events that were taken before change nothing', () => {
    fc.assert(
      fc.property(anyLog, fc.nat(), (log, cut) => {
        const fold = new SessionFold().takeAll(log);
        const { view } = fold;
        fold.takeAll(log.slice(cut % (log.length + 1)));
        expect(fold.view).toBe(view);
      }),
    );
  });

  test('the text of a message is its last whole, else its pieces joined', () => {
    fc.assert(
      fc.property(anyLog, (log) => {
        const expected: string[] = [];
        let messages = new Map<string, string>();
        const close = (): void => void expected.push(...messages.values());
        for (const event of log) {
          if (event.type === 'start') {
            close();
            messages = new Map();
          }
          if (event.type !== 'content' || event.content.role === 'user' || event.messageId === undefined) continue;
          const [part] = event.content.parts;
          const text = part !== undefined && 'text' in part ? String(part.text) : '';
          const before = event.whole === true ? '' : (messages.get(event.messageId) ?? '');
          messages.set(event.messageId, before + text);
        }
        close();
        const found = entries(new SessionFold().takeAll(log).view);
        const named = found.flatMap((entry) =>
          entry.kind === 'text' && entry.messageId !== undefined ? [entry.text] : [],
        );
        expect(named).toEqual(expected);
      }),
    );
  });

  test('no call is shown twice, and none runs on when the turn that it came in is over', () => {
    const all = (list: readonly Tool[]): readonly Tool[] => list.flatMap((tool) => [tool, ...all(tool.calls)]);
    fc.assert(
      fc.property(anyLog, (log) => {
        const view = new SessionFold().takeAll(log).view;
        const keys = all(tools(view)).map(({ key }) => key);
        expect(new Set(keys).size).toBe(keys.length);
        const ends = log.filter(({ type }) => type === 'start' || type === 'turnComplete');
        const since = ends.findLast(({ type }, at) => type === 'start' || ends[at - 1]?.type === 'start')?.seq ?? 0;
        expect(all(tools(view)).filter(({ state, key }) => state === 'running' && key < since)).toEqual([]);
      }),
    );
  });
});

test('what is let go takes the oldest entries; sums, what is open and where it goes on stay', () => {
  const log: PublicEvent[] = [
    { type: 'start', objective: textContent('one', 'user') },
    { type: 'waitForInput', requestId: 'r1', inputType: 'text', prompt: textContent('Which?') },
    ...Array.from(
      { length: 6 },
      (_, n): PublicEvent => ({
        type: 'content',
        content: textContent(`text ${n}`),
        messageId: `m${n}`,
      }),
    ),
    { type: 'usage', inputTokens: 5, outputTokens: 7 },
    { type: 'turnComplete', outcome: 'done' },
    { type: 'start', objective: textContent('two', 'user') },
    { type: 'content', content: textContent('last'), messageId: 'm9' },
  ];
  const fold = new SessionFold();
  for (const [index, event] of log.entries()) fold.take({ ...event, at, seq: index + 1 });
  fold.forget(3);
  const [first, second] = fold.view.turns;
  expect(first?.entries.map((entry) => (entry.kind === 'text' ? entry.text : entry.kind))).toEqual([
    'request',
    'text 4',
    'text 5',
  ]);
  expect(first?.isCut).toBe(true);
  expect(second?.entries).toHaveLength(1);
  expect(fold.view).toMatchObject({ forgottenTo: 6, usage: { total: { inputTokens: 5 } }, requests: [{}] });
  fold.take({ type: 'requestSettled', requestId: 'r1', outcome: 'answered', at, seq: 20 });
  expect(fold.view.requests).toEqual([]);
  fold.forget(1);
  expect(fold.view.turns.map(({ number }) => number)).toEqual([2]);
  // A part that begins later goes on counting.
  const part = new SessionFold({ turnsBefore: 4 });
  part.take({ type: 'start', objective: textContent('five', 'user'), at, seq: 100 });
  expect(part.view.turns[0]?.number).toBe(5);
});
