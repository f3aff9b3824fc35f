import { memoryEventLog } from '@concerto/log';
import { afterEach, describe, expect, test } from 'vitest';
import { leaseOf } from '../src/index.ts';
import { type AssistantStage, openAssistantStage, saidIn, textsOf } from './assistant-stage.ts';

let stage: AssistantStage;

afterEach(() => stage.close());

function messagesOf(request: number): unknown {
  return stage.model.requests[request]?.body.messages;
}

const time = { tool: 'current_time', arguments: {} };
const functions = ['current_time'] as const;

async function heard(session: string, text: string): Promise<void> {
  const said = async (): Promise<string> => textsOf(await stage.events(session)).join('');
  await expect.poll(said, { timeout: 10_000 }).toContain(text);
}

test('an interrupt ends the answer at once, the model is left, and what was said stays said', async () => {
  stage = await openAssistantStage([[{ text: 'One, two, ' }, { hang: true }], 'Three.']);
  const id = await stage.begin('Count');
  await heard(id, 'two, ');
  await stage.control(id, 'interrupt');
  await stage.reached(id, 'interrupted');
  await stage.model.abandoned();
  await stage.say(id, 'Go on');
  await stage.afterTurns(id, 2);
  expect(messagesOf(1)).toMatchObject([
    { role: 'user', content: 'Count' },
    { role: 'assistant', content: 'One, two, ' },
    { role: 'user', content: 'Go on' },
  ]);
});

test('one whose session another runner has taken calls nothing more and asks its model nothing more', async () => {
  const real = memoryEventLog({ now: Date.now });
  let isSlow = false;
  const read: typeof real.read = async (request) => {
    if (isSlow) await new Promise((resolve) => setTimeout(resolve, 1_000));
    return await real.read(request);
  };
  const script = [[{ text: 'A moment. ' }, { gate: 'go' }, time], [time], 'Noon.'];
  stage = await openAssistantStage(script, { functions, log: { ...real, read } });
  const id = await stage.begin('When?');
  await heard(id, 'A moment.');
  const name = leaseOf(id);
  await real.releaseLease({ name, epoch: 1 });
  await real.acquireLease({ name, owner: 'another', ttlMs: 60_000 });
  isSlow = true;
  stage.model.gate('go').open();
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(stage.model.requests).toHaveLength(1);
  isSlow = false;
});

test('functions of one step run side by side; an interrupt ends the one that waits, and the model hears of it later', async () => {
  const calls = [{ tool: 'ask_user', arguments: { question: 'Which?' } }, time];
  stage = await openAssistantStage([calls, 'I see.'], { functions: ['ask_user', 'current_time'] });
  const id = await stage.begin('Ask');
  await stage.reached(id, 'waitingForInput');
  await stage.control(id, 'interrupt');
  await stage.reached(id, 'interrupted');
  expect((await stage.sessions.requests(id))?.requests).toEqual([]);
  await stage.say(id, 'Never mind');
  const events = await stage.afterTurns(id, 2);
  const shown = events.filter(
    ({ type, callId }) => type === 'functionResult' && callId !== 'turn-1' && callId !== 'turn-2',
  );
  expect(shown.map(({ outcome }) => outcome)).toEqual(['ok', 'cancelled']);
  expect(messagesOf(1)).toMatchObject([
    { role: 'user' },
    { role: 'assistant', tool_calls: [{}, {}] },
    { role: 'tool', content: 'the turn was interrupted' },
    { role: 'tool', content: expect.stringMatching(/^\d{4}-/) },
    { role: 'user', content: 'Never mind' },
  ]);
});

test('a pause holds before the next function, and a resume goes on with it', async () => {
  stage = await openAssistantStage([[{ text: 'A moment. ' }, { gate: 'go' }, time], 'Noon.'], { functions });
  const id = await stage.begin('What time is it?');
  await heard(id, 'A moment. ');
  await stage.control(id, 'pause');
  stage.model.gate('go').open();
  await stage.reached(id, 'paused');
  const before = await stage.events(id);
  expect(before.filter(({ type }) => type === 'functionCall')).toHaveLength(1);
  expect(stage.model.requests).toHaveLength(1);
  await stage.control(id, 'resume');
  expect(saidIn(await stage.afterTurns(id, 1))).toBe('A moment. Noon.');
});

test('a pause in the last answer holds after it, and the queue waits', async () => {
  stage = await openAssistantStage([[{ text: 'One ' }, { gate: 'go' }, { text: 'moment.' }], 'Next.']);
  const id = await stage.begin('Wait');
  await heard(id, 'One ');
  await stage.control(id, 'pause');
  await stage.say(id, 'And then?');
  stage.model.gate('go').open();
  await stage.reached(id, 'paused');
  expect(stage.model.requests).toHaveLength(1);
  await stage.control(id, 'resume');
  await stage.afterTurns(id, 2);
  expect(stage.model.requests).toHaveLength(2);
});

