import { afterAll, beforeAll, expect, test } from 'vitest';
import { type OtlpReceiver, startOtlpReceiver } from '../../packages/runtime/test/otlp-receiver.ts';
import { type Api, apiOf } from '../support/api.ts';
import { type StartedServer, startServer } from '../support/start-server.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const traceparent = `00-${traceId}-00f067aa0ba902b7-01`;

let receiver: OtlpReceiver;
let server: StartedServer;
let api: Api;

beforeAll(async () => {
  receiver = await startOtlpReceiver();
  server = await startServer({ args: ['--traces', receiver.url, '--log-format', 'json'] });
  api = apiOf(server);
});

afterAll(async () => {
  await server?.stop();
  await receiver?.close();
});

test('19.3 a message is traced from the call that sent it to the agent and back; the log names the trace', async () => {
  const { id } = await api.start({ agent: 'echo', prompt: 'hello' });
  await api.untilStatus(id, 'idle');
  await api.post(`/api/sessions/${id}/messages`, { content: 'WHAT WAS SAID' }, { traceparent });
  const ours = () => receiver.spans.filter((span) => span.traceId === traceId);
  const names = ['POST /api/sessions/{id}/messages', 'invoke_agent echo', 'queue message'];
  await expect
    .poll(
      () =>
        ours()
          .map(({ name }) => name)
          .toSorted(),
      { timeout: 20_000 },
    )
    .toEqual(names);
  const [call, agent, queue] = names.map((name) => ours().find((span) => span.name === name));
  expect(call).toMatchObject({ parentSpanId: '00f067aa0ba902b7', attributes: { 'http.response.status_code': 202 } });
  expect([agent?.parentSpanId, queue?.parentSpanId]).toEqual([call?.spanId, call?.spanId]);
  expect(agent?.attributes['gen_ai.conversation.id']).toBe(id);
  const line =
    server
      .said()
      .split('\n')
      .find((text) => text.includes(traceId)) ?? '{}';
  expect(JSON.parse(line)).toMatchObject({ msg: 'answered', path: `/api/sessions/${id}/messages`, trace: traceId });
  expect(receiver.bodies.join() + server.said()).not.toMatch(/WHAT WAS SAID|e2e-token/);
});

test('19.3 the figures tell of agents, what they take, and how soon readers have what happened', async () => {
  const { id } = await api.start({ agent: 'echo', prompt: 'hello' });
  await api.untilStatus(id, 'idle');
  const { body } = await api.get('/metrics');
  const figure = (name: string) => Number(new RegExp(`^${name} (.*)$`, 'm').exec(String(body))?.[1]);
  expect(figure('concerto_agents')).toBeGreaterThanOrEqual(1);
  expect(figure('concerto_agents_memory_bytes')).toBeGreaterThan(1_000_000);
  expect(figure('concerto_agent_memory_max_bytes')).toBeLessThanOrEqual(figure('concerto_agents_memory_bytes'));
  expect(figure('concerto_append_seconds_count')).toBeGreaterThan(0);
  expect(figure('concerto_fanout_seconds_count')).toBeGreaterThan(0);
  expect(figure('concerto_messages_pending')).toBe(0);
});
