import { afterEach, describe, expect, test } from 'vitest';
import { createModels, ModelFailure, type Models, type ModelTurn } from '../src/index.ts';
import {
  type Script,
  type ScriptedModelServer,
  startScriptedModelServer,
} from '../src/testing/scripted-model-server.ts';
import { TestClock } from '../src/testing/test-clock.ts';

let server: ScriptedModelServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

/** Loading a provider takes a while. */
const SOON = { timeout: 10_000 };

const turn: ModelTurn = { connection: 'c', model: 'm', messages: [{ role: 'user', content: 'Hello?' }] };

async function setup(
  script: Script,
  settings: Record<string, unknown> = {},
  clock?: TestClock,
): Promise<{ models: Models; server: ScriptedModelServer }> {
  server = await startScriptedModelServer(script);
  const connection = { provider: 'custom', base_url: server.url, ...settings };
  const environment = { KEY: 'sk-0123456789' };
  const models = createModels({
    connections: { c: connection },
    environment,
    ...(clock === undefined ? {} : { clock }),
  });
  return { models, server };
}

async function failureOf(work: Promise<unknown>): Promise<ModelFailure> {
  const outcome = await work.then(
    () => undefined,
    (cause: unknown) => cause,
  );
  expect(outcome).toBeInstanceOf(ModelFailure);
  return outcome as ModelFailure;
}

describe('retries', () => {
  test('wait as long as the provider says, and no longer', async () => {
    const clock = new TestClock();
    const retry = { max_attempts: 2, backoff: 'exponential', initial_delay_ms: 10 };
    const script: Script = [[{ error: { status: 429, headers: { 'retry-after': '20' } } }], 'there'];
    const { models, server } = await setup(script, { retry }, clock);
    const reply = models.execute(turn);
    await expect.poll(() => clock.next, SOON).toBe(20_000);
    await clock.advance(19_999);
    expect(server.requests).toHaveLength(1);
    await clock.advance(1);
    expect(await reply).toMatchObject({ text: 'there', attempts: 2, latencyMs: 20_000 });
  });

  test('a time that is too long is not waited for', async () => {
    const error = { status: 429, headers: { 'retry-after': '3600' } };
    const { models } = await setup([[{ error }]], { retry: { max_attempts: 5 } });
    const failure = await failureOf(models.execute(turn));
    expect(failure.facts).toMatchObject({ attempts: 1, retryAfterMs: 3_600_000 });
  });

  test('an account without money is not asked again', async () => {
    const error = { status: 429, code: 'insufficient_quota' };
    const { models, server } = await setup([[{ error }]], { retry: { max_attempts: 5 } });
    expect((await failureOf(models.execute(turn))).code).toBe('quota');
    expect(server.requests).toHaveLength(1);
  });

  test('give up after the last attempt with the last error', async () => {
    const { models, server } = await setup(() => [{ error: { status: 503 } }], { retry: { max_attempts: 3 } });
    expect((await failureOf(models.execute(turn))).facts).toMatchObject({ attempts: 3, status: 503 });
    expect(server.requests).toHaveLength(3);
  });

  test('a stream that has not begun is tried again', async () => {
    const { models } = await setup([[{ error: { status: 500 } }], 'streamed'], { retry: { max_attempts: 2 } });
    const parts = [];
    for await (const part of models.stream(turn)) parts.push(part);
    expect(parts.at(-1)).toMatchObject({ type: 'reply', reply: { text: 'streamed', attempts: 2 } });
  });

  test('cancelling ends a wait', async () => {
    const clock = new TestClock();
    const retry = { max_attempts: 2, backoff: 'linear', initial_delay_ms: 5000 };
    const { models } = await setup([[{ error: { status: 500 } }]], { retry }, clock);
    const controller = new AbortController();
    const failure = failureOf(models.execute({ ...turn, signal: controller.signal }));
    await expect.poll(() => clock.next, SOON).toBe(5000);
    controller.abort();
    expect((await failure).code).toBe('cancelled');
    expect(clock.next).toBeUndefined();
  });

  test('nobody there is a network error that names the address', async () => {
    const { models, server } = await setup([]);
    const host = new URL(server.url).host;
    await server.close();
    const failure = await failureOf(models.execute(turn));
    expect(failure.code).toBe('network');
    expect(failure.message).toContain(host);
    await setup([]);
  });
});

describe('limits', () => {
  test('so many requests at the same time, and the others after them', async () => {
    const script: Script = (_request, index) => [{ gate: `g${index}` }, { text: `${index}` }];
    const { models, server } = await setup(script, { rate_limit: { concurrent_requests: 2 } });
    const replies = [0, 1, 2].map(() => models.execute(turn));
    await server.gate('g0').reached;
    await server.gate('g1').reached;
    expect(server.requests).toHaveLength(2);
    server.gate('g0').open();
    await server.gate('g2').reached;
    server.gate('g1').open();
    server.gate('g2').open();
    expect((await Promise.all(replies)).map(({ text }) => text).sort()).toEqual(['0', '1', '2']);
  });

  test('a failed request gives its place back', async () => {
    const { models } = await setup([[{ error: { status: 400 } }], 'next'], { rate_limit: { concurrent_requests: 1 } });
    await failureOf(models.execute(turn));
    expect((await models.execute(turn)).text).toBe('next');
  });

  test('so many a minute', async () => {
    const clock = new TestClock();
    const { models, server } = await setup(() => 'ok', { rate_limit: { requests_per_minute: 1 } }, clock);
    await models.execute(turn);
    const second = models.execute(turn);
    await expect.poll(() => clock.next, SOON).toBe(60_000);
    expect(server.requests).toHaveLength(1);
    await clock.advance(60_000);
    expect((await second).text).toBe('ok');
  });
});

