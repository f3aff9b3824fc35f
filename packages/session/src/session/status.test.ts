import { describe, expect, test } from 'vitest';
import { everything, Story } from '../../test/story.ts';
import { sessionView, waitingOf } from './view.ts';

describe('status and waiting', () => {
  test('1.2 a new session says what it waits for: a slot, then a runner, then nothing', () => {
    const story = new Story().start({ slot: 'wanted' });
    expect(story.status).toBe('queued');
    expect(waitingOf(story.state)).toMatchObject({ for: 'slot', since: '1970-01-01T00:16:40.000Z' });
    story.tick(5).wish({ type: 'admit' });
    expect(story.status).toBe('queued');
    expect(waitingOf(story.state)).toMatchObject({ for: 'runner' });
    story.claim();
    expect(story.status).toBe('starting');
    expect(waitingOf(story.state)).toBeUndefined();
  });

  test('1.3 an open question is named with its id and its words', () => {
    const story = new Story().running().tick(10).question('q1', 'approval');
    expect(waitingOf(story.state)).toEqual({
      for: 'approval',
      since: '1970-01-01T00:16:40.010Z',
      requestId: 'q1',
      detail: 'Delete it',
      asked: 'person',
      next: [],
    });
    story.answer('q1').question('q2', 'input');
    expect(waitingOf(story.state)).toMatchObject({ for: 'input', requestId: 'q2', detail: 'Why?' });
  });

  test('1.3 paused, and parked after an interrupt, say how many messages are held', () => {
    const story = new Story().running().send('a').send('b').control('interrupt', 'r').ack('r');
    expect(waitingOf(story.state)).toMatchObject({
      for: 'pause',
      detail: expect.stringContaining('2 messages are held'),
    });
    story.control('pause', 'p');
    expect(waitingOf(story.state)).toMatchObject({
      for: 'pause',
      detail: expect.stringContaining('2 messages are held'),
    });
    expect(new Story().idle().state).toSatisfy((state) => waitingOf(state as never) === undefined);
  });

  test('1.4 the whole story of a run, in the order clients see it', () => {
    const story = new Story().start({ once: true }).claim().ready().delivered();
    story.question('q1').answer('q1').result();
    expect(story.statuses()).toEqual(['queued', 'starting', 'running', 'waitingForInput', 'running', 'completed']);
    expect(story.eventTypes().slice(-3)).toEqual(['status', 'complete', 'finish']);
    expect(story.commandTypes()).toEqual(['start', 'deliver', 'attend', 'answer', 'stop']);
    expect(sessionView(story.state, 17)).toMatchObject({
      id: 's1',
      kind: 'agent',
      status: 'completed',
      turn: 1,
      pending: 0,
      position: 17,
      result: { text: 'done' },
    });
  });

  test('1.4 a turn that follows another at once shows no idle between them', () => {
    const story = new Story().running().send('a').result();
    expect(story.status).toBe('running');
    expect(story.statuses()).toEqual(['queued', 'starting', 'running']);
  });

  test('1.5 what is observed comes first, then requests, messages, status, and the end last', () => {
    const story = new Story().running({ once: true, capabilities: everything }).send('later').question('q1');
    const before = story.events.length;
    story.report({
      type: 'turn-ended',
      outcome: 'error',
      error: { code: 'agent_error', message: 'no luck' },
      observed: [{ type: 'thought', text: 'alas' }],
    });
    expect(story.events.slice(before)).toMatchObject([
      { type: 'thought' },
      { type: 'requestSettled', requestId: 'q1', outcome: 'withdrawn' },
      { type: 'functionResult', callId: 'turn-1', outcome: 'failed' },
      { type: 'turnComplete', outcome: 'failed', reason: 'no luck' },
      { type: 'message', message: { id: 'later', status: 'cancelled', reason: 'the session is failed' } },
      { type: 'status', status: 'failed', previous: 'waitingForInput', reason: 'no luck' },
      { type: 'error', message: 'no luck' },
      { type: 'finish' },
    ]);
  });

  test('1.5 a cancelled session ends with the error "cancelled"', () => {
    const story = new Story().running().control('cancel', 'c').ack('c');
    expect(story.events.slice(-3)).toEqual([
      { type: 'status', status: 'cancelled', previous: 'cancelling', reason: 'cancelled' },
      { type: 'error', message: 'cancelled' },
      { type: 'finish' },
    ]);
  });

  test('1.5 nothing follows finish, not even what a late report observed', () => {
    const story = new Story().running({ once: true }).result();
    const events = story.events.length;
    story.report({ type: 'turn-started', observed: [{ type: 'thought', text: 'late' }] });
    story.report({
      type: 'usage',
      usage: { inputTokens: 1, outputTokens: 1 },
      observed: [{ type: 'thought', text: 'late' }],
    });
    story.pass(60 * 60_000);
    expect(story.events).toHaveLength(events);
  });

  test('1.6 a clock that steps back neither reorders the records nor moves a deadline', () => {
    const story = new Story().running();
    story.now -= 300_000;
    story.control('pause', 'p');
    const times = story.records.map((record) => record.at);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(story.state.control?.deadline).toBe(1_000_000 + 20_000);
  });

  test('a session starts once: the same wish again is the same session, another is refused', () => {
    const story = new Story().start();
    const records = story.records.length;
    story.start();
    expect(story.records).toHaveLength(records);
    const other = {
      type: 'start',
      sessionId: 's1',
      kind: 'agent',
      agent: 'other',
      title: 'x',
      once: false,
      slot: 'held',
    } as const;
    expect(story.refusal(other).code).toBe('id_in_use');
    expect(new Story().refusal({ type: 'promote', messageId: 'm' }).code).toBe('no_such_session');
  });

  test('a session without a prompt starts its agent and is idle', () => {
    const story = new Story().wish({
      type: 'start',
      sessionId: 's1',
      kind: 'program',
      agent: 'p',
      title: 'x',
      once: false,
      slot: 'held',
    });
    expect(story.claim().ready().status).toBe('idle');
    expect(story.report({ type: 'turn-started' }).status).toBe('running');
    story.report({ type: 'turn-ended', outcome: 'result', value: 1, result: { success: true, href: '' }, final: true });
    expect(story.status).toBe('completed');
  });
});
