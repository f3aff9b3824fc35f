import { describe, expect, test } from 'vitest';
import { everything, Story, storyIn, suspend } from '../../test/story.ts';
import { entryOf } from '../queue/queue.ts';
import { nextDeadline } from './deadlines.ts';
import { requestsView, waitingOf } from './view.ts';

const between = ['starting', 'interrupting', 'pausing', 'resuming', 'cancelling'] as const;
const limit = { starting: 15_000, interrupting: 10_000, pausing: 20_000, resuming: 10_000, cancelling: 15_000 };
const forced = {
  starting: 'interrupted',
  interrupting: 'interrupted',
  pausing: 'paused',
  resuming: 'interrupted',
  cancelling: 'cancelled',
} as const;

describe('deadlines', () => {
  test.each(between)('3.1 %s ends by force exactly at its deadline', (status) => {
    const story = storyIn(status);
    story.pass(limit[status] - 1);
    expect(story.status).toBe(status);
    story.pass(1);
    expect(story.status).toBe(forced[status]);
  });

  test.each(between)('3.1 %s ends by force even if the clock is only asked long afterwards, or twice', (status) => {
    const story = storyIn(status);
    story.tick(10 * 60_000).wish({ type: 'expire' });
    for (let again = 0; again < 3; again++) story.pass(20_000).wish({ type: 'expire' });
    expect(story.status).toBe(forced[status]);
  });

  test('3.1 before its time nothing expires', () => {
    const story = new Story().running().control('pause', 'p');
    const records = story.records.length;
    story.tick(19_999).wish({ type: 'expire' });
    expect(story.records).toHaveLength(records);
    expect(nextDeadline(story.state)).toBe(1_020_000);
  });

  const day = 24 * 60 * 60_000;

  const asking = (onTimeout?: string, type: 'input' | 'approval' = 'approval', within = day): Story =>
    new Story().running().report({
      type: 'request-opened',
      requestId: 'q1',
      event: suspend('q1', type),
      routing: { answerWithinMs: within, onTimeout },
    });

  test('10.4 a question waits for ever unless it was said for how long', () => {
    const story = new Story()
      .running()
      .question('q1')
      .pass(1_000 * day);
    expect(story.status).toBe('waitingForInput');
  });

  test('10.4 an approval that nobody gives in time is denied, a question withdrawn; never a yes in the user’s place', () => {
    const reason = 'nobody answered within 1 day';
    const denied = asking().pass(day - 1);
    expect(denied.status).toBe('waitingForApproval');
    expect(waitingOf(denied.state)).toMatchObject({
      asked: 'person',
      expiresAt: new Date(1_000_000 + day).toISOString(),
    });
    denied.pass(1);
    expect(denied.status).toBe('running');
    expect(denied.commands.at(-1)).toMatchObject({ type: 'answer', requestId: 'q1', response: false, reason });
    const settled = { type: 'requestSettled', requestId: 'q1', outcome: 'answered', by: 'timeout', reason };
    expect(denied.events).toContainEqual({ ...settled, response: false });
    const withdrawn = asking('deny', 'input').pass(day);
    expect(withdrawn.commands.at(-1)).toMatchObject({ type: 'withdraw', requestId: 'q1', reason });
    expect(withdrawn.refusal({ type: 'answer', requestId: 'q1', response: true })).toMatchObject({ code: 'withdrawn' });
  });

  test('10.4 or answered, kept, or the end of the turn, as was said', () => {
    expect(asking('answer:later', 'input').pass(day).commands.at(-1)).toMatchObject({
      type: 'answer',
      response: 'later',
    });
    const kept = asking('keep').pass(10 * day);
    expect(kept.status).toBe('waitingForApproval');
    expect(kept.recordTypes().filter((type) => type === 'request-timed-out')).toHaveLength(1);
    expect(kept.answer('q1').status).toBe('running');
  });

  test('10.4 where it is to fail, the turn has failed in time like one that took too long: nobody was lost', () => {
    const reason = 'nobody answered within 90 seconds';
    const failed = asking('fail', 'approval', 90_000);
    const before = failed.events.length;
    failed.pass(90_000);
    expect(failed.status).toBe('idle');
    expect(failed.state.error).toEqual({ code: 'timeout', message: reason });
    expect(failed.events.slice(before)).toMatchObject([
      { type: 'subagentError', callId: 'turn-1', error: { $error: reason } },
      { type: 'requestSettled', requestId: 'q1', outcome: 'withdrawn', reason },
      { type: 'functionResult', callId: 'turn-1', outcome: 'failed' },
      { type: 'turnComplete', outcome: 'failed', reason },
      { type: 'status', status: 'idle', reason },
    ]);
    expect(failed.commandTypes().at(-1)).toBe('kill');
    expect(failed.send('again').state.agentProcess.kind).toBe('starting');
    const once = new Story().running({ once: true });
    once.report({
      type: 'request-opened',
      requestId: 'q1',
      event: suspend('q1'),
      routing: { answerWithinMs: 1_000, onTimeout: 'fail' },
    });
    expect(once.pass(1_000).status).toBe('failed');
    expect(once.state.error).toEqual({ code: 'timeout', message: 'nobody answered within 1 second' });
    expect(once.commandTypes().at(-1)).toBe('stop');
  });

  test('10.4 while the session is held nobody is told when a question runs out; afterwards later', () => {
    const expiry = (story: Story): string | undefined => requestsView(story.state)[0]?.expiresAt;
    const story = asking('deny').pass(1_000);
    const before = expiry(story);
    story.control('pause', 'p');
    expect(expiry(story)).toBeUndefined();
    story.ack('p').pass(2 * day);
    expect([story.status, expiry(story)]).toEqual(['paused', undefined]);
    story.control('resume', 'r').ack('r');
    expect(Date.parse(expiry(story) ?? '') - Date.parse(before ?? '')).toBe(2 * day);
  });

  test('10.4 time in which the session is paused does not count', () => {
    const story = asking().pass(day / 2);
    story
      .control('pause', 'p')
      .ack('p')
      .pass(10 * day);
    story.control('resume', 'r').ack('r');
    expect(story.pass(day / 2 - 1).status).toBe('waitingForApproval');
    expect(story.pass(1).status).toBe('running');
  });

  test('3.2 an agent that said it can be interrupted has ten seconds to do it, and no signal before', () => {
    const story = new Story().running().control('interrupt', 'i1').pass(9_999);
    expect(story.commandTypes().at(-1)).toBe('interrupt');
    expect(story.ack('i1').status).toBe('interrupted');
    expect(story.events.at(-1)).not.toHaveProperty('reason');
  });

  test('3.2 one that said so late has them too', () => {
    const story = new Story().running({ capabilities: [] }).control('interrupt', 'i1').ready(everything).pass(9_999);
    expect(story.commandTypes().at(-1)).toBe('interrupt');
    expect(story.pass(1).status).toBe('interrupted');
    expect(story.commandTypes().at(-1)).toBe('kill');
  });

  test('3.2 interrupt: the end of the process; the next message starts a new one', () => {
    const story = new Story().running().send('a').control('interrupt', 'i1').pass(10_000);
    expect(story.commandTypes().at(-1)).toBe('kill');
    expect(story.events.at(-1)).toMatchObject({ type: 'status', status: 'interrupted', reason: 'forced' });
    expect(story.ack('i1').status).toBe('interrupted');
    story.send('b');
    expect(story.status).toBe('starting');
    expect(story.commands.at(-1)).toMatchObject({ type: 'start', incarnation: 2, resume: true });
    expect(story.ready().deliveries()).toEqual(['first', 'a']);
  });

  test('3.2 an agent that never announced interrupt had its signal at once and gets the next one', () => {
    const story = new Story().running({ capabilities: [] }).control('interrupt', 'i1').pass(5_000);
    expect(story.commandTypes().at(-1)).toBe('terminate');
  });

  test('3.3 pause: frozen by force, and let run again by resume', () => {
    const story = new Story().running({ capabilities: [] }).control('pause', 'p1').pass(20_000);
    expect(story.commandTypes().at(-1)).toBe('freeze');
    expect(story.events.at(-1)).toMatchObject({ type: 'status', status: 'paused', reason: 'forced' });
    story.control('resume', 'r1');
    expect(story.commands.at(-1)).toMatchObject({ type: 'resume', frozen: true });
    expect(story.ack('r1').status).toBe('running');
  });

  test('3.4 resume: asked again, then the process is ended and the turn lost', () => {
    const story = new Story().running().control('pause', 'p').ack('p').control('resume', 'r').pass(5_000);
    expect(story.commandTypes().at(-1)).toBe('resume');
    story.pass(5_000);
    expect(story.events.at(-1)).toMatchObject({ type: 'status', status: 'interrupted', reason: 'forced' });
    expect(story.commandTypes().at(-1)).toBe('kill');
  });

  test('3.5 cancel: SIGTERM at 10 s, SIGKILL at 15 s', () => {
    const story = new Story().running().control('cancel', 'c').pass(10_000);
    expect(story.commandTypes().at(-1)).toBe('terminate');
    expect(story.status).toBe('cancelling');
    story.pass(5_000);
    expect(story.commandTypes().slice(-2)).toEqual(['kill', 'stop']);
    expect(story.events.slice(-3)).toMatchObject([
      { type: 'status', status: 'cancelled', reason: 'forced' },
      { type: 'error', message: 'cancelled' },
      { type: 'finish' },
    ]);
  });

  test.each([
    ['assistant', 1_000],
    ['program', 2_000],
  ] as const)('3.5 cancel of %s: after what it opened, which is on the same ladder', (kind, more) => {
    const story = new Story().running({ kind }).report({ type: 'child-opened', child: 'c1' });
    story.control('cancel', 'c').pass(10_000);
    expect(story.commandTypes()).not.toContain('terminate');
    story.pass(5_000 + more - 1);
    expect(story.status).toBe('cancelling');
    story.pass(1);
    expect(story.status).toBe('cancelled');
    const childless = new Story().running({ kind }).control('cancel', 'c').pass(10_000);
    expect(childless.commandTypes().at(-1)).toBe('terminate');
  });

  test('3.6 an agent that ran before and does not come up again leaves the session interrupted, the message pending', () => {
    const story = new Story().idle().exit().send('a');
    expect(story.status).toBe('starting');
    story.pass(15_000);
    expect(story.status).toBe('interrupted');
    expect(entryOf(story.state.queue, 'a')?.state).toBe('pending');
    expect(story.commandTypes().at(-1)).toBe('kill');
  });

  test('3.6 an agent that may take longer to come up gets the time that its owner gives it', () => {
    const story = new Story().start().report({ type: 'claimed', epoch: 1, runner: 'r1', startWithinMs: 65_000 });
    expect(story.pass(64_999).status).toBe('starting');
    expect(story.pass(1).status).toBe('interrupted');
    expect(story.state.error).toMatchObject({ code: 'start_timeout' });
  });

  test('3.7 a hand-over without confirmation is repeated under the same id, then the process is given up', () => {
    const story = new Story().idle().send('a');
    const { dispatchId } = story.inFlight();
    story.pass(30_000);
    expect(story.commands.at(-1)).toMatchObject({ type: 'deliver', dispatchId, messageId: 'a' });
    expect(story.deliveries()).toEqual(['first', 'a', 'a']);
    story.pass(30_000);
    expect(story.status).toBe('interrupted');
    expect(entryOf(story.state.queue, 'a')).toMatchObject({ state: 'uncertain' });
  });

  test('3.7 a confirmation after the repetition is one delivery', () => {
    const story = new Story().idle().send('a').pass(30_000).delivered();
    expect(entryOf(story.state.queue, 'a')).toMatchObject({ state: 'delivered' });
    expect(story.status).toBe('running');
    expect(story.acks.filter((ack) => ack.type === 'message_ack' && ack.requestId === 'a')).toHaveLength(1);
  });

  test('3.7 a steering message that is never confirmed becomes uncertain and the turn goes on', () => {
    const story = new Story().running({ capabilities: everything }).send('a', 'immediate').pass(60_000);
    expect(entryOf(story.state.queue, 'a')).toMatchObject({ state: 'uncertain' });
    expect(story.status).toBe('running');
  });

  test('3.8 a quiet session is parked after five minutes, and its next message wants a slot', () => {
    const story = new Story().idle().pass(5 * 60_000 - 1);
    story.roomy = false;
    expect(nextDeadline(story.state)).toBeDefined();
    expect(nextDeadline(story.state, { parks: false })).toBeUndefined();
    expect(story.state.slot.kind).toBe('held');
    story.pass(1);
    expect(story.state.slot.kind).toBe('none');
    expect(story.commands.at(-1)).toMatchObject({ type: 'stop', reason: 'parked' });
    expect(story.status).toBe('idle');
    expect(nextDeadline(story.state)).toBeUndefined();
    story.send('a');
    expect(story.status).toBe('queued');
    expect(story.state.slot.kind).toBe('wanted');
    story.wish({ type: 'admit' });
    expect(story.status).toBe('starting');
    expect(story.ready().deliveries()).toEqual(['first', 'a']);
  });

  test('3.8 the stopped process is not mourned: its exit is an old one', () => {
    const story = new Story()
      .idle()
      .pass(5 * 60_000)
      .exit();
    expect(story.status).toBe('idle');
    expect(story.state.error).toBeUndefined();
  });

  test('3.8 usage and ignored reports do not keep a session from being parked; a paused one never is', () => {
    const story = new Story().idle().pass(4 * 60_000);
    story.report({ type: 'usage', usage: { inputTokens: 1, outputTokens: 1 } }).ack('nothing');
    expect(story.pass(60_000).state.slot.kind).toBe('none');
    expect(
      new Story()
        .idle()
        .control('pause', 'p')
        .pass(60 * 60_000).state.slot.kind,
    ).toBe('held');
  });

  test('3.9 a message that waits ten minutes is shown so, once', () => {
    const story = new Story()
      .running({ capabilities: [] })
      .send('a')
      .pass(10 * 60_000);
    expect(story.events.at(-1)).toMatchObject({
      type: 'message',
      message: { id: 'a', reason: 'has waited for 10 minutes' },
    });
    const events = story.events.length;
    expect(story.pass(60 * 60_000).events).toHaveLength(events);
    expect(story.status).toBe('running');
  });
});

