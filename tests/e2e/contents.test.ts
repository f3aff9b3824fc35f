import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type ScriptedModelServer,
  type ScriptTurn,
  startScriptedModelServer,
} from '../../packages/models/src/testing/scripted-model-server.ts';
import type { Api } from '../support/api.ts';
import { type PuppetServer, startPuppetServer, steps } from '../support/puppets.ts';

const everything = createRequire(join(import.meta.dirname, '../../packages/models/package.json')).resolve(
  '@modelcontextprotocol/server-everything/dist/index.js',
);
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const picture = { inlineData: { mimeType: 'image/png', data: png, title: 'dot.png' } };

let folder: string;
let puppets: PuppetServer;
let api: Api;
let model: ScriptedModelServer;
let script: ScriptTurn[] = [];

const manifest = (): string => {
  const node = JSON.stringify(process.execPath);
  const puppet = JSON.stringify(join(import.meta.dirname, '../support/puppet.mjs'));
  return `
[connections.scripted]
provider = "openai"
base_url = "${model.url}"
api_key_env = "SCRIPTED_KEY"
default_model = "gpt-4o-mini"
[mcp.all]
transport = "stdio"
command = ${node}
args = [${JSON.stringify(everything)}, "stdio"]
[assistants.eye]
connection = "scripted"
functions = ["ask_user"]
tools = ["all"]
[agents.looker]
command = ${node}
args = [${puppet}, "--can=steer"]
accepts = ["image/*"]
`;
};

async function serve(): Promise<void> {
  const env = { SCRIPTED_KEY: 'sk-contents' };
  puppets = await startPuppetServer({ folder, args: ['--store', 'sqlite:store.db'], manifest: manifest(), env });
  ({ api } = puppets);
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'concerto-contents-'));
  model = await startScriptedModelServer(() => script.shift() ?? 'Nothing more.');
  await serve();
});
afterAll(async () => {
  await puppets?.close();
  await model?.close();
  await rm(folder, { recursive: true, force: true });
});

async function upload(bytes: Uint8Array<ArrayBuffer>, type: string, key?: string): Promise<any> {
  const known = key === undefined ? {} : { 'idempotency-key': key };
  const headers = { authorization: `Bearer ${api.token}`, 'content-type': type, ...known };
  const response = await fetch(`${api.url}/api/blobs`, { method: 'POST', headers, body: bytes });
  return { status: response.status, body: await response.json() };
}
const download = (handle: string, query = '', known: Record<string, string> = {}): Promise<Response> =>
  fetch(`${api.url}/api/blobs/${handle}${query}`, { headers: { authorization: `Bearer ${api.token}`, ...known } });
const refusal = async (body: object): Promise<any> => {
  const { status, body: problem } = await api.post('/api/sessions', body);
  return { status, code: problem.code, detail: problem.detail };
};
const isTurnOver = (event: { type: string }): boolean => event.type === 'turnComplete';

