import { describe, expect, test } from 'vitest';
import { everything, failure, Story, storyIn } from '../../test/story.ts';
import { messageOf, sessionView } from './view.ts';

describe('what it can do, announced late', () => {
  test.each(['interrupt', 'pause', 'cancel'] as const)(
    '2.10 %s, asked before, was commanded, and is not once more: its owner asks the agent itself',
    (verb) => {
      const story = new Story().running({ capabilities: [] }).control(verb, 'c1');
      const asked = () => story.commands.filter((one) => one.type === verb).length;
      expect(asked()).toBe(1);
      story
        .ready(everything)
        .ready([...everything].reverse())
        .ready(['steer', ...everything]);
      expect(asked()).toBe(1);
      story.ack('c1');
      expect(story.status).toBe({ interrupt: 'interrupted', pause: 'paused', cancel: 'cancelled' }[verb]);
    },
  );

  test('2.10 what it still cannot do is not asked of it', () => {
    const story = new Story().running({ capabilities: [] }).control('pause', 'c1');
    story.ready(['steer', 'pause']);
    expect(story.commandTypes().filter((type) => type === 'pause')).toHaveLength(1);
  });
});

describe('a second end of a turn', () => {
  test('6.1 a result when no turn runs ends nothing, is noted, and is shown as what it is', () => {
    const story = new Story().running().result('first').result('second');
    expect(story.eventTypes().filter((type) => type === 'turnComplete')).toHaveLength(1);
    expect(story.events.at(-1)).toEqual({ type: 'thought', text: 'second' });
    expect(story.records.at(-1)).toMatchObject({ type: 'report-ignored', report: 'turn-ended' });
    expect(sessionView(story.state, 1).result).toEqual({ text: 'first' });
  });

  test('6.1 a result after the interrupt was confirmed is as late', () => {
    const story = storyIn('interrupted').result('too late');
    expect(story.status).toBe('interrupted');
    expect(story.events.filter(({ type }) => type === 'turnComplete')).toMatchObject([{ outcome: 'interrupted' }]);
    expect(story.eventTypes().at(-1)).toBe('thought');
  });
});