test('a pause while a person is asked keeps the question; the answer counts after the resume', async () => {
  const script = [[{ tool: 'ask_user', arguments: { question: 'Which?' } }], 'Thanks.'];
  stage = await openAssistantStage(script, { functions: ['ask_user'] });
  const id = await stage.begin('Ask');
  await stage.reached(id, 'waitingForInput');
  await stage.control(id, 'pause');
  await stage.reached(id, 'paused');
  await stage.answer(id, { input: { parts: [{ text: 'this one' }] } });
  await stage.control(id, 'resume');
  await stage.afterTurns(id, 1);
  expect(messagesOf(1)).toMatchObject([{}, {}, { role: 'tool', content: 'this one' }]);
});

test('what is said into a turn is heard at its next step', async () => {
  stage = await openAssistantStage([[{ text: 'Hm. ' }, { gate: 'go' }, time], 'In UTC: noon.'], { functions });
  const id = await stage.begin('What time is it?');
  await heard(id, 'Hm. ');
  await stage.say(id, 'In UTC, please', 'immediate');
  await stage.until(
    id,
    ({ type, message }) =>
      type === 'message' && Object(message).how === 'steer' && Object(message).status === 'delivered',
  );
  stage.model.gate('go').open();
  await stage.afterTurns(id, 1);
  expect(messagesOf(1)).toMatchObject([
    { role: 'user' },
    { role: 'assistant' },
    { role: 'tool' },
    { role: 'user', content: 'In UTC, please' },
  ]);
});

test('what is said into the last answer is answered in the same turn', async () => {
  stage = await openAssistantStage([[{ text: 'No' }, { gate: 'go' }, { text: 'on.' }], '12:00.']);
  const id = await stage.begin('What time is it?');
  await heard(id, 'No');
  await stage.say(id, 'In digits', 'immediate');
  await stage.until(
    id,
    ({ type, message }) =>
      type === 'message' && Object(message).status === 'delivered' && Object(message).how === 'steer',
  );
  stage.model.gate('go').open();
  await stage.afterTurns(id, 1);
  expect(await stage.sessions.get(id)).toMatchObject({ turn: 1, result: { text: '12:00.' } });
});

test('cancel ends the session and leaves the model', async () => {
  stage = await openAssistantStage([[{ text: 'La la ' }, { hang: true }]]);
  const id = await stage.begin('Sing');
  await heard(id, 'La la ');
  await stage.control(id, 'cancel');
  await stage.until(id, ({ type }) => type === 'finish');
  await stage.model.abandoned();
  expect(await stage.sessions.get(id)).toMatchObject({ status: 'cancelled' });
});

test('a turn that takes too long is ended, and the next one knows what was said', async () => {
  stage = await openAssistantStage([[{ text: 'Well ' }, { hang: true }], 'Here.'], { timeoutMs: 1_000 });
  const id = await stage.begin('Hello?');
  await stage.afterTurns(id, 1);
  await stage.model.abandoned();
  await stage.say(id, 'Anyone?');
  await stage.afterTurns(id, 2);
  expect(messagesOf(1)).toMatchObject([
    { role: 'user', content: 'Hello?' },
    { role: 'assistant', content: 'Well ' },
    { role: 'user', content: 'Anyone?' },
  ]);
});

describe('after a restart', () => {
  test('the conversation is what it was: words, calls, results and what was said in between', async () => {
    const log = memoryEventLog({ now: Date.now });
    const kept = { ...log, close: async () => {} };
    stage = await openAssistantStage([[{ text: 'Let me look. ' }, time, time], 'It is noon.'], {
      functions,
      log: kept,
    });
    const id = await stage.begin('What time is it?');
    const before = await stage.afterTurns(id, 1);
    const times = before.flatMap(({ type, content }) => {
      const response = type === 'functionResult' ? Object(content).parts[0].functionResponse.response : {};
      return typeof response.result === 'string' ? [response.result] : [];
    });
    await stage.close();
    stage = await openAssistantStage(['You asked for the time.'], { functions, log: kept });
    await stage.say(id, 'What did I ask?');
    await stage.afterTurns(id, 2);
    expect(messagesOf(0)).toMatchObject([
      { role: 'user', content: 'What time is it?' },
      {
        role: 'assistant',
        content: 'Let me look. ',
        tool_calls: [{ function: { name: 'current_time' } }, { function: { name: 'current_time' } }],
      },
      { role: 'tool', content: times[0] },
      { role: 'tool', content: times[1] },
      { role: 'assistant', content: 'It is noon.' },
      { role: 'user', content: 'What did I ask?' },
    ]);
    await log.close();
  });

  test('a turn that was under way is over, and the next one knows how far it came', async () => {
    const log = memoryEventLog({ now: Date.now });
    const kept = { ...log, close: async () => {} };
    stage = await openAssistantStage([[{ text: 'Chapter one. ' }, { hang: true }]], { log: kept });
    const id = await stage.begin('Tell me a story');
    await heard(id, 'Chapter one. ');
    await stage.close();
    stage = await openAssistantStage(['Chapter two.'], { log: kept });
    await stage.reached(id, 'interrupted');
    await stage.say(id, 'Go on');
    await stage.afterTurns(id, 2);
    expect(messagesOf(0)).toMatchObject([
      { role: 'user', content: 'Tell me a story' },
      { role: 'assistant', content: 'Chapter one. ' },
      { role: 'user', content: 'Go on' },
    ]);
    await log.close();
  });
});
