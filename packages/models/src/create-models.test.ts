import { expect, test } from 'vitest';
import { createModels } from './create-models.ts';
import type { ModelTurn } from './model-turn.ts';

const turn: ModelTurn = { connection: 'local', model: 'any', messages: [{ role: 'user', content: 'Grüße an alle!' }] };
const mock = createModels({ connections: { local: { provider: 'mock' } }, environment: {} });

test('the mock repeats the first fifty characters and counts bytes', async () => {
  expect(await mock.execute(turn)).toMatchObject({
    text: '[mock response to: Grüße an alle!]',
    usage: { inputTokens: 16, outputTokens: 42 },
    model: 'any',
    provider: 'mock',
    cost: undefined,
  });
  const long = await mock.execute({ ...turn, messages: [{ role: 'user', content: '🎻'.repeat(60) }] });
  expect(long.text).toBe(`[mock response to: ${'🎻'.repeat(50)}]`);
});

test('the mock fills a schema', async () => {
  const item = { type: 'object', properties: { name: { type: 'string' }, parent: { $ref: '#/$defs/Item' } } };
  const properties = {
    title: { type: 'string' },
    count: { type: 'integer' },
    ratio: { type: 'number' },
    done: { type: 'boolean' },
    level: { enum: ['low', 'high'] },
    tags: { type: 'array', items: { type: 'string' } },
    pair: { type: 'array', prefixItems: [{ type: 'integer' }, { type: 'string' }], minItems: 2 },
    maybe: { anyOf: [{ type: 'null' }, { type: 'string' }] },
    item: { $ref: '#/$defs/Item' },
  };
  const schema = { type: 'object', properties, $defs: { Item: item } };
  const { text } = await mock.execute({ ...turn, schema: { name: 'Task', schema } });
  expect(JSON.parse(text)).toMatchObject({
    title: '[mock title]',
    count: 0,
    ratio: 0,
    done: false,
    level: 'low',
    tags: ['[mock tags item]'],
    pair: [0, '[mock pair item]'],
    maybe: '[mock maybe]',
    item: { name: '[mock name]' },
  });
});

test('the mock streams in pieces that are the text', async () => {
  const pieces: string[] = [];
  for await (const part of mock.stream(turn)) if (part.type === 'text') pieces.push(part.text);
  expect(pieces.length).toBeGreaterThan(1);
  expect(pieces.join('')).toBe('[mock response to: Grüße an alle!]');
});

test('with `mock` every connection is the mock: no key, no address, not even a connection', async () => {
  const connections = { local: { provider: 'openai', api_key_env: 'NOT_SET', models: { any: 'gpt-4o' } } };
  const all = createModels({ connections, environment: {}, mock: true });
  expect(await all.execute(turn)).toMatchObject({ provider: 'mock', model: 'gpt-4o' });
  expect(await all.execute({ ...turn, connection: 'nowhere' })).toMatchObject({ provider: 'mock', model: 'any' });
});

test('without it a missing key is an error and never the mock', async () => {
  const connections = { local: { provider: 'openai', api_key_env: 'NOT_SET' } };
  const models = createModels({ connections, environment: {} });
  await expect(models.execute(turn)).rejects.toMatchObject({
    code: 'auth',
    message: expect.stringContaining('NOT_SET'),
  });
});

test('the mock calls the tools that lines of the prompt name, and no others', async () => {
  const tools = [{ name: 'files.read', description: '', parameters: { type: 'object' } }];
  const content =
    'Please\n/call files.read {"path": "a.txt"}\n/call nobody {}\n/call files.read\n/call files.read {oops';
  const { toolCalls, text, finishReason } = await mock.execute({
    ...turn,
    tools,
    messages: [{ role: 'user', content }],
  });
  expect(toolCalls.map(({ name, arguments: given }) => [name, given])).toEqual([
    ['files.read', { path: 'a.txt' }],
    ['files.read', {}],
    ['files.read', '{oops'],
  ]);
  expect(new Set(toolCalls.map(({ id }) => id)).size).toBe(3);
  expect({ text, finishReason }).toEqual({ text: '', finishReason: 'tool-calls' });
  expect((await mock.execute({ ...turn, messages: [{ role: 'user', content }] })).toolCalls).toEqual([]);
});

test('what keeps a connection from being asked is known beforehand', () => {
  const connections = {
    a: { provider: 'openai', default_model: 'm' },
    b: { provider: 'mock' },
    c: { provider: 'openai' },
  };
  const bare = createModels({ connections, environment: {} });
  expect(bare.fault('a')).toMatchObject({ code: 'auth', message: expect.stringContaining('OPENAI_API_KEY') });
  expect(bare.fault('b')).toBeUndefined();
  expect(bare.fault('none')?.message).toContain('[connections.none]');
  const keyed = createModels({ connections, environment: { OPENAI_API_KEY: 'k' } });
  expect(keyed.fault('a')).toBeUndefined();
  expect(keyed.fault('c')?.message).toContain('default_model');
  expect(keyed.fault('c', 'gpt')).toBeUndefined();
  expect(createModels({ connections, environment: {}, mock: true }).fault('a')).toBeUndefined();
});