describe('structured output', () => {
  const schema = { name: 'Point', schema: { type: 'object', properties: { x: { type: 'integer' } }, required: ['x'] } };

  test('a server that does not have it is told in words, and not asked that way again', async () => {
    const refused = [{ error: { status: 400, message: 'response_format is not supported' } }];
    const { models, server } = await setup([refused, '{"x":1}', '{"x":2}']);
    expect((await models.execute({ ...turn, schema })).text).toBe('{"x":1}');
    expect((await models.execute({ ...turn, schema })).text).toBe('{"x":2}');
    expect(server.requests.map(({ body }) => body.response_format !== undefined)).toEqual([true, false, false]);
    expect(JSON.stringify(server.requests[1]?.body.messages)).toContain('JSON Schema');
  });

  test('Gemini does not take it together with tools', async () => {
    const tools = [{ name: 't', description: 'd', parameters: { type: 'object', properties: {} } }];
    const settings = { provider: 'google', api_key_env: 'KEY' };
    const { models, server } = await setup(['{"x":1}'], settings);
    await models.execute({ ...turn, schema, tools });
    const sent = JSON.stringify(server.requests[0]?.body);
    expect(sent).not.toContain('responseJsonSchema');
    expect(sent).toContain('JSON Schema');
  });
});

describe('tool calls that are not what was offered', () => {
  const tools = [
    {
      name: 'Files::read',
      description: 'Reads',
      parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
    },
  ];

  test.each(['execute', 'stream'] as const)(
    '%s: they come as the model made them, for whoever runs them',
    async (method) => {
      const { models } = await setup([
        [
          { tool: 'Files__read', rawArguments: '{"path": ' },
          { tool: 'Files__read', arguments: { path: 7 } },
          { tool: 'made_up', arguments: {} },
        ],
      ]);
      let calls: readonly { readonly name: string; readonly arguments: unknown }[] = [];
      if (method === 'execute') calls = (await models.execute({ ...turn, tools })).toolCalls;
      else {
        for await (const part of models.stream({ ...turn, tools })) {
          if (part.type === 'reply') calls = part.reply.toolCalls;
        }
      }
      expect(calls.map((call) => [call.name, call.arguments])).toEqual([
        ['Files::read', '{"path": '],
        ['Files::read', { path: 7 }],
        ['made_up', {}],
      ]);
    },
  );

  test('a conversation may go on after them', async () => {
    const { models, server } = await setup(['fine']);
    const messages: ModelTurn['messages'] = [
      ...turn.messages,
      { role: 'assistant', content: '', toolCalls: [{ id: 'a', name: 'Files::read', arguments: '{"path": ' }] },
      { role: 'tool', id: 'a', name: 'Files::read', content: 'the argument path is missing', failed: true },
    ];
    expect((await models.execute({ ...turn, tools, messages })).text).toBe('fine');
    expect(JSON.stringify(server.requests[0]?.body.messages)).toContain('the argument path is missing');
  });
});

test('nothing is printed, whatever a provider does not support', async () => {
  const seen: string[] = [];
  const onWarning = (warning: Error): void => void seen.push(warning.message);
  process.on('warning', onWarning);
  try {
    const { models } = await setup(['ok'], { provider: 'openai', api_key_env: 'KEY' });
    await models.execute({ ...turn, model: 'o4-mini', temperature: 0.5, topP: 0.1 });
    await new Promise(setImmediate);
  } finally {
    process.off('warning', onWarning);
  }
  expect(seen).toEqual([]);
});

test('thoughts are part of a stream for whoever asks for them', async () => {
  const { models } = await setup(() => [{ thought: 'Let me see. ' }, { thought: 'Yes.' }, { text: 'Hello' }]);
  const typesOf = async (thoughts: boolean) => {
    const said: string[] = [];
    for await (const part of models.stream({ ...turn, thoughts })) {
      if (part.type !== 'reply') said.push(`${part.type}: ${part.text}`);
    }
    return said;
  };
  expect(await typesOf(true)).toEqual(['thought: Let me see. ', 'thought: Yes.', 'text: Hello']);
  expect(await typesOf(false)).toEqual(['text: Hello']);
});

test.each(['custom', 'openai', 'anthropic', 'google'])(
  'half a character reaches no provider (%s)',
  async (provider) => {
    const { models, server } = await setup(['there'], { provider, api_key_env: 'KEY' });
    await models
      .execute({ ...turn, messages: [{ role: 'user', content: 'half \ud83d, \\ud83d' }] })
      .catch(() => undefined);
    const sent = JSON.stringify(server.requests[0]?.body);
    expect(sent).toContain(String.raw`half �, \\ud83d`);
  },
);
