import type { Json } from '@concerto/base';
import { afterEach, describe, expect, test } from 'vitest';
import { createModels, ModelFailure, type ModelPart, type Models, type ModelTurn } from '../src/index.ts';
import {
  type ScriptedModelServer,
  startScriptedModelServer,
  type WireName,
} from '../src/testing/scripted-model-server.ts';

const KEY = 'sk-test-0123456789';

type Provider = {
  readonly provider: string;
  readonly wire: WireName;
  readonly model: string;
  readonly path: string;
  /** The header that carries the key, and how it reads. */
  readonly auth: readonly [name: string, value: string];
  /** Where the schema of the answer is in the request. */
  readonly schemaIn: (body: Record<string, Json>) => unknown;
  readonly toolNames: (body: Record<string, Json>) => unknown;
  readonly system: (body: Record<string, Json>) => unknown;
  readonly maxTokens: string;
};

const at = (data: unknown, ...path: (string | number)[]): unknown =>
  path.reduce<unknown>((value, key) => (value as Record<string | number, unknown> | undefined)?.[key], data);

const openaiBody = {
  schemaIn: (body: Record<string, Json>) => at(body, 'response_format', 'json_schema', 'schema'),
  toolNames: (body: Record<string, Json>) => (body.tools as Json[]).map((tool) => at(tool, 'function', 'name')),
  system: (body: Record<string, Json>) => at(body, 'messages', 0, 'content'),
};

const PROVIDERS: readonly Provider[] = [
  {
    provider: 'openai',
    wire: 'openai-chat',
    model: 'gpt-4o',
    path: '/v1/chat/completions',
    auth: ['authorization', `Bearer ${KEY}`],
    maxTokens: 'max_tokens',
    ...openaiBody,
  },
  {
    provider: 'openai-responses',
    wire: 'openai-responses',
    model: 'gpt-4o',
    path: '/v1/responses',
    auth: ['authorization', `Bearer ${KEY}`],
    schemaIn: (body) => at(body, 'text', 'format', 'schema'),
    toolNames: (body) => (body.tools as Json[]).map((tool) => at(tool, 'name')),
    system: (body) => at(body, 'input', 0, 'content'),
    maxTokens: 'max_output_tokens',
  },
  {
    provider: 'anthropic',
    wire: 'anthropic',
    model: 'claude-haiku-4-5',
    path: '/v1/messages',
    auth: ['x-api-key', KEY],
    schemaIn: (body) => at(body, 'output_config', 'format', 'schema') ?? at(body, 'tools', 0, 'input_schema'),
    toolNames: (body) => (body.tools as Json[]).map((tool) => at(tool, 'name')),
    system: (body) => at(body, 'system', 0, 'text'),
    maxTokens: 'max_tokens',
  },
  {
    provider: 'google',
    wire: 'google',
    model: 'gemini-2.5-flash',
    path: '/v1beta/models/gemini-2.5-flash:generateContent',
    auth: ['x-goog-api-key', KEY],
    schemaIn: (body) => at(body, 'generationConfig', 'responseSchema'),
    toolNames: (body) => (at(body, 'tools', 0, 'functionDeclarations') as Json[]).map((tool) => at(tool, 'name')),
    system: (body) => at(body, 'systemInstruction', 'parts', 0, 'text'),
    maxTokens: 'generationConfig.maxOutputTokens',
  },
  {
    provider: 'custom',
    wire: 'openai-chat',
    model: 'llama-3',
    path: '/v1/chat/completions',
    auth: ['authorization', `Bearer ${KEY}`],
    maxTokens: 'max_tokens',
    ...openaiBody,
  },
  {
    provider: 'ollama',
    auth: ['authorization', `Bearer ${KEY}`],
    wire: 'openai-chat',
    model: 'qwen3',
    path: '/v1/chat/completions',
    maxTokens: 'max_tokens',
    ...openaiBody,
  },
];

let server: ScriptedModelServer | undefined;

afterEach(async () => {
  await server?.close();
  server = undefined;
});

type Setup = { readonly models: Models; readonly server: ScriptedModelServer; readonly turn: ModelTurn };

