import { describe, expect, test } from 'vitest';
import { Story, suspend } from '../../test/story.ts';
import { answerStanding } from './answer.ts';
import type { Routing } from './session-command.ts';
import { requestsView } from './view.ts';

describe('questions', () => {
  test('5.1 the first answer counts', () => {
    const story = new Story().running().question('q1');
    expect(requestsView(story.state)).toMatchObject([{ requestId: 'q1', type: 'waitForInput' }]);
    story.answer('q1');
    expect(story.refusal({ type: 'answer', requestId: 'q1', response: 'yes' }).code).toBe('already_answered');
    expect(story.refusal({ type: 'answer', requestId: 'q2', response: 'yes' }).code).toBe('no_such_request');
  });

  test('5.5 an answer counts when the owner has it, and is confirmed once, when the agent has it', () => {
    const story = new Story().running().question('q1');
    story.attentive = false;
    story.answer('q1');
    expect(story.commandTypes().at(-1)).toBe('attend');
    expect(story.eventTypes()).not.toContain('requestSettled');
    story.attend();
    expect(story.commands.at(-1)).toMatchObject({ type: 'answer', requestId: 'q1', response: 'yes' });
    expect(story.events.at(-1)).toMatchObject({ type: 'requestSettled', outcome: 'answered', by: 'user' });
    expect(story.acks.map((ack) => ack.type)).not.toContain('answer_ack');
    story.report({ type: 'answer-delivered', requestId: 'q1' }).report({ type: 'answer-delivered', requestId: 'q1' });
    expect(story.acks.filter((ack) => ack.type === 'answer_ack')).toEqual([
      { type: 'answer_ack', requestId: 'q1', epoch: 1 },
    ]);
    expect(story.recordTypes().at(-1)).toBe('report-ignored');
  });

  test('5.5 decided beside the owner, an answer is handed over in the same decision', () => {
    const story = new Story().running().question('q1');
    story.wish({
      type: 'answer',
      requestId: 'q1',
      response: 1,
      attending: { epoch: 1, actor: 'runner:r1' },
    });
    expect(story.last?.records.map((one) => one.type)).toEqual(['request-answered', 'answer-sent']);
    expect(story.last?.commands).toMatchObject([{ type: 'answer', response: 1 }]);
  });

  test('5.6 taken within the lease of an owner that is dead: withdrawn by the next, and never shown as answered', () => {
    const story = new Story().running().question('q1');
    story.attentive = false;
    story.answer('q1').claim(2);
    expect(story.events.filter((event) => event.type === 'requestSettled')).toEqual([
      { type: 'requestSettled', requestId: 'q1', outcome: 'withdrawn', reason: 'the agent was lost' },
    ]);
    expect(story.refusal({ type: 'answer', requestId: 'q1', response: 1 }).code).toBe('withdrawn');
  });

  test('5.6 given while paused and dead: the owner’s word counts there too', () => {
    const story = new Story().running().question('q1').control('pause', 'p').ack('p');
    story.attentive = false;
    story.answer('q1');
    expect(story.eventTypes()).not.toContain('requestSettled');
    story.attend();
    expect(story.events.at(-1)).toMatchObject({ type: 'requestSettled', outcome: 'answered' });
    story.control('resume', 'r').ack('r');
    expect(story.events.filter((event) => event.type === 'requestSettled')).toHaveLength(1);
  });

  test('5.6 an answer that nobody takes is taken back, and the question is open again', () => {
    const story = new Story().running().question('q1');
    story.attentive = false;
    story.answer('q1').wish({ type: 'take-back-answer', requestId: 'q1' });
    expect(story.status).toBe('waitingForInput');
    story.attend();
    expect(story.commandTypes()).not.toContain('answer');
    story.attentive = true;
    story.answer('q1').wish({ type: 'take-back-answer', requestId: 'q1' });
    expect(story.commands.at(-1)).toMatchObject({ type: 'answer' });
    expect(story.status).toBe('running');
  });

  test('5.6 handed over to an agent that dies before it confirms: withdrawn, with the reason', () => {
    const story = new Story().running().question('q1').answer('q1').exit();
    const reason = 'the agent was lost before it had confirmed the answer';
    expect(story.events.at(-1)).toMatchObject({ type: 'status', status: 'interrupted', reason });
    expect(story.records).toContainEqual(
      expect.objectContaining({ type: 'request-withdrawn', requestId: 'q1', reason }),
    );
    expect(story.events.filter((event) => event.type === 'requestSettled')).toHaveLength(1);
  });

  test('5.6 an agent that takes no answer for a minute is lost', () => {
    const story = new Story().running().question('q1').answer('q1').pass(60_000);
    expect(story.status).toBe('interrupted');
    expect(story.state.hold?.reason).toBe('the agent took no answer');
    expect(story.commandTypes()).toContain('kill');
  });

  test('5.6 an agent that takes its question back before it has the answer is not lost for it', () => {
    const story = new Story().running().question('q1').answer('q1');
    story.report({ type: 'request-withdrawn', requestId: 'q1', reason: 'found it' });
    expect(story.state.requests.live.size).toBe(0);
    expect(story.refusal({ type: 'answer', requestId: 'q1', response: 1 })).toMatchObject({ reason: 'found it' });
    expect(story.pass(60_000).status).toBe('running');
    expect(story.commandTypes()).not.toContain('kill');
    expect(story.events.filter((event) => event.type === 'requestSettled')).toHaveLength(1);
  });

  test('5.6 of an answer that no owner has taken whoever gave it hears that the question was taken back', () => {
    const story = new Story().running().question('q1');
    story.attentive = false;
    story.answer('q1').report({ type: 'request-withdrawn', requestId: 'q1', reason: 'found it' });
    expect(story.commandTypes()).not.toContain('answer');
    expect(answerStanding(story.state, 'q1')).toEqual({ is: 'withdrawn', reason: 'found it' });
    const settled = story.events.filter((event) => event.type === 'requestSettled');
    expect(settled).toMatchObject([{ outcome: 'withdrawn', reason: 'found it' }]);
  });

  test('5.7 a hundred questions at once; the agent hears that the next is not taken', () => {
    const story = new Story().running();
    for (let number = 1; number <= 101; number++) story.question(`q${number}`);
    expect(requestsView(story.state)).toHaveLength(100);
    expect(story.commands.at(-1)).toMatchObject({ type: 'withdraw', requestId: 'q101' });
    expect(story.refusal({ type: 'answer', requestId: 'q101', response: 1 }).code).toBe('no_such_request');
  });

  test('5.4 the same answer because of the same cause is no second one', () => {
    const story = new Story().running().question('q1');
    const answer = { type: 'answer', requestId: 'q1', response: 'yes', cause: 'key-1' } as const;
    story.wish(answer).wish(answer);
    expect(story.last?.records).toEqual([]);
    const other = { ...answer, cause: 'key-2' };
    expect(story.refusal(other).code).toBe('already_answered');
    expect(story.refusal({ type: 'answer', requestId: 'q1', response: 'yes' }).code).toBe('already_answered');
  });

  test.each([false, null, 0, ''])('5.1 an answer may be any JSON: %j', (response) => {
    const story = new Story().running().question('q1').wish({ type: 'answer', requestId: 'q1', response });
    expect(story.commands.at(-1)).toMatchObject({ type: 'answer', response });
  });

  test.each([
    ['result', (story: Story) => story.result(), 'the turn ended'],
    ['error', (story: Story) => story.error(), 'the turn failed'],
    ['lost process', (story: Story) => story.exit(), 'the agent was lost'],
    ['takeover', (story: Story) => story.claim(2), 'the agent was lost'],
    ['cancel', (story: Story) => story.control('cancel', 'c'), 'the session was cancelled'],
  ])('5.2 nothing stays open after a %s', (_, happens, reason) => {
    const story = new Story().running().question('q1').question('q2', 'approval');
    happens(story);
    expect(requestsView(story.state)).toEqual([]);
    expect(story.refusal({ type: 'answer', requestId: 'q2', response: 1 })).toMatchObject({
      code: 'withdrawn',
      reason,
    });
  });

  test('5.2 an answer that was kept for after the pause is withdrawn with its turn', () => {
    const story = new Story().running().question('q1').control('pause', 'p').ack('p').answer('q1').result();
    expect(story.status).toBe('paused');
    story.control('resume', 'r').ack('r');
    expect(story.commandTypes()).not.toContain('answer');
  });

  test('5.2 the agent itself may take a question back', () => {
    const story = new Story()
      .running()
      .question('q1')
      .report({ type: 'request-withdrawn', requestId: 'q1', reason: 'found it' });
    expect(story.status).toBe('running');
    expect(story.events).toContainEqual({
      type: 'requestSettled',
      requestId: 'q1',
      outcome: 'withdrawn',
      reason: 'found it',
    });
  });

  test('5.3 several questions at once: the oldest decides the status', () => {
    const story = new Story().running().question('q1', 'approval').question('q2', 'input');
    expect(story.status).toBe('waitingForApproval');
    story.answer('q1');
    expect(story.status).toBe('waitingForInput');
    story.answer('q2');
    expect(story.status).toBe('running');
  });

  test('5.3 a question id is used once', () => {
    const story = new Story().running().question('q1').answer('q1').question('q1');
    expect(story.status).toBe('running');
    expect(story.recordTypes().at(-1)).toBe('report-ignored');
  });
});

