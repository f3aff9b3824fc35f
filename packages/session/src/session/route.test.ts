import { describe, expect, test } from 'vitest';
import { Story, suspend } from '../../test/story.ts';
import { requestsView, sessionView, waitingOf } from './view.ts';

const way = [
  { to: 'model:Architect', withinMs: 60_000 },
  { to: 'supervisor:guard', withinMs: 60_000 },
  { to: 'person' },
];

function asked(onTimeout?: string): Story {
  const routing = { answerers: way, answerWithinMs: 5_000, ...(onTimeout === undefined ? {} : { onTimeout }) };
  return new Story()
    .running()
    .report({ type: 'request-opened', requestId: 'q1', event: suspend('q1', 'approval'), routing });
}

function pass(story: Story, by: string, reason?: string): Story {
  return story.wish({ type: 'pass-request', requestId: 'q1', by, reason });
}

describe('a request goes down one list', () => {
  test('10.1 who is asked, since when, who is next and when it runs out', () => {
    const story = asked();
    expect(requestsView(story.state)).toMatchObject([
      {
        routedTo: 'model:Architect',
        next: ['supervisor:guard', 'person'],
        expiresAt: new Date(story.now + 60_000).toISOString(),
      },
    ]);
    story.now += 1_000;
    const since = new Date(story.now).toISOString();
    pass(story, 'model:Architect', 'model:Architect passed: not sure');
    expect(waitingOf(story.state)).toMatchObject({
      asked: 'supervisor:guard',
      next: ['person'],
      since,
      expiresAt: new Date(story.now + 60_000).toISOString(),
    });
    expect(story.events.at(-1)).toMatchObject({
      type: 'requestRouted',
      to: 'supervisor:guard',
      reason: 'model:Architect passed: not sure',
    });
    expect(story.last?.records.map(({ type }) => type)).toEqual(['request-passed', 'request-routed']);
  });

  test('10.1 only whoever is asked can pass, and only once', () => {
    const story = asked();
    expect(story.refusal({ type: 'pass-request', requestId: 'q1', by: 'supervisor:guard' }).code).toBe('not_asked');
    expect(story.refusal({ type: 'pass-request', requestId: 'q2', by: 'model:Architect' }).code).toBe(
      'no_such_request',
    );
    pass(story, 'model:Architect');
    expect(story.refusal({ type: 'pass-request', requestId: 'q1', by: 'model:Architect' }).code).toBe('not_asked');
    story.answer('q1');
    expect(story.refusal({ type: 'pass-request', requestId: 'q1', by: 'supervisor:guard' }).code).toBe('not_asked');
  });

  test('10.1 the first answer counts, whoever is asked', () => {
    const story = asked().answer('q1');
    expect(story.commands.at(-1)).toMatchObject({ type: 'answer', requestId: 'q1' });
    expect(story.refusal({ type: 'answer', requestId: 'q1', response: true }).code).toBe('already_answered');
  });

  test('10.4 whoever takes too long is passed by; the time of people begins when they are asked', () => {
    const story = asked();
    story.now += 60_000;
    story.wish({ type: 'expire' });
    expect(story.last?.records).toMatchObject([
      { type: 'request-timed-out', asked: 'model:Architect' },
      { type: 'request-routed', to: 'supervisor:guard', reason: 'model:Architect did not answer within 1 minute' },
    ]);
    story.now += 60_000;
    story.wish({ type: 'expire' });
    expect(requestsView(story.state)).toMatchObject([
      { routedTo: 'person', next: [], expiresAt: new Date(story.now + 5_000).toISOString() },
    ]);
    story.now += 5_000;
    story.wish({ type: 'expire' });
    expect(story.events.at(-2)).toMatchObject({ type: 'requestSettled', by: 'timeout', response: false });
  });

  test('10.1 another owner finds the same one asked', () => {
    const before = asked();
    const story = pass(before, 'model:Architect').report({ type: 'claimed', epoch: 2, runner: 'r2', kept: 1 });
    expect(requestsView(story.state)).toMatchObject([{ routedTo: 'supervisor:guard', next: ['person'] }]);
  });

  test('how often models were asked is counted', () => {
    expect(asked().state.modelAsks).toBe(1);
  });
});