async function setup(
  { provider, model }: Provider,
  script: Parameters<typeof startScriptedModelServer>[0],
  settings: Record<string, unknown> = {},
): Promise<Setup> {
  server = await startScriptedModelServer(script);
  const connection = {
    provider,
    base_url: server.url,
    default_model: model,
    api_key_env: 'TEST_KEY',
    ...settings,
  };
  const models = createModels({ connections: { c: connection }, environment: { TEST_KEY: KEY } });
  return { models, server, turn: { connection: 'c', messages: [{ role: 'user', content: 'Hello?' }] } };
}

async function collect(parts: AsyncIterable<ModelPart>): Promise<{ pieces: string[]; last: ModelPart | undefined }> {
  const pieces: string[] = [];
  let last: ModelPart | undefined;
  for await (const part of parts) {
    last = part;
    if (part.type === 'text') pieces.push(part.text);
  }
  return { pieces, last };
}

async function failureOf(work: Promise<unknown>): Promise<ModelFailure> {
  const outcome = await work.then(
    () => undefined,
    (cause: unknown) => cause,
  );
  expect(outcome).toBeInstanceOf(ModelFailure);
  return outcome as ModelFailure;
}

const TOOL = {
  name: 'Calculator::add',
  description: 'Adds two numbers',
  parameters: {
    type: 'object',
    properties: { a: { type: 'integer' }, b: { type: 'integer' } },
    required: ['a', 'b'],
    additionalProperties: false,
  },
};

const SCHEMA = {
  name: 'Review',
  schema: {
    type: 'object',
    properties: { score: { type: 'integer' }, note: { type: 'string' } },
    required: ['score'],
    additionalProperties: false,
  },
};

