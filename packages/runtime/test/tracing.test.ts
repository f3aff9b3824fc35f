import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type EventLog, memoryEventLog } from '@concerto/log';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openTracing, type Tracing } from '../src/tracing.ts';
import { openAssistantStage } from './assistant-stage.ts';
import { type OtlpReceiver, startOtlpReceiver } from './otlp-receiver.ts';

const everythingPath = createRequire(join(import.meta.dirname, '../../models/package.json')).resolve(
  '@modelcontextprotocol/server-everything/dist/index.js',
);
const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const above = '00f067aa0ba902b7';
const sampled = `00-${traceId}-${above}-01`;
const clientKind = 3;
const serverKind = 2;
const failed = 2;

let receiver: OtlpReceiver;
let tracing: Tracing;
let told: string[];

beforeEach(async () => {
  told = [];
  receiver = await startOtlpReceiver();
  tracing = tracingTo(receiver.url);
});

afterEach(async () => {
  await tracing.close();
  await receiver.close();
});

function tracingTo(url: string): Tracing {
  return openTracing({
    url,
    headers: { 'api-key': 'k' },
    version: '1.2.3',
    report: (message) => void told.push(message),
  });
}

const named = (start: string) => receiver.spans.find(({ name }) => name.startsWith(start));

/** One append of the domain, as a decision makes it. */
async function decide(log: EventLog, session: string, ...records: readonly { type: string }[]): Promise<void> {
  const entries = records.map((record) => ({ type: record.type, data: JSON.stringify({ actor: 'user', ...record }) }));
  await log.append({ session, streams: [{ stream: 'domain', entries }] });
}

const created = (more: object = {}) => ({ type: 'created', at: 1_000, kind: 'agent', agent: 'coder', ...more });
const enqueued = (messageId: string, more: object = {}) => ({
  type: 'message-enqueued',
  at: 1_100,
  messageId,
  source: 'user',
  content: 'SECRET',
  ...more,
});
const started = (messageId: string) => ({ type: 'turn-started', at: 1_250, turn: 1, messageId });
const delivered = (messageId: string) => ({ type: 'message-delivered', at: 1_300, messageId, how: 'prompt' });
const ended = (more: object = {}) => ({ type: 'turn-ended', at: 2_250, turn: 1, outcome: 'result', ...more });

test('19.3 a message that an assistant answers: its wait, its turn, each step and each tool, in the trace of the caller', async () => {
  const servers = { all: { transport: 'stdio', command: process.execPath, args: [everythingPath, 'stdio'] } };
  const script = [[{ tool: 'all__echo', arguments: { message: 'SECRET' } }], 'SECRET too'];
  const log = tracing.wrap(memoryEventLog({ now: Date.now }));
  const stage = await openAssistantStage(script, { servers, log });
  const caller = { actor: 'user', key: undefined, trace: sampled };
  const begun = await stage.sessions.start({ assistant: 'helper', prompt: 'SECRET' }, caller);
  expect(begun).toMatchObject({ ok: true });
  const id = begun.ok ? begun.value.id : '';
  await stage.afterTurns(id, 1);
  await stage.close();
  await tracing.close();
  const turn = named('invoke_agent helper');
  expect(turn).toMatchObject({
    traceId,
    parentSpanId: above,
    attributes: {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'helper',
      'gen_ai.conversation.id': id,
      'concerto.turn.outcome': 'result',
    },
  });
  expect(named('queue message')).toMatchObject({ traceId, parentSpanId: above });
  const below = { traceId, parentSpanId: turn?.spanId };
  expect(named('execute_tool all.echo')).toMatchObject({ ...below, attributes: { 'gen_ai.tool.name': 'all.echo' } });
  const chats = receiver.spans.filter(({ name }) => name.startsWith('chat '));
  expect(chats).toMatchObject([
    { ...below, kind: clientKind },
    { ...below, kind: clientKind },
  ]);
  const spent = chats.reduce((sum, { attributes }) => sum + Number(attributes['gen_ai.usage.input_tokens']), 0);
  expect(turn?.attributes['gen_ai.usage.input_tokens']).toBe(spent);
  expect(receiver.bodies.join()).not.toContain('SECRET');
  expect(receiver.headers[0]).toMatchObject({ 'api-key': 'k', 'content-type': 'application/json' });
});

