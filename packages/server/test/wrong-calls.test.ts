import { Session } from '@concerto/protocol';
import { afterEach, describe, expect, test } from 'vitest';
import { type CalledApp, callApp } from './called-app.ts';

let opened: CalledApp | undefined;
afterEach(async () => {
  await opened?.close();
});

function open(): CalledApp {
  opened = callApp();
  return opened;
}

async function started(app: CalledApp): Promise<string> {
  const body = { agent: 'echo', prompt: 'x', ifFull: 'queue' };
  return Session.parse(await (await app.ask('/api/sessions', { method: 'POST', body })).json()).id;
}

describe('what is wrong with a body is told at its place, in words for its writer', () => {
  test.each<[string, string, unknown, string]>([
    ['an answer without one', '/api/sessions/s/requests/r', { reason: 'x' }, '`response`: is required'],
    [
      'a prompt that is a number',
      '/api/sessions',
      { agent: 'echo', prompt: 7 },
      '`prompt`: must be a string or an object',
    ],
    [
      'a part of no kind',
      '/api/sessions',
      { agent: 'echo', prompt: { parts: [{ txt: 'a' }] } },
      '`prompt.parts.0`: has none of `text`, `inlineData`, `storedData`, `fileData`, `functionCall`, `functionResponse`, `executableCode`, `codeExecutionResult`, `json`',
    ],
    [
      'a part that is a text',
      '/api/sessions',
      { agent: 'echo', prompt: { parts: ['a'] } },
      '`prompt.parts.0`: must be an object',
    ],
    [
      'a text that is none',
      '/api/sessions',
      { agent: 'echo', prompt: { parts: [{ text: 5 }] } },
      '`prompt.parts.0.text`: must be a string',
    ],
    [
      'a file without its type',
      '/api/sessions',
      { agent: 'echo', prompt: { parts: [{ inlineData: { data: '' } }] } },
      '`prompt.parts.0.inlineData.mimeType`: is required',
    ],
    ['an empty title', '/api/sessions', { agent: 'echo', prompt: 'x', title: '' }, '`title`: must not be empty'],
    [
      'a title that is too long',
      '/api/sessions',
      { agent: 'echo', prompt: 'x', title: 'x'.repeat(201) },
      '`title`: must have at most 200 characters',
    ],
    [
      'a budget of nothing',
      '/api/sessions',
      { agent: 'echo', prompt: 'x', budget: { tokens: 0 } },
      '`budget.tokens`: must be more than 0',
    ],
    [
      'a budget of half a turn',
      '/api/sessions',
      { agent: 'echo', prompt: 'x', budget: { turns: 1.5 } },
      '`budget.turns`: must be a whole number',
    ],
    [
      'a word that is none of them',
      '/api/sessions',
      { agent: 'echo', prompt: 'x', ifFull: 'no' },
      '`ifFull`: must be one of "reject", "queue"',
    ],
    ['a list', '/api/sessions', [], 'the body: must be an object'],
    ['an empty prompt', '/api/sessions', { agent: 'echo', prompt: '' }, '`prompt`: must not be empty'],
    [
      'a rule without a decision',
      '/api/sessions',
      { agent: 'echo', prompt: 'x', rules: [{}] },
      '`rules.0.decide`: is required',
    ],
    [
      'a template without a target',
      '/api/templates',
      { name: 't' },
      'name what to start: `agent`, `program` or `assistant`',
    ],
    [
      'a start without a target',
      '/api/sessions',
      { prompt: 'x' },
      'name what to start: `agent`, `program`, `assistant` or `template`',
    ],
  ])('%s', async (_name, path, body, detail) => {
    const response = await open().ask(path, { method: 'POST', body });
    expect(await response.json()).toMatchObject({ status: 422, detail });
  });
});

test('of very many faults a hundred are told: the answer is not longer than the call', async () => {
  const body = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`k${index}`, 1]));
  const response = await open().ask('/api/sessions', { method: 'POST', body });
  expect(await response.json()).toHaveProperty('errors.length', 100);
});

describe('what is asked in the address is one of what is allowed', () => {
  test.each([
    ['/api/sessions?tree=maybe', '`tree`: must be `true` or `false`'],
    ['/api/sessions?archived=1', '`archived`: must be `true` or `false`'],
    ['/api/events?tree=1', '`tree`: must be `true` or `false`'],
    ['/api/events?rows=no', '`rows`: must be `true` or `false`'],
    ['/api/sessions/ID/messages?all=1', '`all`: must be `true` or `false`'],
    ['/api/sessions/ID/events?format=xml', '`format`: must be `json`, or left out'],
    ['/api/agent/ID/events?format=sse', '`format`: must be `json`, or left out'],
  ])('%s', async (path, detail) => {
    const app = open();
    const response = await app.ask(path.replace('ID', await started(app)));
    expect(await response.json()).toMatchObject({ status: 422, code: 'invalid_query', detail });
  });

  test('and what is allowed is taken', async () => {
    const app = open();
    const id = await started(app);
    for (const path of [
      '/api/sessions?tree=false&archived=false',
      '/api/sessions?tree=true',
      `/api/sessions/${id}/messages?all=true`,
      `/api/sessions/${id}/messages?all=false`,
      `/api/sessions/${id}/events?format=json`,
    ])
      expect((await app.ask(path)).status).toBe(200);
  });
});

describe('rules that are tried', () => {
  const tried = async (body: object) => {
    const response = await open().ask('/api/rules/try', { method: 'POST', body });
    return await response.json();
  };

  test('an agent that there is not is told, with the one that was meant', async () => {
    expect(await tried({ agent: 'ehco', request: { tool: 'Bash' } })).toMatchObject({
      status: 422,
      code: 'no_such_agent',
      detail: expect.stringContaining('did you mean "echo"'),
    });
    expect(await tried({ agent: 'echo', request: { tool: 'Bash' } })).toMatchObject({ decision: 'pass' });
  });

  test('a key that is misspelt is told; what an agent sends beside is not looked at', async () => {
    expect(await tried({ agent: 'echo', request: { tol: 'Bash', path: 'a' } })).toMatchObject({
      status: 422,
      code: 'invalid_body',
      detail: '`request.tol`: is not a known key; did you mean `tool`?',
      errors: [{ path: 'request.tol' }, { path: 'request.path', message: 'is not a known key; did you mean `paths`?' }],
    });
    const own = {
      id: 'a1',
      type: 'approval',
      tool: 'Bash',
      call: 'c1',
      changes: [],
      consent_type: 'x',
      weather: 'fine',
    };
    expect(await tried({ agent: 'echo', request: own })).toMatchObject({ decision: 'pass' });
  });
});

test('half a character in what is said reaches nobody who reads it; a whole one may be written in any way', async () => {
  const app = open();
  const body = String.raw`{"agent":"echo","ifFull":"queue","title":"cut \ud83d","prompt":"whole \ud83D\uDE00, half \uD83D"}`;
  const { id } = Session.parse(await (await app.ask('/api/sessions', { method: 'POST', body })).json());
  const pages = await Promise.all(
    ['/api/sessions', `/api/sessions/${id}`, `/api/sessions/${id}/messages`, `/api/sessions/${id}/audit`].map(
      async (path) => await (await app.ask(path)).text(),
    ),
  );
  expect(pages.filter((page) => /\\ud/i.test(page))).toEqual([]);
  expect(pages[0]).toContain('"cut \ufffd"');
  expect(pages[2]).toContain('"whole 😀, half \ufffd"');
});
