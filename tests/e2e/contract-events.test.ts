import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Api } from '../support/api.ts';
import { type PuppetServer, startPuppetServer, steps } from '../support/puppets.ts';

let puppets: PuppetServer;
let api: Api;

beforeAll(async () => {
  puppets = await startPuppetServer({ args: ['--store', 'sqlite:events.db'] });
  api = puppets.api;
  await api.call('PUT', '/api/pool', { max: 200 });
});

afterAll(async () => {
  await puppets?.close();
});

const isFinish = (event: { type: string }): boolean => event.type === 'finish';
const types = (events: readonly { type: string }[]): string[] => events.map((event) => event.type);

async function finished(...list: object[]): Promise<{ id: string; events: any[] }> {
  const { id } = await api.start({ agent: 'puppet', prompt: steps(...list), once: true });
  return { id, events: await api.until(id, isFinish) };
}

/** A GET on a socket that is read only when asked to. */
function rawGet(
  path: string,
  headers: readonly string[] = [],
): { socket: Socket; text: () => string; closed: Promise<void> } {
  const socket = connect(puppets.server.port, '127.0.0.1');
  const lines = [
    `GET ${path} HTTP/1.1`,
    `Host: 127.0.0.1:${puppets.server.port}`,
    `Authorization: Bearer ${api.token}`,
    ...headers,
  ];
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  const closed = new Promise<void>((resolve) => {
    socket.on('close', () => resolve());
    socket.on('error', () => resolve());
  });
  return { socket, text: () => text, closed };
}

/** The payload of a chunked answer, without the chunk sizes. */
function dechunk(text: string): string {
  let rest = text.slice(text.indexOf('\r\n\r\n') + 4);
  let body = '';
  for (;;) {
    const end = rest.indexOf('\r\n');
    if (end < 0) return body;
    const size = Number.parseInt(rest.slice(0, end), 16);
    if (size === 0) return body;
    body += rest.slice(end + 2, end + 2 + size);
    rest = rest.slice(end + 2 + size + 2);
  }
}

const failedEnd = ['subagentError', 'functionResult', 'turnComplete', 'status', 'error', 'finish'];