test('a call hangs below what called it; of reading only what the caller traces is traced', async () => {
  expect(tracing.call('GET', undefined)).toBeUndefined();
  expect(tracing.call('GET', 'nonsense')).toBeUndefined();
  const call = tracing.call('POST', sampled);
  expect(call?.traceparent).toMatch(new RegExp(`^00-${traceId}-(?!${above})[0-9a-f]{16}-01$`));
  call?.end({ method: 'POST', route: '/api/sessions/{id}/messages', status: 503, session: 's1' });
  const own = tracing.call('POST', '00-00000000000000000000000000000000-00f067aa0ba902b7-01');
  own?.end({ method: 'POST', route: '/api/sessions', status: 201 });
  await tracing.close();
  const [first, second] = receiver.spans;
  expect(first).toMatchObject({
    name: 'POST /api/sessions/{id}/messages',
    kind: serverKind,
    traceId,
    parentSpanId: above,
    status: { code: failed },
    attributes: { 'http.response.status_code': 503, 'error.type': '503' },
  });
  expect(second).not.toHaveProperty('parentSpanId');
  expect(second?.traceId).toBe(own?.traceId);
});

test('what the caller does not want kept is not', async () => {
  const unsampled = `00-${traceId}-${above}-00`;
  tracing.call('POST', unsampled)?.end({ method: 'POST', route: '/api/sessions', status: 201 });
  const log = tracing.wrap(memoryEventLog({ now: Date.now }));
  await decide(log, 's1', created(), enqueued('m1', { trace: unsampled }), started('m1'), delivered('m1'), ended());
  await decide(log, 's2', created(), enqueued('m1', { trace: sampled }), started('m1'), delivered('m1'), ended());
  await expect
    .poll(async () => {
      await tracing.close();
      return receiver.spans.map(({ name }) => name);
    })
    .toEqual(['queue message', 'invoke_agent coder']);
});

test('whoever takes a session over goes on with its trace, and an agent of a program belongs to its turn', async () => {
  const store = memoryEventLog({ now: Date.now });
  const first = tracing.wrap(store);
  await decide(
    first,
    'p',
    created({ kind: 'program', agent: 'review' }),
    enqueued('m1', { trace: sampled }),
    started('m1'),
  );
  await decide(first, 'c', created({ parent: 'p' }), enqueued('m2'));
  const second = tracingTo(receiver.url);
  const other = second.wrap(store);
  await decide(other, 'c', started('m2'), delivered('m2'));
  await decide(other, 'c', ended({ outcome: 'error', error: { code: 'agent_exited', message: 'SECRET' } }));
  await decide(other, 'p', delivered('m1'), ended());
  await expect
    .poll(async () => {
      await second.close();
      return receiver.spans.length;
    })
    .toBe(4);
  const program = named('invoke_workflow review');
  expect(program).toMatchObject({
    traceId,
    parentSpanId: above,
    startTimeUnixNano: '1250000000',
    endTimeUnixNano: '2250000000',
  });
  expect(named('invoke_agent coder')).toMatchObject({
    traceId,
    parentSpanId: program?.spanId,
    status: { code: failed },
    attributes: { 'error.type': 'agent_exited' },
  });
});

test('a collector that is away is told of once, and gets what waits when it is back', async () => {
  receiver.answer(503);
  tracing.call('POST', sampled)?.end({ method: 'POST', route: '/api/sessions', status: 201 });
  await expect.poll(() => told, { timeout: 10_000 }).toEqual([`traces cannot be sent to ${receiver.url}`]);
  receiver.answer(200);
  await tracing.close();
  expect(receiver.spans).toHaveLength(1);
  expect(told.at(-1)).toBe('traces are sent again; 0 spans were lost');
});

test('a collector that takes the call and never answers has one call at a time, and holds up no end for long', {
  timeout: 9_000,
}, async () => {
  receiver.answer(0);
  const call = tracing.call('POST', sampled);
  call?.end({ method: 'POST', route: '/api/sessions', status: 201 });
  await expect.poll(() => receiver.headers.length, { timeout: 5_000 }).toBe(1);
  await tracing.close();
  expect(receiver.headers).toHaveLength(1);
  receiver.answer(200);
});