describe('what the owner reports', () => {
  test('6.2 an older owner is not heard, and a claim that is not newer is ignored', () => {
    const story = new Story().running().claim(3, 'r2');
    story.report({ type: 'agent-ready', capabilities: [], epoch: 1 });
    story.claim(3, 'r3').claim(2, 'r1');
    expect(story.state.owner).toEqual({ epoch: 3, runner: 'r2' });
    expect(story.recordTypes().slice(-3)).toEqual(['report-ignored', 'report-ignored', 'report-ignored']);
  });

  test('6.3 a process lost in a turn: once has failed, with the error last before finish', () => {
    const story = new Story().running({ once: true }).send('a').exit();
    expect(story.status).toBe('failed');
    expect(sessionView(story.state, 1).error).toEqual(failure);
    expect(story.events.slice(-2)).toEqual([{ type: 'error', message: failure.message }, { type: 'finish' }]);
    expect(messageOf(story.state, 'a')).toMatchObject({ status: 'cancelled' });
  });

  test('6.3 any other is interrupted, keeps its queue, and the next message starts a new process', () => {
    const story = new Story().running().send('a').exit();
    expect(story.status).toBe('interrupted');
    expect(story.events.at(-1)).toMatchObject({ type: 'status', status: 'interrupted', reason: failure.message });
    expect(messageOf(story.state, 'first')).toMatchObject({ status: 'delivered' });
    expect(messageOf(story.state, 'a')).toMatchObject({ status: 'pending' });
    story.send('b');
    expect(story.commands.at(-1)).toMatchObject({ type: 'start', incarnation: 2, resume: true });
    expect(story.ready().deliveries()).toEqual(['first', 'a']);
  });

  test.each([
    ['pausing', 'paused'],
    ['interrupting', 'interrupted'],
    ['cancelling', 'cancelled'],
  ] as const)('6.4 a process lost while %s: %s, acknowledged by its exit', (status, after) => {
    const story = storyIn(status).exit();
    expect(story.status).toBe(after);
    expect(story.acks.at(-1)).toMatchObject({ requestId: 'r0', epoch: 1 });
  });

  test.each(['pausing', 'paused'] as const)(
    '6.4 a process lost while %s: paused, and it says that the turn is lost',
    (status) => {
      const story = storyIn(status).exit();
      expect(sessionView(story.state, 1)).toMatchObject({ status: 'paused', reason: expect.any(String) });
    },
  );

  test('6.4 an agent that ends because it was interrupted did what it was told: no error, no reason', () => {
    const story = storyIn('interrupting', { capabilities: [] }).exit();
    expect(story.status).toBe('interrupted');
    expect(story.events.at(-1)).toEqual({ type: 'status', status: 'interrupted', previous: 'interrupting' });
    expect(sessionView(story.state, 1)).not.toHaveProperty('error');
    expect(sessionView(story.state, 1)).not.toHaveProperty('reason');
    expect(story.records).toContainEqual(expect.objectContaining({ type: 'process-lost', error: failure }));
  });

  test('6.4 a session that was paused by a lost process resumes with a new one', () => {
    const story = storyIn('pausing').exit().send('a').control('resume', 'r1');
    expect(story.status).toBe('starting');
    expect(story.ready(everything).deliveries()).toEqual(['first', 'a']);
  });

  test.each([
    ['starting', false, 'starting'],
    ['running', false, 'interrupted'],
    ['running', true, 'failed'],
    ['waitingForInput', false, 'interrupted'],
    ['waitingForInput', true, 'failed'],
    ['interrupting', false, 'interrupted'],
    ['interrupted', false, 'interrupted'],
    ['pausing', false, 'paused'],
    ['paused', false, 'paused'],
    ['paused', true, 'failed'],
    ['resuming', false, 'interrupted'],
    ['cancelling', false, 'cancelled'],
    ['cancelling', true, 'cancelled'],
    ['idle', false, 'idle'],
    ['queued', false, 'queued'],
  ] as const)('6.5 taken over while %s (once: %s): %s', (status, once, after) => {
    const story = storyIn(status, { once });
    expect(story.claim(9, 'r9').status).toBe(after);
  });

  test('6.5 what was only starting is started again by the new owner', () => {
    const story = storyIn('starting').claim(9, 'r9');
    expect(story.commands.at(-1)).toMatchObject({ type: 'start', incarnation: 2, resume: false });
  });

  test('6.5 taken over with a message in flight: uncertain, not sent again', () => {
    const story = new Story().idle().send('a').claim(2);
    expect(messageOf(story.state, 'a')).toMatchObject({ uncertain: true });
    expect(story.deliveries()).toEqual(['first', 'a']);
  });

  test('6.5 handed over: settled at once, and queued for the next owner when there is work', () => {
    const story = new Story().start().claim().report({ type: 'released', reason: 'shutting down' });
    expect(story.status).toBe('queued');
    expect(story.state.owner).toBeUndefined();
    story.claim(2, 'r2');
    expect(story.status).toBe('starting');
    expect(storyIn('running').report({ type: 'released', reason: 'shutting down' }).status).toBe('interrupted');
  });

  test('6.6 the agent’s own error leaves a session idle and says why', () => {
    const story = new Story().running().error('quota');
    expect(story.status).toBe('idle');
    expect(sessionView(story.state, 1).error).toMatchObject({ message: 'quota' });
    expect(story.events.at(-1)).toMatchObject({ type: 'status', status: 'idle', reason: 'quota' });
    expect(sessionView(story.send('a').state, 1).error).toBeUndefined();
  });

  test('6.7 an idle agent that exits leaves its session idle', () => {
    const story = new Story().idle().exit();
    expect(story.status).toBe('idle');
    expect(sessionView(story.state, 1).error).toBeUndefined();
    expect(story.send('a').status).toBe('starting');
  });

  test.each([
    ['idle', (story: Story) => story.result().exit()],
    ['interrupted', (story: Story) => story.exit()],
    ['paused', (story: Story) => story.control('pause', 'p').ack('p').exit()],
  ])('7.7 %s without a process holds no slot', (status, happens) => {
    const story = new Story().running();
    happens(story);
    expect(story.status).toBe(status);
    expect(story.state.slot.kind).toBe('none');
  });

  test('7.7 a process that ends with work waiting keeps its place for the next', () => {
    const story = new Story().running({ capabilities: [] }).send('a').result().delivered().send('b').result();
    story.report({ type: 'process-exited', error: failure, undelivered: [story.inFlight().dispatchId] });
    expect(story.status).toBe('starting');
    expect(story.recordTypes()).not.toContain('slot-wanted');
  });

  test('7.7 a turn whose prompt nobody read is none: it is begun again under its number', () => {
    const unread = (story: Story): Story =>
      story.report({ type: 'process-exited', error: failure, undelivered: [story.inFlight().dispatchId] });
    const story = unread(
      new Story()
        .start({ budget: { turns: 1 } })
        .claim()
        .ready(),
    );
    expect(story.status).toBe('starting');
    unread(story.ready()).ready().delivered();
    expect(story.state.turn).toMatchObject({ number: 1, active: true });
    const calls = story.events.flatMap((event) => (event.type === 'functionCall' ? event.callId : []));
    expect(calls).toEqual(['turn-1']);
    // What was read is a turn, however it ended.
    story.exit().wish({ type: 'answer', requestId: 'budget-1', response: 'more' }).send('b').ready();
    expect(story.state.turn).toMatchObject({ number: 2, active: true });
  });

  test('7.8 an idle session gives way and says to whom; one at work does not', () => {
    const story = new Story().idle().wish({ type: 'make-room', for: 's2' });
    expect(story.state.slot.kind).toBe('none');
    expect(story.commands.at(-1)).toMatchObject({ type: 'stop', reason: 'parked' });
    const reason = 'its place went to session s2; the next message brings it back';
    expect(story.events.at(-1)).toEqual({ type: 'status', status: 'idle', previous: 'idle', reason });
    expect(sessionView(story.state, 0)).toMatchObject({ status: 'idle', reason });
    expect(sessionView(story.send('a').state, 0)).not.toHaveProperty('reason');
    const busy = new Story().running().wish({ type: 'make-room', for: 's2' });
    expect(busy.state.slot.kind).toBe('held');
  });

  test('an agent may say what it can do after it was taken as ready', () => {
    const story = new Story().start().claim().ready([]).delivered().send('i', 'immediate');
    expect(story.deliveries()).toEqual(['first']);
    story.report({ type: 'agent-ready', capabilities: ['steer'] });
    expect(story.commands.at(-1)).toMatchObject({ messageId: 'i', how: 'steer' });
    story.report({ type: 'agent-ready', capabilities: ['steer'] });
    expect(story.recordTypes().at(-1)).toBe('report-ignored');
  });

  const missing = { code: 'agent_missing', message: 'no such command: clod', stderr: '' };

  test('3.6 an agent that cannot be started: its words, the prompt kept, and resume tries again', () => {
    const story = new Story().start().claim().report({ type: 'start-failed', error: missing });
    expect(story.status).toBe('interrupted');
    expect(sessionView(story.state, 0)).toMatchObject({ error: missing, reason: missing.message, pending: 1 });
    story.control('resume', 'r');
    expect(story.status).toBe('starting');
    expect(story.ready().deliveries()).toEqual(['first']);
    expect(sessionView(story.state, 0)).not.toHaveProperty('error');
  });

  test('3.6 with `once` it has failed', () => {
    const story = new Story().start({ once: true }).claim().report({ type: 'start-failed', error: missing });
    expect(story.status).toBe('failed');
    expect(sessionView(story.state, 0).error).toMatchObject({ code: 'agent_missing' });
  });

  test('an agent that goes on although it is paused is told to hold once more', () => {
    const story = new Story().idle().control('pause', 'p').report({ type: 'turn-started' });
    expect(story.status).toBe('paused');
    expect(story.commandTypes().at(-1)).toBe('pause');
  });

  test('figures that nobody could read again are stored as the largest that can be, also in their sum', () => {
    const max = Number.MAX_SAFE_INTEGER;
    const story = new Story().running({ budget: { usd: 1, tokens: max } });
    const usage = { inputTokens: Number.POSITIVE_INFINITY, outputTokens: Number.NaN, costMicroUsd: 1e308 };
    story.report({ type: 'usage', usage }).report({ type: 'usage', usage });
    expect(story.state.usage).toEqual({ inputTokens: max, outputTokens: 0, costMicroUsd: max });
    story.wish({ type: 'answer', requestId: 'budget-1', response: { more: { tokens: max } } });
    expect(sessionView(story.state, 0).budget?.limits).toEqual({ usd: 1, tokens: max });
  });

  test('usage is shown as the session’s total', () => {
    const story = new Story().running();
    story.report({ type: 'usage', usage: { inputTokens: 1, outputTokens: 2 } });
    story.report({ type: 'usage', usage: { inputTokens: 1, outputTokens: 2, cacheReadTokens: 7 } });
    expect(story.events.at(-1)).toMatchObject({ type: 'usage', inputTokens: 1, outputTokens: 2, cacheReadTokens: 7 });
  });

  test('what was used is told before the end of a session that ends with it, and nothing after that', () => {
    const story = new Story().running({ once: true, budget: { tokens: 1_000 } });
    const result = { success: true, href: '/' };
    const untold = { given: 0, said: 8 };
    story.report({ type: 'turn-ended', outcome: 'result', value: null, result, untold });
    expect(story.eventTypes().slice(-5)).toEqual(['usage', 'turnComplete', 'status', 'complete', 'finish']);
    story.report({ type: 'usage', usage: { inputTokens: 1, outputTokens: 2 } });
    expect(story.eventTypes().at(-1)).toBe('finish');
  });
});