describe.each(PROVIDERS)('$provider on $wire', (provider) => {
  test('a turn: text, usage, model, and the request as the provider wants it', async () => {
    const { models, server, turn } = await setup(provider, [
      [{ text: 'Hello, world.' }, { usage: { input: 12, output: 34 } }],
    ]);
    const reply = await models.execute({
      ...turn,
      messages: [{ role: 'system', content: 'Be brief.' }, ...turn.messages],
      temperature: 0.5,
      maxTokens: 99,
    });
    expect(reply).toMatchObject({
      text: 'Hello, world.',
      toolCalls: [],
      finishReason: 'stop',
      usage: { inputTokens: 12, outputTokens: 34, totalTokens: 46 },
      model: provider.model,
      provider: provider.provider,
      attempts: 1,
    });
    const [request] = server.requests;
    expect(request?.path).toBe(provider.path);
    expect(request?.streamed).toBe(false);
    const [header, shown] = provider.auth;
    expect(request?.headers[header]).toBe(shown);
    const body = request?.body as unknown as Record<string, Json>;
    expect(provider.system(body)).toBe('Be brief.');
    expect(at(body, ...provider.maxTokens.split('.'))).toBe(99);
  });

  test('a stream: pieces as they come, then the whole', async () => {
    const { models, server, turn } = await setup(provider, [
      [{ text: 'first ' }, { gate: 'middle' }, { text: 'second' }, { usage: { input: 5, output: 6 } }],
    ]);
    const parts = models.stream(turn);
    const first = await parts.next();
    expect(first.value).toEqual({ type: 'text', text: 'first ' });
    server.gate('middle').open();
    const { pieces, last } = await collect(parts);
    expect(pieces.join('')).toBe('second');
    expect(last).toMatchObject({
      type: 'reply',
      reply: { text: 'first second', usage: { inputTokens: 5, outputTokens: 6 }, finishReason: 'stop' },
    });
    expect(server.requests[0]?.streamed).toBe(true);
  });

  test.each([false, true])('tools: called, answered, and failed ones too (streamed: %s)', async (streamed) => {
    const { models, server, turn } = await setup(provider, [
      [
        { text: 'Let me see. ' },
        { tool: 'Calculator__add', arguments: { a: 1, b: 2 }, id: 'call_a' },
        { tool: 'Calculator__add', arguments: { a: 3, b: 4 }, id: 'call_b' },
      ],
      'Three, and an error.',
    ]);
    const ask = async (wanted: ModelTurn) => {
      if (!streamed) return models.execute(wanted);
      const { last } = await collect(models.stream(wanted));
      if (last?.type !== 'reply') throw new Error('no reply');
      return last.reply;
    };
    const first = await ask({ ...turn, tools: [TOOL] });
    expect(first.finishReason).toBe('tool-calls');
    expect(first.text).toBe('Let me see. ');
    expect(first.toolCalls.map(({ name, arguments: given }) => [name, given])).toEqual([
      ['Calculator::add', { a: 1, b: 2 }],
      ['Calculator::add', { a: 3, b: 4 }],
    ]);
    const [a, b] = first.toolCalls;
    const second = await ask({
      ...turn,
      tools: [TOOL],
      messages: [
        ...turn.messages,
        { role: 'assistant', content: first.text, toolCalls: first.toolCalls },
        { role: 'tool', id: a?.id ?? '', name: 'Calculator::add', content: '3', failed: false },
        { role: 'tool', id: b?.id ?? '', name: 'Calculator::add', content: 'out of fingers', failed: true },
      ],
    });
    expect(second.text).toBe('Three, and an error.');
    const [asked, answered] = server.requests;
    expect(provider.toolNames(asked?.body as unknown as Record<string, Json>)).toEqual(['Calculator__add']);
    const sent = JSON.stringify(answered?.body);
    expect(sent).toContain('out of fingers');
    expect(sent).toContain('Calculator__add');
    expect(sent).not.toContain('Calculator::add');
    expect(sent.includes('signature-of-call_a')).toBe(provider.wire === 'google');
  });

  test('structured output goes the provider’s own way', async () => {
    const answer = '{"score":5,"note":null}';
    const script =
      provider.wire === 'anthropic'
        ? (request: { body: Record<string, Json> }) =>
            request.body.tools === undefined ? answer : [{ tool: 'json', arguments: JSON.parse(answer) as Json }]
        : [answer];
    const { models, server, turn } = await setup(provider, script as never);
    const reply = await models.execute({ ...turn, schema: SCHEMA });
    expect(JSON.parse(reply.text)).toEqual({ score: 5, note: null });
    const schema = provider.schemaIn(server.requests[0]?.body as unknown as Record<string, Json>);
    expect(schema).toMatchObject({ type: 'object', required: ['score', 'note'] });
  });

  test('a value that is no object is wrapped for the provider and unwrapped', async () => {
    const answer = '{"value":[1,2]}';
    const { models, turn } = await setup(provider, [answer]);
    const schema = { name: 'Array<Int>', schema: { type: 'array', items: { type: 'integer' } } };
    const reply = await models.execute({ ...turn, schema });
    expect(reply.text).toBe('[1,2]');
  });

  test.each([
    [400, 'bad_request'],
    [401, 'auth'],
    [404, 'not_found'],
    [429, 'rate_limited'],
    [500, 'server'],
    [503, 'server'],
  ] as const)('%s is an error of kind %s, without the key', async (status, code) => {
    const { models, server, turn } = await setup(provider, [
      [{ error: { status, message: `no good: ${KEY}`, headers: { 'retry-after': '7' } } }],
    ]);
    const failure = await failureOf(models.execute(turn));
    expect(failure.code).toBe(code);
    expect(failure.facts).toMatchObject({ status, attempts: 1, retryAfterMs: 7000 });
    expect(failure.message).toContain('no good');
    expect(`${failure.message}${failure.stack ?? ''}${JSON.stringify(failure.details)}`).not.toContain(KEY);
    expect(failure.message.includes('TEST_KEY')).toBe(status === 401);
    expect(server.requests).toHaveLength(1);
  });

  test('an error before a stream is the same error', async () => {
    const { models, turn } = await setup(provider, [[{ error: { status: 429, message: 'slow down' } }]]);
    const failure = await failureOf(collect(models.stream(turn)));
    expect(failure.code).toBe('rate_limited');
  });

  test('retries what may pass, and counts', async () => {
    const { models, server, turn } = await setup(
      provider,
      [[{ error: { status: 500 } }], [{ error: { status: 429, headers: { 'retry-after': '0' } } }], 'at last'],
      { retry: { max_attempts: 3 } },
    );
    const reply = await models.execute(turn);
    expect(reply).toMatchObject({ text: 'at last', attempts: 3 });
    expect(server.requests).toHaveLength(3);
  });

  test('a stream that breaks off is an error after what was said', async () => {
    const { models, turn } = await setup(provider, [[{ text: 'half of ' }, { drop: true }]], {
      retry: { max_attempts: 3 },
    });
    const pieces: string[] = [];
    const failure = await failureOf(
      (async () => {
        for await (const part of models.stream(turn)) if (part.type === 'text') pieces.push(part.text);
      })(),
    );
    expect(pieces.join('')).toBe('half of ');
    expect(failure.code).toBe('network');
    expect(failure.facts.attempts).toBe(1);
  });

  test('a stream that ends before the answer does is no answer, whatever was called in it', async () => {
    const call = { tool: 'Calculator__add', arguments: { a: 1, b: 2 } } as const;
    const { models, turn } = await setup(provider, [[{ text: 'half of ' }, call, { cut: true }]], {
      retry: { max_attempts: 3 },
    });
    const failure = await failureOf(collect(models.stream({ ...turn, tools: [TOOL] })));
    expect(failure.code).toBe('network');
    expect(failure.message).toContain('the answer broke off');
  });

  test('a stream that says nothing is asked for again', async () => {
    const { models, turn } = await setup(provider, [[{ cut: true }], 'whole'], { retry: { max_attempts: 2 } });
    const { last } = await collect(models.stream(turn));
    expect(last).toMatchObject({ reply: { text: 'whole', attempts: 2 } });
  });

  test.each([
    [503, undefined, 'server'],
    [429, undefined, 'rate_limited'],
    [429, 'insufficient_quota', 'quota'],
  ] as const)('%s %s told in the stream is the error that it is', async (status, code, kind) => {
    const error = { status, message: 'no good', ...(code === undefined ? {} : { code }) };
    const { models, server, turn } = await setup(provider, [[{ text: 'I ' }, { error }], 'not asked'], {
      retry: { max_attempts: 3 },
    });
    const failure = await failureOf(collect(models.stream(turn)));
    expect(failure.message).toContain('no good');
    expect(failure.code).toBe(kind);
    expect(server.requests).toHaveLength(1);
  });

  test('one told before anything was said is asked again', async () => {
    const busy = { status: 529, message: 'Overloaded', code: 'overloaded_error' };
    const { models, turn } = await setup(provider, [[{ gate: 'begun' }, { error: busy }], 'there'], {
      retry: { max_attempts: 2 },
    });
    server?.gate('begun').open();
    const { last } = await collect(models.stream(turn));
    expect(last).toMatchObject({ reply: { text: 'there', attempts: 2 } });
  });

  test('an answer that breaks off is tried again', async () => {
    const { models, turn } = await setup(provider, [[{ drop: true }], 'whole'], { retry: { max_attempts: 2 } });
    expect(await models.execute(turn)).toMatchObject({ text: 'whole', attempts: 2 });
  });

  test('cancelling ends the request', async () => {
    const { models, server, turn } = await setup(provider, [[{ gate: 'asked' }, { hang: true }]]);
    const controller = new AbortController();
    const work = failureOf(models.execute({ ...turn, signal: controller.signal }));
    await server.gate('asked').reached;
    controller.abort();
    expect((await work).code).toBe('cancelled');
    await server.abandoned();
  });

  test('leaving a stream ends the request', async () => {
    const { models, server, turn } = await setup(provider, [[{ text: 'one' }, { hang: true }]]);
    for await (const part of models.stream(turn)) {
      expect(part).toEqual({ type: 'text', text: 'one' });
      break;
    }
    await server.abandoned();
  });

  test.each(['execute', 'stream'] as const)('the time limit ends %s', async (method) => {
    const { models, server, turn } = await setup(provider, [[{ hang: true }]]);
    const wanted = { ...turn, timeoutMs: 60 };
    const failure = await failureOf(method === 'execute' ? models.execute(wanted) : collect(models.stream(wanted)));
    expect(failure.code).toBe('timeout');
    expect(failure.message).toContain('0.06 s');
    await server.abandoned();
  });

  test('a filtered answer is an error', async () => {
    const { models, turn } = await setup(provider, [[{ text: 'I' }, { finish: 'filter' }]]);
    expect((await failureOf(models.execute(turn))).code).toBe('content_filter');
  });

  test('an answer that was too long says so', async () => {
    const { models, turn } = await setup(provider, [[{ text: 'and so on' }, { finish: 'length' }]]);
    expect(await models.execute(turn)).toMatchObject({ text: 'and so on', finishReason: 'length' });
  });
});