describe('files', () => {
  test('come back as they were put, by their hash, and are never run', async () => {
    const bytes = new Uint8Array(randomBytes(3_000_000));
    const { status, body } = await upload(bytes, 'image/png');
    expect({ status, body }).toMatchObject({ status: 201, body: { mimeType: 'image/png', contentLength: 3_000_000 } });
    expect((await upload(bytes, 'image/png')).body).toEqual(body);
    const answer = await download(body.handle, '?name=caf%C3%A9.png');
    expect(Buffer.from(await answer.arrayBuffer()).equals(Buffer.from(bytes))).toBe(true);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'image/png',
      'content-length': '3000000',
      'content-disposition': "inline; filename*=UTF-8''caf%C3%A9.png",
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
    });
    const again = await download(body.handle, '', { 'if-none-match': String(answer.headers.get('etag')) });
    expect([again.status, await again.text()]).toEqual([304, '']);
    const page = (await upload(Uint8Array.from(Buffer.from('<script>1</script>')), 'text/html')).body;
    const html = await download(page.handle);
    expect(html.headers.get('content-disposition')).toBe('attachment');
    expect(html.headers.get('content-security-policy')).toContain('sandbox');
    expect((await download('b_nothing')).status).toBe(404);
    expect((await fetch(`${api.url}/api/blobs/${body.handle}`)).status).toBe(401);
    expect((await upload(bytes, 'no type')).status).toBe(415);
    const { paths } = (await api.get('/api/openapi.json')).body;
    expect(Object.keys(paths)).toEqual(expect.arrayContaining(['/api/blobs', '/api/blobs/{handle}']));
  });

  test('a key is for one file: the same again has the same answer, another file or type is refused', async () => {
    const first = await upload(Buffer.from('one file'), 'text/plain', 'k1');
    expect(first.status).toBe(201);
    expect(await upload(Buffer.from('one file'), 'text/plain', 'k1')).toEqual(first);
    const reused = { status: 422, body: { code: 'key_reused' } };
    expect(await upload(Buffer.from('another'), 'text/plain', 'k1')).toMatchObject(reused);
    expect(await upload(Buffer.from('one file'), 'text/html', 'k1')).toMatchObject(reused);
    expect((await upload(Buffer.from('another'), 'text/plain', 'k2')).status).toBe(201);
    expect(await upload(Buffer.from('another'), 'text/plain', 'k'.repeat(201))).toMatchObject({
      status: 400,
      body: { code: 'bad_key' },
    });
  });

  test('more than 64 MiB are refused, and whoever sends them hears why', async () => {
    const mebibyte = 1024 * 1024;
    const chunk = new Uint8Array(8 * mebibyte);
    const inPieces = (): ReadableStream => {
      let sent = 0;
      return new ReadableStream({
        pull: (controller) => {
          sent += chunk.length;
          if (sent > 72 * mebibyte) controller.close();
          else controller.enqueue(chunk);
        },
      });
    };
    const whole = new Uint8Array(64 * mebibyte + 1);
    for (const body of [inPieces(), whole, whole, whole]) {
      const headers = { authorization: `Bearer ${api.token}`, 'content-type': 'image/png' };
      const init: RequestInit & { duplex: 'half' } = { method: 'POST', headers, body, duplex: 'half' };
      const answer = await fetch(`${api.url}/api/blobs`, init);
      expect(answer.status).toBe(413);
      expect(await answer.json()).toMatchObject({ code: 'body_too_large' });
    }
  }, 60_000);
});

