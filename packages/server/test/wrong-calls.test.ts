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

describe('what is wrong with a body is told at its place, in words for its writer', () => {
  test.each<[string, string, unknown, string]>([
    ['an answer without one', '/api/sessions/s/requests/r', { reason: 'x' }, '`response`: is required'],
    ['a prompt that is a number', '/api/sessions', { agent: 'echo', prompt: 7 }, '`prompt`: is a string or an object'],
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
      '`prompt.parts.0`: is an object',
    ],
    [
      'a text that is none',
      '/api/sessions',
      { agent: 'echo', prompt: { parts: [{ text: 5 }] } },
      '`prompt.parts.0.text`: Invalid input: expected string, received number',
    ],
    [
      'a file without its type',
      '/api/sessions',
      { agent: 'echo', prompt: { parts: [{ inlineData: { data: '' } }] } },
      '`prompt.parts.0.inlineData.mimeType`: is required',
    ],
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
