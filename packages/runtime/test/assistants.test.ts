import { afterEach, expect, test } from 'vitest';
import { type AssistantStage, openAssistantStage, saidIn } from './assistant-stage.ts';

let stage: AssistantStage;

afterEach(() => stage.close());

test('a turn: the text as it comes, what it cost, the result; the next turn knows the first', async () => {
  stage = await openAssistantStage(['Hello there, Ada.', 'You are Ada.'], { system: 'Be kind.' });
  const id = await stage.begin('I am Ada');
  const first = await stage.afterTurns(id, 1);
  expect(saidIn(first)).toBe('Hello there, Ada.');
  expect(first.filter(({ type }) => type === 'content').length).toBeGreaterThan(2);
  await stage.reached(id, 'idle');
  const session = await stage.sessions.get(id);
  expect(session).toMatchObject({ kind: 'assistant', agent: 'helper', result: { text: 'Hello there, Ada.' } });
  expect(session?.usage).toMatchObject({ inputTokens: 100, outputTokens: 20 });
  await stage.say(id, 'Who am I?');
  await stage.afterTurns(id, 2);
  expect(stage.model.requests[1]?.body.messages).toMatchObject([
    { role: 'system', content: 'Be kind.' },
    { role: 'user', content: 'I am Ada' },
    { role: 'assistant', content: 'Hello there, Ada.' },
    { role: 'user', content: 'Who am I?' },
  ]);
});
