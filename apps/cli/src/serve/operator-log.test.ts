import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { type LogSettings, operatorLog } from './operator-log.ts';

const call = { request: 'r1', method: 'POST', path: '/api/sessions/s1/messages', status: 200, ms: 3, session: 's1' };

async function written(settings: LogSettings): Promise<string> {
  const stream = new PassThrough({ encoding: 'utf8' });
  const { report, answered } = await operatorLog(settings, stream);
  report('session s1: its owner failed', new Error('no room', { cause: new Error('disk \u001b[2K full') }));
  report('agents run without a sandbox');
  answered(call);
  answered({ ...call, status: 503 });
  stream.end();
  return (await stream.toArray()).join('');
}

test('pretty: a line a person reads, with all causes and nothing that acts on the terminal', async () => {
  expect(await written({ format: 'pretty', level: 'info' })).toBe(
    'concerto: session s1: its owner failed: no room: disk ␛[2K full\nconcerto: agents run without a sandbox\n',
  );
});

test('pretty: calls are told at level debug, and only failures at level error', async () => {
  expect(await written({ format: 'pretty', level: 'debug' })).toContain('POST /api/sessions/s1/messages 503 3 ms\n');
  expect(await written({ format: 'pretty', level: 'error' })).not.toContain('sandbox');
});

test('json: one object a line, with level, time and what it is about', async () => {
  const lines = (await written({ format: 'json', level: 'info' })).trim().split('\n');
  const entries = lines.map((line): unknown => JSON.parse(line));
  expect(entries).toMatchObject([
    { level: 'error', session: 's1', because: expect.stringMatching(/^no room: disk/), msg: expect.any(String) },
    { level: 'info', msg: 'agents run without a sandbox' },
    { level: 'info', msg: 'answered', ...call },
    { level: 'error', msg: 'answered', status: 503 },
  ]);
});