describe('what a message of the agent becomes', () => {
  test('every row of the table, in order', async () => {
    const { id, events } = await finished(
      { say: { type: 'progress', message: 'half', percent: 50, stage: 's' } },
      { say: { type: 'partial', text: 'some' } },
      { say: { type: 'log', level: 'warn', message: 'careful' } },
      { say: { type: 'weather', sky: 'blue' } },
      { say: { type: 'result', text: 'done', score: 7 } },
    );
    const call = events.find((event) => event.type === 'functionCall');
    const { callId } = call;
    const agentEvents = events.filter(
      (event) => !['status', 'message', 'usage', 'requestSettled'].includes(event.type),
    );
    expect(agentEvents.map(({ seq: _seq, at: _at, ...event }) => event)).toMatchObject([
      { type: 'start', objective: { parts: [{ text: expect.any(String) }] } },
      { type: 'functionCall', callId, name: 'puppet', args: { prompt: expect.any(String) } },
      { type: 'functionCallUpdate', callId, status: 'half' },
      { type: 'subagentAddJson', callId, title: 'progress', data: { message: 'half', percent: 50, stage: 's' } },
      { type: 'content', content: { parts: [{ text: 'some' }] } },
      { type: 'subagentAddJson', callId, title: 'log', data: { level: 'warn', message: 'careful' } },
      { type: 'subagentAddJson', callId, title: 'weather', data: { sky: 'blue' } },
      { type: 'subagentFinish', callId },
      {
        type: 'functionResult',
        callId,
        content: { parts: [{ functionResponse: { name: 'puppet', response: { text: 'done', score: 7 } } }] },
      },
      { type: 'content', content: { parts: [{ text: 'done' }] } },
      { type: 'turnComplete' },
      { type: 'complete', result: { success: true, outcomes: { parts: [{ text: 'done' }] } } },
      { type: 'finish' },
    ]);
    for (const event of events)
      expect(event).toMatchObject({ type: expect.any(String), seq: expect.any(Number), at: expect.any(String) });
    expect((await api.get(`/api/sessions/${id}`)).body).toMatchObject({
      status: 'completed',
      result: { text: 'done', score: 7 },
      position: events.length,
      pending: 0,
      turn: 1,
    });
  });

  test('the prompt is one JSON line with text, prompt and session; a bare line where the agent takes text', async () => {
    const prompt = steps({ tell: 'prompt' });
    const { id } = await api.start({ agent: 'puppet', prompt, once: true });
    const told = (await api.until(id, isFinish)).find((event) => event.type === 'complete').result.outcomes.parts[0]
      .text;
    expect(JSON.parse(told)).toMatchObject({ type: 'prompt', text: prompt, prompt, session: id });
    const bare = await api.start({ agent: 'cat', prompt: 'say it again', once: true });
    const echoed = (await api.until(bare.id, isFinish)).find((event) => event.type === 'complete');
    expect(echoed.result.outcomes.parts).toEqual([{ text: 'say it again' }]);
  });

  test('a result without text is a json part', async () => {
    const { events } = await finished({ say: { type: 'result', score: 7 } });
    expect(events.findLast((event) => event.type === 'content').content.parts).toEqual([{ json: { score: 7 } }]);
  });

  test('an error: subagentError, then with once error and finish', async () => {
    const { id, events } = await finished({ say: { type: 'error', message: 'no luck', code: 'E7' } });
    expect(types(events.slice(-6))).toEqual(failedEnd);
    expect(events.at(-2).message).toBe('no luck');
    expect((await api.get(`/api/sessions/${id}`)).body).toMatchObject({
      status: 'failed',
      error: { message: 'no luck' },
    });
  });

  test('an exit in mid-turn: subagentError with the tail of stderr in the session, then error and finish', async () => {
    const { id, events } = await finished({ stderr: 'disk on fire\n' }, { exit: 3 });
    expect(types(events.slice(-6))).toEqual(failedEnd);
    expect(events.at(-2).message).toMatch(/3/);
    expect(JSON.stringify((await api.get(`/api/sessions/${id}`)).body.error)).toContain('disk on fire');
  });

  test('an exit before the prompt was read is told in the same way', async () => {
    const { id } = await api.start({ agent: 'gone', prompt: 'x', once: true });
    const events = await api.until(id, isFinish);
    expect(types(events)).toContain('subagentError');
    expect(types(events.slice(-3))).toEqual(['status', 'error', 'finish']);
    expect(JSON.stringify((await api.get(`/api/sessions/${id}`)).body.error)).toContain('left early');
  });

  test('a second result in one turn ends nothing more, and is shown as what it is', async () => {
    const say = (text: string) => ({ say: { type: 'result', text } });
    const { id } = await api.start({ agent: 'puppet', prompt: steps(say('one'), say('two')) });
    const late = (event: any) => event.type === 'subagentAddJson' && event.title === 'result';
    const events = await api.until(id, late);
    expect(events.at(-1).data).toEqual({ text: 'two' });
    await api.post(`/api/sessions/${id}/messages`, { content: 'next' });
    const all = await api.until(id, (event) => event.type === 'content' && event.content.parts[0].text === 'did: next');
    expect(types(all).filter((type) => type === 'functionResult')).toHaveLength(2);
    expect((await api.get(`/api/sessions/${id}/audit`)).body.entries).toContainEqual(
      expect.objectContaining({ what: 'report-ignored' }),
    );
  });

  test('without once the agent lives on: its own error makes it idle, a lost process interrupted, and the next message works', async () => {
    const { id } = await api.start({ agent: 'puppet', prompt: steps({ say: { type: 'error', message: 'no luck' } }) });
    const failed = await api.untilStatus(id, 'idle');
    expect(types(failed)).toContain('subagentError');
    expect(types(failed)).not.toContain('finish');
    await api.post(`/api/sessions/${id}/messages`, { content: steps({ exit: 1 }) });
    await api.untilStatus(id, 'interrupted');
    await api.post(`/api/sessions/${id}/messages`, { content: 'again' });
    const all = await api.until(
      id,
      (event) => event.type === 'content' && event.content.parts[0].text === 'did: again',
    );
    expect(all.filter((event) => event.type === 'start')).toHaveLength(3);
  });

  test('a timeout ends a run; the session says so', async () => {
    const { id } = await api.start({ agent: 'hasty', prompt: steps({ hang: true }), once: true });
    const events = await api.until(id, isFinish);
    expect(types(events.slice(-6))).toEqual(failedEnd);
    expect(events.at(-2).message).toMatch(/1 s/);
  });

  test('in a session the time a person takes does not count; with once it does', async () => {
    const ask = steps({ ask: { type: 'question', id: 'q', question: 'well?' } }, { tell: 'answer' });
    const session = await api.start({ agent: 'hasty', prompt: ask });
    const run = await api.start({ agent: 'hasty', prompt: ask, once: true });
    const asked = (await api.until(session.id, (event) => event.type === 'waitForInput')).at(-1);
    expect((await api.until(run.id, isFinish)).at(-2).type).toBe('error');
    expect((await api.get(`/api/sessions/${session.id}`)).body.status).toBe('waitingForInput');
    await api.post(`/api/sessions/${session.id}/requests/${asked.requestId}`, { response: 'now' });
    await api.until(session.id, (event) => event.type === 'turnComplete');
  });

  test('idle_timeout ends a silent turn', async () => {
    const { id } = await api.start({ agent: 'quiet', prompt: steps({ hang: true }), once: true });
    expect((await api.until(id, isFinish)).at(-2).message).toMatch(/nothing for 1 s/);
  });
});

