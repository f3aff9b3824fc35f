import { afterEach, expect, test } from 'vitest';
import { type AssistantStage, openAssistantStage } from './assistant-stage.ts';

const stages: AssistantStage[] = [];
afterEach(async () => {
  for (const stage of stages.splice(0)) await stage.close();
});

const usage = { input: 60, output: 0 };

test('an assistant is not asked again past its budget, and goes on where it was with more', async () => {
  const call = { tool: 'current_time', arguments: {} };
  const script = [
    [call, { usage }],
    [call, { usage }],
    [{ text: 'done' }, { usage }],
  ];
  const stage = await openAssistantStage(script, { functions: ['current_time'] });
  stages.push(stage);
  const id = await stage.begin('go', { budget: { tokens: 100 } });
  await stage.reached(id, 'paused');
  expect(stage.model.requests).toHaveLength(2);
  expect(await stage.sessions.get(id)).toMatchObject({ budget: { spent: { tokens: 120 }, left: { tokens: 0 } } });
  await stage.answer(id, 'more');
  const events = await stage.afterTurns(id, 1);
  expect(stage.model.requests).toHaveLength(3);
  expect(events.filter(({ type }) => type === 'budget').map(({ level }) => level)).toEqual([
    'reached',
    'raised',
    'near',
  ]);
});