describe('who answers', () => {
  const ruled = (routing: Routing) =>
    new Story()
      .running()
      .report({ type: 'request-opened', requestId: 'q1', event: suspend('q1', 'approval'), routing });

  test('10.1 a rule answers in the decision that opens the request, and says so', () => {
    const story = ruled({ answer: { response: false, by: 'rule:all.1', reason: 'not from here' } });
    expect(story.status).toBe('running');
    expect(story.last?.records.map(({ type }) => type)).toEqual([
      'request-opened',
      'request-routed',
      'request-answered',
      'answer-sent',
    ]);
    expect(story.last?.commands).toMatchObject([{ type: 'answer', response: false, reason: 'not from here' }]);
    expect(story.last?.events).toMatchObject([
      { type: 'queryConsent' },
      { type: 'requestRouted', requestId: 'q1', to: 'rules' },
      { type: 'requestSettled', by: 'rule:all.1', reason: 'not from here', response: false },
    ]);
    expect(story.refusal({ type: 'answer', requestId: 'q1', response: true }).code).toBe('already_answered');
  });

  test('10.1 held while paused, as every answer', () => {
    const story = new Story().running().control('pause', 'p').ack('p');
    const answer = { response: true, by: 'rule:all.1' };
    story.report({ type: 'request-opened', requestId: 'q1', event: suspend('q1', 'approval'), routing: { answer } });
    expect(story.commandTypes()).not.toContain('answer');
    story.control('resume', 'r').ack('r');
    expect(story.commands.at(-1)).toMatchObject({ type: 'answer', response: true });
  });

  test('10.2 what no rule decides is asked of a person, who sees for how long', () => {
    const story = ruled({ reason: 'rule:agents.claude.2 asks', answerWithinMs: 60_000 });
    const expiresAt = new Date(1_060_000).toISOString();
    expect(requestsView(story.state)).toMatchObject([{ requestId: 'q1', routedTo: 'person', next: [], expiresAt }]);
    expect(story.events).toContainEqual({
      type: 'requestRouted',
      requestId: 'q1',
      to: 'person',
      reason: 'rule:agents.claude.2 asks',
      expiresAt,
    });
  });

  test('10.3 an answer may say why, and be remembered for the session', () => {
    const rule = { tool: 'Bash', command: 'ls', decide: 'allow' };
    const story = ruled({}).wish({ type: 'answer', requestId: 'q1', response: false, reason: 'use git mv', rule });
    expect(story.commands.at(-1)).toMatchObject({ type: 'answer', reason: 'use git mv' });
    expect(story.state.rules).toEqual([rule]);
  });
});