describe('the stream', () => {
  test('headers and framing: a ping at once, then id and data, LF only, no retry, no event field', async () => {
    const { id, events } = await finished({ say: { type: 'result', text: 'line one\nline two \u2028 ü' } });
    const { text, closed } = rawGet(`/api/sessions/${id}/events`, ['Connection: close']);
    await closed;
    const head = text().slice(0, text().indexOf('\r\n\r\n')).toLowerCase();
    expect(head).toContain('http/1.1 200');
    expect(head).toContain('content-type: text/event-stream');
    expect(head).toContain('cache-control: no-store');
    const { body } = await api.call('GET', `/api/sessions/${id}/events`);
    expect(body).toMatch(/^: ping\n\n(id: \d+\ndata: \{[^\n]*\}\n\n)+$/);
    expect(body).not.toContain('\r');
    expect(body.match(/^id: \d+$/gm)).toEqual(events.map((event) => `id: ${event.seq}`));
  });

  test('a reader that comes back after the end, at the very end, gets 200 and the end, not a hang', async () => {
    const { id, events } = await finished({ say: { type: 'result', text: 'x' } });
    const at = events.length;
    for (const [path, headers] of [
      [`/api/sessions/${id}/events?after=${at}`, {}],
      [`/api/sessions/${id}/events`, { 'last-event-id': String(at) }],
      [`/api/agent/${id}/events?after=${at}`, {}],
    ] as const) {
      expect(await api.call('GET', path, undefined, headers)).toMatchObject({ status: 200, body: ': ping\n\n' });
    }
  });

  test.each(['0x10', '1.5', ' 1', '1e1', '', '-0', '%00'])('after=%j is a bad cursor', async (after) => {
    const { id } = await finished({ say: { type: 'result', text: 'x' } });
    expect(await api.get(`/api/sessions/${id}/events?after=${encodeURIComponent(after)}`)).toMatchObject({
      status: 400,
      body: { code: 'bad_cursor' },
    });
  });

  test('a bad Last-Event-ID is a bad cursor, unless `after` is given; a number too long is beyond the end', async () => {
    const { id } = await finished({ say: { type: 'result', text: 'x' } });
    const header = { 'last-event-id': 'abc' };
    expect((await api.call('GET', `/api/sessions/${id}/events`, undefined, header)).body.code).toBe('bad_cursor');
    expect((await api.call('GET', `/api/sessions/${id}/events?after=0`, undefined, header)).status).toBe(200);
    for (const after of ['99999999999999999999', '100000']) {
      for (const query of ['', '&format=json']) {
        expect(await api.get(`/api/sessions/${id}/events?after=${after}${query}`)).toMatchObject({
          status: 409,
          body: { code: 'cursor_ahead' },
        });
      }
    }
  });

  test('pages: position is the next cursor, more says whether to go on, limit is kept', async () => {
    const { id, events } = await finished({ say: { type: 'result', text: 'x' } });
    const seen: any[] = [];
    for (let after = 0, more = true; more; ) {
      const page = (await api.get(`/api/sessions/${id}/events?format=json&after=${after}&limit=3`)).body;
      expect(page.events.length).toBeLessThanOrEqual(3);
      expect(page.position).toBe(page.events.at(-1)?.seq ?? after);
      seen.push(...page.events);
      ({ position: after, more } = page);
    }
    expect(seen).toEqual(events);
    expect((await api.get(`/api/sessions/${id}/events?format=json&after=${events.length}`)).body).toEqual({
      events: [],
      position: events.length,
      more: false,
    });
    for (const limit of ['0', '-1', 'x', '1.5']) {
      expect((await api.get(`/api/sessions/${id}/events?format=json&limit=${limit}`)).status).toBe(400);
    }
  });

  test('a page of long events is shorter than its limit, and the next goes on', async () => {
    const { id, events } = await finished({ many: 60, bytes: 500_000 }, { say: { type: 'result', text: 'x' } });
    const seen: any[] = [];
    let pages = 0;
    for (let after = 0, more = true; more; pages++) {
      const page = (await api.get(`/api/sessions/${id}/events?format=json&after=${after}&limit=5000`)).body;
      seen.push(...page.events);
      ({ position: after, more } = page);
    }
    expect(seen).toEqual(events);
    expect(pages).toBeGreaterThan(1);
  });

  test('HEAD answers with the headers and does not wait', async () => {
    const { id } = await api.start({ agent: 'puppet', prompt: steps({ hang: true }) });
    await api.until(id, (event) => event.type === 'functionCall');
    const leave = AbortSignal.timeout(10_000);
    const response = await fetch(`${api.url}/api/sessions/${id}/events`, {
      method: 'HEAD',
      headers: { authorization: `Bearer ${api.token}` },
      signal: leave,
    });
    expect(response.status).toBe(200);
    expect(await response.text()).toBe('');
    await api.post(`/api/sessions/${id}/cancel`);
  });
});