test('an agent that is taken up while it starts has its whole time again: nobody heard it in between', () => {
  const story = new Story().start().claim();
  story.now += 600_000;
  story.report({ type: 'claimed', epoch: 2, runner: 'r2', kept: 1 }).pass(1_000);
  expect(story.status).toBe('starting');
  expect(story.ready().status).toBe('running');
  expect(story.recordTypes()).not.toContain('process-lost');
});

describe('an agent that is taken up long after it was told something has its whole time again', () => {
  const away = (story: Story): Story => {
    story.now += 600_000;
    return story.report({ type: 'claimed', epoch: 2, runner: 'r2', kept: 1 }).pass(1_000);
  };

  test('a message', () => {
    const story = away(new Story().start().claim().ready());
    expect(story.status).toBe('running');
    expect(story.recordTypes()).not.toContain('message-redispatched');
    expect(story.pass(60_000).recordTypes()).toContain('process-lost');
  });

  test('an answer', () => {
    const story = new Story().running().question().answer();
    expect(story.recordTypes()).toContain('answer-sent');
    expect(away(story).recordTypes()).not.toContain('process-lost');
    expect(story.pass(60_000).recordTypes()).toContain('process-lost');
  });

  test('an interrupt', () => {
    const story = away(new Story().running({ capabilities: ['interrupt'] }).control('interrupt', 'i'));
    expect(story.recordTypes()).not.toContain('process-lost');
    expect(story.pass(10_000).recordTypes()).toContain('process-lost');
  });
});