describe('an agent that takes pictures', () => {
  test('gets them with its prompt, in a steer and in an answer, and everybody sees them', async () => {
    const gate = puppets.gate();
    const stored = (await upload(new Uint8Array(Buffer.from(png, 'base64')), 'image/png')).body;
    const scene = steps(
      { ask: { type: 'question', id: 'q', question: 'Which?' } },
      { until: gate.path },
      { tell: 'prompt' },
    );
    const { id, title } = await api.start({ agent: 'looker', prompt: { parts: [{ text: scene }, picture] } });
    expect(title).toMatch(/^\[/);
    const asked = (await api.until(id, ({ type }) => type === 'waitForInput')).at(-1);
    const answer = { parts: [{ text: 'this one' }, { storedData: { handle: stored.handle, mimeType: 'image/png' } }] };
    expect((await api.post(`/api/sessions/${id}/requests/${asked.requestId}`, { response: answer })).status).toBe(200);
    const steer = { parts: [{ storedData: { ...stored, title: 'kept.png' } }] };
    const sent = await api.post(`/api/sessions/${id}/messages`, { content: steer, priority: 'immediate' });
    expect(sent).toMatchObject({
      status: 202,
      body: {
        content: '[picture, 70 B, kept.png]',
        parts: [{ storedData: { handle: stored.handle, contentLength: 70 } }],
      },
    });
    const isHeard = (event: any): boolean => event.type === 'subagentAddJson' && event.title === 'heard';
    const heard = (await api.until(id, isHeard)).at(-1).data.what;
    expect(heard).toMatchObject({
      type: 'steer',
      parts: [{ inlineData: { mimeType: 'image/png', data: png, title: 'kept.png' } }],
    });
    await gate.open();
    const events = await api.until(id, isTurnOver);
    expect(events.find(({ type }) => type === 'start').objective.parts).toEqual([{ text: scene }, picture]);
    const settled = events.find(({ type }) => type === 'requestSettled');
    expect(settled.response.parts[1]).toMatchObject({ storedData: { contentLength: 70 } });
    const { text } = (await api.get(`/api/sessions/${id}`)).body.result;
    expect(JSON.parse(text)).toMatchObject({ text: scene, parts: [{ text: scene }, picture] });
  });

  test('gets the files of an answer', async () => {
    const scene = steps({ ask: { type: 'question', id: 'q', question: 'Which?' } }, { tell: 'answer' });
    const { id } = await api.start({ agent: 'looker', prompt: scene });
    const { requestId } = (await api.until(id, ({ type }) => type === 'waitForInput')).at(-1);
    const response = { parts: [{ text: 'this one' }, picture] };
    expect((await api.post(`/api/sessions/${id}/requests/${requestId}`, { response })).status).toBe(200);
    await api.until(id, isTurnOver);
    const { text } = (await api.get(`/api/sessions/${id}`)).body.result;
    expect(JSON.parse(text).value).toEqual({ role: 'user', ...response });
  });

  test('gets bytes that are too many for an event from where they are kept', async () => {
    const data = randomBytes(1_100_000).toString('base64');
    const scene = steps({ tell: 'prompt' });
    const { id } = await api.start({
      agent: 'looker',
      prompt: { parts: [{ text: scene }, { inlineData: { mimeType: 'image/x-raw', data } }] },
    });
    const events = await api.until(id, isTurnOver);
    const { storedData } = events.find(({ type }) => type === 'start').objective.parts[1];
    expect(storedData).toMatchObject({ mimeType: 'image/x-raw', contentLength: 1_100_000 });
    const { text } = (await api.get(`/api/sessions/${id}`)).body.result;
    expect(JSON.parse(text).parts[1]).toEqual({ inlineData: { mimeType: 'image/x-raw', data } });
  });
});

describe('what cannot be taken is refused with the reason, and nothing is lost', () => {
  test.each([
    [
      'a file for who reads text',
      'puppet',
      picture,
      ['part_not_taken', /takes text, and this is a picture, 70 B, dot.png/] as const,
    ],
    [
      'a link to what is not taken',
      'puppet',
      { fileData: { fileUri: 'https://example.com/cat.png', mimeType: 'image/png' } },
      ['part_not_taken', /takes text, and this is a picture, https:\/\/example.com\/cat.png/] as const,
    ],
    [
      'a type that is not taken',
      'looker',
      { inlineData: { mimeType: 'audio/wav', data: png } },
      ['part_not_taken', /image\/\*/] as const,
    ],
    [
      'base64 that is none',
      'looker',
      { inlineData: { mimeType: 'image/png', data: 'not base64!' } },
      ['invalid_content', /not base64/] as const,
    ],
    [
      'an image of another type',
      'looker',
      { inlineData: { mimeType: 'image/jpeg', data: png } },
      ['invalid_content', /is image\/png/] as const,
    ],
    [
      'a file that is gone',
      'looker',
      { storedData: { handle: 'b_gone', mimeType: 'image/png' } },
      ['no_such_blob', /no file "b_gone"/] as const,
    ],
    [
      'what nobody says',
      'looker',
      { functionCall: { name: 'f', args: {} } },
      ['invalid_content', /functionCall/] as const,
    ],
  ])('%s', async (_what, agent, part, refused) => {
    const [code, detail] = refused;
    const prompt = { parts: [{ text: 'look' }, part] };
    expect(await refusal({ agent, prompt })).toEqual({ status: 422, code, detail: expect.stringMatching(detail) });
    expect((await api.post('/api/agent/run', { agent, objective: prompt })).body.code).toBe(code);
  });

  test('a queue goes on with what stands in it; an edit of the text keeps the files', async () => {
    const gate = puppets.gate();
    const { id } = await api.start({
      agent: 'looker',
      prompt: steps({ until: gate.path }, { say: { type: 'result' } }),
    });
    await api.untilStatus(id, 'running');
    const messages = `/api/sessions/${id}/messages`;
    const wrong = { content: { parts: [{ storedData: { handle: 'b_gone', mimeType: 'image/png' } }] } };
    expect((await api.post(messages, wrong)).status).toBe(422);
    const kept = (await api.post(messages, { content: { parts: [{ text: 'one' }, picture] } })).body;
    expect((await api.call('PATCH', `${messages}/${kept.id}`, { content: 'two' })).body).toMatchObject({
      content: 'two\n[picture, 70 B, dot.png]',
      parts: [{ text: 'two' }, picture],
    });
    expect((await api.get(messages)).body.pending).toMatchObject([{ id: kept.id, parts: [{ text: 'two' }, picture] }]);
    await gate.open();
    await api.until(id, (event) => event.type === 'start' && event.objective.parts.length === 2);
  });

  test('a run that is given nothing is told nothing', async () => {
    const { runId } = (await api.post('/api/agent/run', { agent: 'looker' })).body;
    const events = await api.eventsUntil(`/api/agent/${runId}/events`, ({ type }) => type === 'complete');
    expect(events[0]).toMatchObject({ type: 'start', objective: { parts: [] } });
    expect(events.at(-1).result.outcomes.parts).toEqual([{ text: 'did: ' }]);
    expect(await api.post('/api/agent/run', { assistant: 'eye' })).toMatchObject({
      status: 422,
      body: { code: 'invalid_start' },
    });
  });
});

/** As `toMatchObject` compares: what is not named does not count. */
function within(fields: object): Record<string, unknown> {
  const inner = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(inner);
    if (typeof value !== 'object' || value === null || 'asymmetricMatch' in value) return value;
    return expect.objectContaining(within(value));
  };
  return Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, inner(value)]));
}