describe('readers', () => {
  test('a slow reader gets every event once, in order, though it reads while they are made', async () => {
    const count = 1_500;
    const gate = puppets.gate();
    const { id } = await api.start({
      agent: 'puppet',
      prompt: steps({ until: gate.path }, { many: count, bytes: 20_000 }, { say: { type: 'result', text: 'end' } }),
      once: true,
    });
    const { socket, text, closed } = rawGet(`/api/sessions/${id}/events`, ['Connection: close']);
    await gate.open();
    // Reads a little, waits until the server has moved on, reads on.
    socket.pause();
    await api.until(id, (event) => event.type === 'content' && event.content.parts[0].text.startsWith(`${count / 2} `));
    socket.resume();
    await closed;
    const seen = dechunk(text())
      .split('\n\n')
      .flatMap((frame) => /^id: (\d+)\ndata: (.*)$/.exec(frame)?.slice(1) ?? [])
      .filter((_, index) => index % 2 === 1)
      .map((data) => JSON.parse(data));
    expect(seen.map((event) => event.seq)).toEqual(seen.map((_, index) => index + 1));
    const numbers = seen
      .filter((event) => event.type === 'content' && event.content.parts[0].text !== 'end')
      .map((event) => Number.parseInt(event.content.parts[0].text, 10));
    expect(numbers).toEqual(Array.from({ length: count }, (_, index) => index));
    expect(seen.at(-1).type).toBe('finish');
  }, 90_000);

  test('reading consumes nothing: any number of readers, before, during and after, see the same', async () => {
    const gate = puppets.gate();
    const { id } = await api.start({
      agent: 'puppet',
      prompt: steps(
        { say: { type: 'log', message: 'first' } },
        { until: gate.path },
        { say: { type: 'result', text: 'x' } },
      ),
      once: true,
    });
    const readers = Array.from({ length: 8 }, () => api.until(id, isFinish));
    await api.until(id, (event) => event.type === 'subagentAddJson');
    const half = api.until(id, isFinish);
    await gate.open();
    const [first, ...others] = await Promise.all([...readers, half]);
    for (const other of [...others, await api.until(id, isFinish)]) expect(other).toEqual(first);
  });

  test('a reader that breaks off in the middle goes on from its cursor without gap or repeat', async () => {
    const { id } = await api.start({
      agent: 'puppet',
      prompt: steps({ many: 2_000, every: 20 }, { say: { type: 'result', text: 'end' } }),
      once: true,
    });
    const seen: any[] = [];
    while (seen.at(-1)?.type !== 'finish') {
      const upTo = seen.length + 300;
      const after = seen.at(-1)?.seq ?? 0;
      seen.push(
        ...(await api.eventsUntil(
          `/api/sessions/${id}/events?after=${after}`,
          (event) => event.seq >= upTo || isFinish(event),
        )),
      );
    }
    expect(seen.map((event) => event.seq)).toEqual(seen.map((_, index) => index + 1));
    expect(seen.length).toBeGreaterThan(2_000);
  });

  test('cancelling ends every open stream, also while a question is open', async () => {
    const { id } = await api.start({
      agent: 'puppet',
      prompt: steps({ ask: { type: 'question', question: 'well?' } }),
    });
    await api.until(id, (event) => event.type === 'waitForInput');
    const readers = Array.from({ length: 3 }, () => api.eventsUntil(`/api/sessions/${id}/events`, () => false));
    expect((await api.post(`/api/sessions/${id}/cancel`)).status).toBe(202);
    for (const events of await Promise.all(readers)) {
      expect(types(events.slice(-3))).toEqual(['status', 'error', 'finish']);
      expect(events.at(-2).message).toBe('cancelled');
      expect(events.at(-3).status).toBe('cancelled');
    }
  });

  test('a stalled reader costs the server no memory', async () => {
    const residentMb = async (): Promise<number> => {
      const { readFile } = await import('node:fs/promises');
      const status = await readFile(`/proc/${puppets.server.pid}/status`, 'utf8');
      return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? Number.NaN) / 1024;
    };
    const gate = puppets.gate();
    const { id } = await api.start({
      agent: 'puppet',
      prompt: steps({ until: gate.path }, { many: 1_000, bytes: 100_000 }, { hang: true }),
    });
    const stalled = Array.from({ length: 20 }, () => rawGet(`/api/sessions/${id}/events`));
    for (const { socket } of stalled) socket.pause();
    const before = await residentMb();
    await gate.open();
    const position = async (): Promise<number> => (await api.get(`/api/sessions/${id}`)).body.position;
    await expect.poll(position, { timeout: 60_000, interval: 200 }).toBeGreaterThan(1_000);
    // Twenty readers that took nothing of 100 MB: it costs what it costs with none, the garbage of writing it down.
    expect((await residentMb()) - before).toBeLessThan(150);
    for (const { socket } of stalled) socket.destroy();
    await api.post(`/api/sessions/${id}/cancel`);
    await api.untilStatus(id, 'cancelled');
  }, 90_000);
});