describe('supervisors change while the session runs', () => {
  test('10.5 what waits for the old one goes to the new one', () => {
    const story = pass(asked(), 'model:Architect').wish({ type: 'supervise', supervisor: 'strict' });
    expect(waitingOf(story.state)).toMatchObject({ asked: 'supervisor:strict', next: ['person'] });
    expect(sessionView(story.state, 0)).toMatchObject({
      supervisor: 'strict',
      answerers: ['rules', 'supervisor:strict', 'person'],
    });
  });

  test('10.5 without one it goes on to the next, also what was still to come to it', () => {
    const taken = pass(asked(), 'model:Architect').wish({ type: 'supervise' });
    expect(waitingOf(taken.state)).toMatchObject({ asked: 'person', next: [] });
    expect(taken.events.at(-1)).toMatchObject({ to: 'person', reason: 'supervisor:guard was taken away' });
    const later = asked().wish({ type: 'supervise' });
    expect(waitingOf(later.state)).toMatchObject({ asked: 'model:Architect', next: ['person'] });
    expect(sessionView(later.state, 0)).toMatchObject({ answerers: ['rules', 'person'] });
  });

  test('10.5 the first one is asked what waits for a person as there was none, and what will come to one', () => {
    const wish = { type: 'supervise', supervisor: 'guard', withinMs: 60_000 } as const;
    const unsupervised = way.filter(({ to }) => to !== 'supervisor:guard');
    const open = (routing?: object): Story =>
      new Story()
        .running()
        .report({ type: 'request-opened', requestId: 'q1', event: suspend('q1', 'approval'), routing });
    const byNobody = open().wish(wish);
    expect(waitingOf(byNobody.state)).toMatchObject({
      asked: 'supervisor:guard',
      next: ['person'],
      expiresAt: new Date(byNobody.now + 60_000).toISOString(),
    });
    expect(waitingOf(pass(byNobody, 'supervisor:guard').state)).toMatchObject({ asked: 'person', next: [] });
    const afterModel = pass(open({ answerers: unsupervised }), 'model:Architect').wish(wish);
    expect(waitingOf(afterModel.state)).toMatchObject({ asked: 'supervisor:guard', next: ['person'] });
    const atModel = open({ answerers: unsupervised }).wish(wish);
    expect(waitingOf(atModel.state)).toMatchObject({ asked: 'model:Architect', next: ['supervisor:guard', 'person'] });
  });

  test('10.5 not what a rule put before a person, what the last one passed, or what a program is to answer', () => {
    const wish = { type: 'supervise', supervisor: 'strict', withinMs: 60_000 } as const;
    const open = (routing: object): Story =>
      new Story()
        .running()
        .report({ type: 'request-opened', requestId: 'q1', event: suspend('q1', 'approval'), routing });
    const byRule = open({ reason: 'rule:all.1 asks a person' }).wish(wish);
    expect(waitingOf(byRule.state)).toMatchObject({ asked: 'person', next: [] });
    const passed = pass(pass(asked(), 'model:Architect'), 'supervisor:guard').wish(wish);
    expect(waitingOf(passed.state)).toMatchObject({ asked: 'person', next: [] });
    const ofProgram = open({ answerers: [{ to: 'program:p' }, { to: 'person' }] }).wish(wish);
    expect(waitingOf(ofProgram.state)).toMatchObject({ asked: 'program:p', next: ['person'] });
  });

  test('10.5 not when it is over', () => {
    const story = asked().control('cancel', 'c').ack('c');
    expect(story.refusal({ type: 'supervise', supervisor: 'guard' }).code).toBe('session_closed');
  });
});
