import type { Budget } from '@concerto/protocol';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Story, type StoryOptions } from '../../test/story.ts';
import { requestsView, sessionView, waitingOf } from './view.ts';

const running = (budget: Budget, options: StoryOptions = {}): Story => new Story().running({ ...options, budget });
const use = (story: Story, tokens: number, costMicroUsd?: number): Story =>
  story.report({
    type: 'usage',
    usage: { inputTokens: tokens, outputTokens: 0, ...(costMicroUsd === undefined ? {} : { costMicroUsd }) },
  });
const answer = (story: Story, response: string | boolean | object, requestId = 'budget-1'): Story =>
  story.wish({ type: 'answer', requestId, response: response as never });
const told = (story: Story): readonly string[] =>
  story.events.flatMap((event) => (event.type === 'budget' ? event.level : []));
const budgetOf = (story: Story) => sessionView(story.state, 0).budget;

describe('a budget', () => {
  test('11.1 at 80 % it is told once, at 100 % the session is paused and somebody is asked', () => {
    const story = running({ tokens: 100 });
    use(story, 79);
    expect(told(story)).toEqual([]);
    use(story, 1);
    use(story, 1);
    expect(told(story)).toEqual(['near']);
    expect(story.status).toBe('running');
    use(story, 19);
    expect(told(story)).toEqual(['near', 'reached']);
    expect(story.status).toBe('pausing');
    expect(story.commandTypes().at(-1)).toBe('pause');
    story.ack('budget-1');
    expect(story.status).toBe('paused');
    expect(requestsView(story.state)).toMatchObject([
      { requestId: 'budget-1', event: { type: 'queryConsent', consentType: 'budget', scope: { what: ['tokens'] } } },
    ]);
    expect(waitingOf(story.state)).toMatchObject({ for: 'approval', requestId: 'budget-1', asked: 'person' });
    expect(budgetOf(story)).toEqual({ limits: { tokens: 100 }, spent: { tokens: 100 }, left: { tokens: 0 } });
  });

  test('11.1 what was used and that it was too much are told before anybody is asked, all of it within the turn', () => {
    const order = (story: Story): readonly string[] =>
      story.events.map(({ type }) => type).filter((type) => /usage|budget|queryConsent|turnComplete/.test(type));
    expect(order(use(running({ tokens: 100 }), 100))).toEqual(['usage', 'budget', 'queryConsent']);
    expect(order(running({ turns: 1 }).result())).toEqual(['budget', 'queryConsent', 'turnComplete']);
    const ended = { type: 'turn-ended', outcome: 'result', value: null, result: { success: true, href: '/' } } as const;
    const guessed = running({ tokens: 100 }).report({ ...ended, untold: { given: 0, said: 400 } });
    expect(order(guessed)).toEqual(['usage', 'budget', 'queryConsent', 'turnComplete']);
  });

  test('11.8 of an agent that tells nothing is guessed by what could be read along, and marked; without a budget nothing is', () => {
    const untold = { given: 0, said: 399 };
    const ended = { type: 'turn-ended', outcome: 'result', value: null, result: { success: true, href: '/' } } as const;
    const story = running({ tokens: 100 }, { prompt: 'four' }).report({ ...ended, untold });
    expect(told(story)).toEqual(['reached']);
    expect(sessionView(story.state, 0).budget).toMatchObject({ spent: { tokens: 101 }, isEstimate: true });
    expect(story.events.find(({ type }) => type === 'usage')).toMatchObject({ outputTokens: 100, isEstimate: true });
    const free = new Story().running().report({ ...ended, untold });
    expect(free.recordTypes()).not.toContain('usage-reported');
  });

  test('11.8 what was guessed for a turn is told of that turn, also where the next begins with its end', () => {
    const ended = { type: 'turn-ended', outcome: 'result', value: null, result: { success: true, href: '/' } } as const;
    const story = running({ tokens: 1_000 })
      .send('next')
      .report({ ...ended, untold: { given: 0, said: 8 } });
    expect(story.state.turn.number).toBe(2);
    use(story.delivered(), 5);
    const turns = story.events.flatMap((event) => (event.type === 'usage' ? event.turn : []));
    expect(turns).toEqual([1, 2]);
  });

  test('11.1 an agent that cannot pause is held at the end of its turn, or by force', () => {
    const atEnd = use(running({ tokens: 10 }, { capabilities: [] }), 10)
      .send('next')
      .result();
    expect(atEnd.status).toBe('paused');
    expect(atEnd.deliveries()).toEqual(['first']);
    expect(requestsView(atEnd.state)).toHaveLength(1);
    const byForce = use(running({ tokens: 10 }, { capabilities: [] }), 10).pass(60_000);
    expect(byForce.commandTypes()).toContain('freeze');
    expect(byForce.status).toBe('paused');
  });

  test.each<[string, Budget, (story: Story) => Story]>([
    ['usd', { usd: 0.5 }, (story) => use(story, 1, 500_000)],
    ['turns', { turns: 1 }, (story) => story.result()],
    ['minutes', { minutes: 2 }, (story) => story.pass(120_000)],
  ])('11.2 of %s', (unit, budget, spend) => {
    const story = spend(running(budget));
    expect(told(story).at(-1)).toBe('reached');
    expect(requestsView(story.state)[0]?.event).toMatchObject({ scope: { what: [unit] } });
  });

  test('11.2 whoever is asked for more minutes reads those that were worked up to then', () => {
    const story = running({ minutes: 10 }).pass(600_000);
    expect(requestsView(story.state)[0]?.event).toMatchObject({
      scope: { spent: { minutes: 10 }, description: 'The budget is used up: 10 of 10 minutes. More, or stop?' },
    });
  });

  test('11.2 time counts while it works: not while it is paused, waits for somebody or is idle', () => {
    const story = running({ minutes: 10 }).pass(60_000).question();
    story.pass(600_000).answer().report({ type: 'answer-delivered', requestId: 'q1' });
    story.pass(60_000).control('pause').ack('pause-1').pass(600_000).control('resume').ack('resume-1');
    story.pass(60_000).result().pass(60_000);
    expect(budgetOf(story)?.spent).toEqual({ minutes: 3 });
  });

  test('11.2 what a program’s children use counts as its own, each total once', () => {
    const story = new Story().start({ kind: 'program', budget: { tokens: 100, turns: 5 } }).claim();
    story.ready(['pause', 'resume', 'cancel', 'interrupt']).delivered();
    const used = (child: string, tokens: number, turns: number) =>
      story.report({ type: 'child-used', child, usage: { inputTokens: tokens, outputTokens: 0 }, turns });
    used('a', 30, 1);
    used('a', 50, 2);
    used('b', 20, 1);
    expect(budgetOf(story)?.spent).toEqual({ tokens: 70, turns: 3 });
    used('b', 50, 1);
    expect(story.status).toBe('pausing');
  });

  test('11.3 "more" is the same amount again, and the session goes on', () => {
    const story = use(running({ tokens: 100 }), 130).ack('budget-1');
    answer(story, 'more');
    expect(story.events.find((event) => event.type === 'requestSettled')).toMatchObject({
      by: 'user',
      response: 'more',
    });
    expect(told(story)).toEqual(['reached', 'raised']);
    expect(budgetOf(story)).toMatchObject({ limits: { tokens: 200 }, left: { tokens: 70 } });
    expect(story.status).toBe('resuming');
    story.ack('budget-1-go');
    expect(story.status).toBe('running');
    use(story, 70);
    expect(requestsView(story.state)).toMatchObject([{ requestId: 'budget-2' }]);
  });

  test('11.3 so much of each; what is not enough is asked for again', () => {
    const story = use(running({ tokens: 100 }), 130).ack('budget-1');
    answer(story, { more: { tokens: 10 } });
    expect(story.status).toBe('paused');
    answer(story, '{"more":{"tokens":50}}', 'budget-2');
    expect(budgetOf(story)?.limits).toEqual({ tokens: 160 });
    expect(story.status).toBe('resuming');
  });

  test('11.3 an answer while it is still pausing lets it go on as soon as it has paused', () => {
    const story = use(running({ tokens: 100 }), 100);
    answer(story, true);
    expect(story.status).toBe('pausing');
    story.ack('budget-1');
    expect(story.status).toBe('resuming');
  });

  test('11.3 "stop" cancels, and the reason is the budget', () => {
    const story = use(running({ tokens: 100 }), 100).ack('budget-1');
    answer(story, 'stop');
    story.ack('budget-1-stop');
    expect(story.state.end).toMatchObject({ status: 'cancelled', reason: 'budget' });
    expect(story.events.filter((event) => event.type === 'requestSettled')).toHaveLength(1);
  });

  test('11.3 anything else is refused, and so is going on without more', () => {
    const story = use(running({ tokens: 100 }), 100).ack('budget-1');
    const wrong = (response: unknown) =>
      story.refusal({ type: 'answer', requestId: 'budget-1', response: response as never }).code;
    expect([wrong('maybe'), wrong(5), wrong({ more: { usd: 1 } }), wrong({ more: {} })]).toEqual(
      Array.from({ length: 4 }, () => 'invalid_answer'),
    );
    expect(story.refusal({ type: 'control', kind: 'resume', requestId: 'r' }).code).toBe('over_budget');
  });

  test.each([
    ['80 %', 47_000],
    ['100 %', 59_000],
  ])('11.2 minutes that come to %s while it is being cancelled do not stand in the way of that', (_, ms) => {
    const story = running({ minutes: 1 }).pass(ms).control('cancel', 'c').pass(14_999);
    expect(story.status).toBe('cancelling');
    expect(story.commandTypes()).toContain('terminate');
    expect(story.pass(1).state.end).toMatchObject({ status: 'cancelled', reason: 'forced' });
    expect(requestsView(story.state)).toEqual([]);
  });

  test('11.4 rules answer first, a person what they do not', () => {
    const ruled = use(running({ tokens: 100 }), 100).ack('budget-1');
    ruled.report({
      type: 'request-routing',
      requestId: 'budget-1',
      routing: { answer: { response: 'more', by: 'rule:all.1' } },
    });
    expect(ruled.events.find((event) => event.type === 'requestSettled')).toMatchObject({ by: 'rule:all.1' });
    expect(ruled.status).toBe('resuming');
    const unsure = use(running({ tokens: 100 }), 100).ack('budget-1');
    const routing = { answer: { response: 'blue', by: 'rule:all.1' }, answerWithinMs: 1_000 };
    unsure.report({ type: 'request-routing', requestId: 'budget-1', routing });
    expect(waitingOf(unsure.state)).toMatchObject({ asked: 'person', expiresAt: expect.any(String) });
    unsure.pass(2_000);
    expect(unsure.status).toBe('cancelling');
  });

  test('11.5 outlives turn, process and owner; the end withdraws it', () => {
    const story = use(running({ tokens: 100 }, { capabilities: [] }), 100).exit();
    expect(requestsView(story.state)).toHaveLength(1);
    story.claim(2, 'r2');
    expect(requestsView(story.state)).toHaveLength(1);
    expect(story.status).toBe('paused');
    story.control('cancel').pass(60_000);
    expect(story.status).toBe('cancelled');
    expect(story.events.findLast((event) => event.type === 'requestSettled')).toMatchObject({ outcome: 'withdrawn' });
  });

  test('11.5 a session that ends with its turn asks nobody', () => {
    const story = running({ turns: 1, tokens: 1_000 }, { once: true }).result();
    expect(story.status).toBe('completed');
    expect(told(story)).toEqual([]);
  });

  test('11.6 nothing is begun past it, whatever is used and however it is answered', () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('use' as const), tokens: fc.integer({ min: 0, max: 60 }) }),
      fc.record({ kind: fc.constantFrom('send' as const, 'result' as const, 'ack' as const, 'more' as const) }),
      fc.record({ kind: fc.constant('wait' as const), ms: fc.integer({ min: 0, max: 30_000 }) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), fc.boolean(), (list, pauses) => {
        const story = running({ tokens: 100, minutes: 5 }, pauses ? {} : { capabilities: [] });
        const wrong: string[] = [];
        list.forEach((one, index) => {
          const { limits, spent } = budgetOf(story) ?? { limits: {}, spent: {} };
          const wasOver = (spent.tokens ?? 0) >= (limits.tokens ?? 0);
          const before = story.deliveries().length;
          const request = requestsView(story.state)[0]?.requestId;
          if (one.kind === 'use') use(story, one.tokens);
          else if (one.kind === 'wait') story.pass(one.ms);
          else if (one.kind === 'send') story.send(`m${index}`);
          else if (one.kind === 'result' && story.state.turn.active) story.result();
          else if (one.kind === 'ack' && story.state.control !== undefined) story.ack(story.state.control.requestId);
          else if (one.kind === 'more' && request !== undefined) answer(story, 'more', request);
          const begun = story.deliveries().length > before;
          if (wasOver && one.kind !== 'more' && begun) wrong.push(`${index}: something was begun past it`);
          const now = budgetOf(story);
          if ((now?.spent.tokens ?? 0) < (now?.limits.tokens ?? 0)) return;
          // Whoever is over is asked about, exactly once, and neither works on nor begins.
          if (requestsView(story.state).length !== 1) wrong.push(`${index}: nobody is asked, or twice`);
          if (!['pausing', 'paused', 'resuming', 'interrupted'].includes(story.status)) wrong.push(story.status);
        });
        expect(wrong).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });
});