/** What an agent says that is wrong, what is seen of it, and in which kind of event. */
const slips = [
  {
    what: 'a patch of megabytes',
    says: [
      {
        type: 'tool_call',
        id: 'c',
        name: 'edit',
        kind: 'edit',
        changes: [{ path: 'a', patch: `@@\n${'+x\n'.repeat(1_000_000)}` }],
      },
      { type: 'tool_result', id: 'c', content: 'done' },
    ],
    seen: {
      type: 'functionCall',
      changes: [{ path: 'a', added: 1_000_000, patch: expect.stringMatching(/\[cut after/) }],
    },
  },
  {
    what: 'a binary edit',
    says: [
      {
        type: 'tool_call',
        id: 'c',
        name: 'edit',
        changes: [{ path: 'a.png', patch: 'Binary files a.png and a.png differ\n' }],
      },
      { type: 'tool_result', id: 'c' },
    ],
    seen: { type: 'functionCall', changes: [{ path: 'a.png', added: 0, removed: 0 }] },
  },
  {
    what: 'a path with newlines',
    says: [
      { type: 'tool_call', id: 'c', name: 'read', locations: [{ path: 'a\nb' }] },
      { type: 'tool_result', id: 'c' },
    ],
    seen: { type: 'functionCall', locations: [{ path: 'a\nb' }] },
  },
  {
    what: 'a result without its call',
    says: [{ type: 'tool_result', id: 'nobody', content: 'here' }],
    seen: { type: 'subagentAddJson', callId: 'nobody', title: 'result without its call' },
  },
  {
    what: 'two results for one call',
    says: [
      { type: 'tool_call', id: 'c', name: 'look' },
      { type: 'tool_result', id: 'c', content: 'first' },
      { type: 'tool_result', id: 'c', content: 'second' },
    ],
    seen: { type: 'subagentAddJson', callId: 'c', title: 'result without its call' },
  },
  {
    what: 'a message id that is used twice',
    says: [
      { type: 'message', id: 'm', text: 'one' },
      { type: 'message', id: 'm', text: 'two' },
    ],
    seen: { type: 'content', messageId: 'm', whole: true, content: { parts: [{ text: 'two' }] } },
  },
  {
    what: 'base64 that is none, under a type that is none',
    says: [
      { type: 'tool_call', id: 'c', name: 'look' },
      {
        type: 'tool_result',
        id: 'c',
        content: { parts: [{ inlineData: { mimeType: 'image/nothing', data: '%%%' } }] },
      },
    ],
    seen: { type: 'functionResult', callId: 'c' },
  },
  {
    what: 'a file that is gone',
    says: [
      { type: 'tool_call', id: 'c', name: 'look' },
      {
        type: 'tool_result',
        id: 'c',
        content: { parts: [{ storedData: { handle: 'b_gone', mimeType: 'image/png' } }] },
      },
    ],
    seen: { type: 'functionResult', callId: 'c' },
  },
];

test.each(slips)('an agent that slips is shown as it is, and the session goes on: $what', async ({ says, seen }) => {
  const scene = steps(...says.map((say) => ({ say })), { say: { type: 'result', text: 'over' } });
  const file = join(folder, 'scene.json');
  await writeFile(file, scene);
  const { id } = await api.start({ agent: 'looker', prompt: steps({ play: file }) });
  const events = await api.until(id, isTurnOver);
  const { type, ...fields } = seen;
  expect(events.filter((event) => event.type === type)).toContainEqual(expect.objectContaining(within(fields)));
  expect(events.at(-1)).toMatchObject({ type: 'turnComplete', outcome: 'done' });
  await api.post(`/api/sessions/${id}/messages`, { content: 'next' });
  await api.until(id, (event) => event.type === 'content' && event.content.parts[0]?.text === 'did: next');
});

test('a model sees pictures: of a message, of a tool, of an answer, also after a restart', async () => {
  script = [
    [{ tool: 'all__get-tiny-image', arguments: {} }],
    [{ tool: 'ask_user', arguments: { question: 'Like which?' } }],
    'A dot.',
    'Still a dot.',
  ];
  const asked = model.requests.length;
  const { id } = await api.start({ assistant: 'eye', prompt: { parts: [{ text: 'What is it?' }, picture] } });
  const question = (await api.until(id, ({ type }) => type === 'waitForInput')).at(-1);
  const stored = (await upload(new Uint8Array(Buffer.from(png, 'base64')), 'image/png')).body;
  const response = { parts: [{ text: 'like this' }, { storedData: stored }] };
  await api.post(`/api/sessions/${id}/requests/${question.requestId}`, { response });
  const events = await api.until(id, isTurnOver);
  const results = events.filter((event) => event.type === 'functionResult' && !event.callId.startsWith('turn-'));
  expect(results.map(({ content }) => content.parts.slice(1).map((part: object) => Object.keys(part)[0]))).toEqual([
    ['inlineData'],
    ['storedData'],
  ]);
  const url = `data:image/png;base64,${png}`;
  const images = (body: any): string[] =>
    body.messages.flatMap(({ content }: any) =>
      Array.isArray(content)
        ? content.flatMap((part: any) => (part.type === 'image_url' ? [part.image_url.url] : []))
        : [],
    );
  expect(images(model.requests[asked]?.body)).toEqual([url]);
  const third = images(model.requests[asked + 2]?.body);
  expect(third).toEqual([url, expect.stringMatching(/^data:image\/png;base64,/), url]);
  const before = model.requests.length;
  await puppets.server.kill();
  await serve();
  expect((await api.post(`/api/sessions/${id}/messages`, { content: 'And now?' })).status).toBe(202);
  await api.until(id, (event) => event.type === 'content' && event.content.parts[0].text === 'Still a dot.');
  const recalled: any = model.requests[before]?.body.messages;
  const live: any = model.requests[asked + 2]?.body.messages;
  // The ids of its calls are the same too: what is read back is what was said.
  expect(recalled.slice(0, live.length)).toEqual(live);
}, 120_000);
