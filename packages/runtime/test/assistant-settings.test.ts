import { memoryEventLog } from '@concerto/log';
import { afterEach, expect, test } from 'vitest';
import { type AssistantStage, openAssistantStage } from './assistant-stage.ts';

let stage: AssistantStage;

afterEach(() => stage.close());

const user = { actor: 'user', key: undefined };
const perSession = ['model', 'system', 'temperature', 'max_tokens', 'effort', 'output_schema'];
const verdict = {
  type: 'object',
  properties: { good: { type: 'boolean' }, why: { type: 'string' } },
  required: ['good'],
  additionalProperties: false,
};

test('what a session sets is in every request to the model, after a restart too, and on the session', async () => {
  const log = memoryEventLog({ now: Date.now });
  const kept = { ...log, close: async () => {} };
  const options = { log: kept, perSession, system: 'Be kind.', model: 'big', temperature: 0 };
  const params = { model: 'small', system: 'Be brief.', temperature: 0.5, max_tokens: 77, effort: 'high' };
  stage = await openAssistantStage(['One.', 'Two.'], options);
  const id = await stage.begin('Count', { params });
  await stage.afterTurns(id, 1);
  expect((await stage.sessions.get(id))?.settings).toEqual({ params });
  expect(await stage.sessions.settings.agentOf(id)).toMatchObject({ model: 'small', effort: 'high', perSession });
  const settled = { model: 'small', temperature: 0.5, max_tokens: 77, reasoning_effort: 'high' };
  expect(stage.model.requests[0]?.body).toMatchObject({ ...settled, messages: [{ content: 'Be brief.' }, {}] });
  await stage.close();
  stage = await openAssistantStage(['Two.', 'Three.'], options);
  await stage.say(id, 'On');
  await stage.afterTurns(id, 2);
  expect(stage.model.requests[0]?.body).toMatchObject(settled);
  const changed = await stage.sessions.settings.change(id, { params: { model: 'huge' } }, user);
  expect(changed).toMatchObject({ ok: true });
  await stage.until(id, ({ type, outcome }) => type === 'settings' && outcome === 'changed');
  await stage.say(id, 'On');
  await stage.afterTurns(id, 3);
  expect(stage.model.requests[1]?.body).toMatchObject({ ...settled, model: 'huge' });
  await log.close();
});

test.each([
  ['anthropic', 'minimal', { output_config: { effort: 'low' } }],
  ['google', 'max', { generationConfig: { thinkingConfig: { thinkingLevel: 'high' } } }],
  ['openai-responses', 'low', { reasoning: { effort: 'low' } }],
] as const)('%s: effort %s is what it has of it', async (provider, effort, asked) => {
  const environment = { OPENAI_API_KEY: 'k', ANTHROPIC_API_KEY: 'k', GEMINI_API_KEY: 'k' };
  stage = await openAssistantStage(['Yes.'], { provider, environment, effort, model: 'o3' });
  await stage.afterTurns(await stage.begin('Think'), 1);
  expect(stage.model.requests[0]?.body).toMatchObject(asked);
});

test.each([
  ['not listed', ['model'], { system: 'x' }, ['not_per_session', 'a session may set model']],
  ['too warm', perSession, { temperature: 3 }, ['invalid_params', 'params.temperature: ']],
  ['no effort', perSession, { effort: 'huge' }, ['invalid_params', 'params.effort: ']],
  ['no text', perSession, { model: 7 }, ['invalid_params', 'params.model: ']],
  ['unknown', ['modell'], { modell: 'x' }, ['invalid_params', 'did you mean "model"?']],
  ['no object', perSession, { output_schema: { type: 'string' } }, ['invalid_params', 'JSON Schema of an object']],
  [
    'no schema',
    perSession,
    { output_schema: { type: 'object', properties: { a: { type: 'sting' } } } },
    ['invalid_params', 'Unsupported type: sting'],
  ],
] as const)('%s: the start is refused with why', async (_name, allowed, params, [code, why]) => {
  stage = await openAssistantStage([], { perSession: allowed });
  const started = await stage.start({ assistant: 'helper', prompt: 'Hi', params: { ...params } });
  expect(started).toMatchObject({ ok: false, error: { code, message: expect.stringContaining(why) } });
});

test('an answer that does not fit its schema is asked for again; the result has what stands in it', async () => {
  const answers = ['Good!', '{"good":"yes"}', '{"good":true,"why":null}'];
  stage = await openAssistantStage(answers, { perSession });
  const id = await stage.begin('Is it?', { params: { output_schema: verdict } });
  const events = await stage.afterTurns(id, 1);
  expect((await stage.sessions.get(id))?.result).toMatchObject({ text: answers[2], output: { good: true } });
  expect(stage.model.requests[0]?.body).toMatchObject({ response_format: { type: 'json_schema' } });
  const told = JSON.stringify(events);
  for (const why of ['the answer is no JSON', 'does not fit its schema: good: ']) expect(told).toContain(why);
  expect(JSON.stringify(stage.model.requests[2]?.body)).toContain('does not fit its schema');
});

test('a model that never fits its schema fails the turn, and the next one is taken', async () => {
  stage = await openAssistantStage(['a', 'b', 'c', 'd', '{"good":false}'], { perSession });
  const id = await stage.begin('Is it?', { params: { output_schema: verdict } });
  const events = await stage.afterTurns(id, 1);
  expect(JSON.stringify(events)).toContain('the model cannot keep to its output schema');
  await stage.say(id, 'Once more');
  await stage.afterTurns(id, 2);
  expect((await stage.sessions.get(id))?.result).toMatchObject({ output: { good: false } });
});
