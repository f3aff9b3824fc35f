import type { WorkEvent } from '@concerto/protocol';
import { describe, expect, test } from 'vitest';
import type { AgentConnection, AgentOutput } from '../src/index.ts';
import { kindOf, rawOf, reader, start } from './start.ts';

/** Both delegate to a sub-agent, say "Waiting for my agent.", and are at work all the same. */
const drivers = [
  { protocol: 'claude', final: 'FINAL REPORT', call: 'toolu_1', tool: 'Task', inner: 'toolu_2' },
  // Its model is not woken: what it said last is its answer.
  { protocol: 'codex', final: 'Waiting for my agent.', call: 'call-1', tool: 'spawn_agent', inner: 'i-sub' },
] as const;

function shownOf(items: readonly AgentOutput[]): readonly WorkEvent[] {
  return items.flatMap((item) => (item.kind === 'message' ? (item.shown ?? []) : []));
}

async function until(output: ReturnType<typeof reader>, ...kinds: readonly string[]): Promise<AgentOutput[]> {
  const items: AgentOutput[] = [];
  for (;;) {
    const item = await output.next();
    items.push(item);
    if (kinds.includes(kindOf(item))) return items;
  }
}

describe.each(drivers)('work in the background of "$protocol"', ({ protocol, final, call, tool, inner }) => {
  const startOne = (): Promise<AgentConnection> => start(protocol, { protocol });

  test('keeps the turn open: its approvals are asked in it, and one result ends it', async () => {
    const agent = await startOne();
    const output = reader(agent);
    await agent.prompt({ text: 'delegate' });
    const before = await until(output, 'approval');
    expect(before.map(kindOf)).not.toContain('result');
    const asked = rawOf<{ id: string; call: string }>(before.at(-1) as AgentOutput);
    expect(asked.call).toBe(inner);
    await agent.reply({ inReplyTo: 'approval', inReplyToId: asked.id, value: 'yes' });
    const after = await until(output, 'result', 'error');
    expect(rawOf(after.at(-1) as AgentOutput)).toMatchObject({ type: 'result', text: final });
    const shown = shownOf([...before, ...after]);
    expect(shown).toContainEqual(expect.objectContaining({ type: 'functionCall', callId: call, name: tool }));
    expect(shown).toContainEqual(expect.objectContaining({ type: 'functionCall', callId: inner, parentCallId: call }));
    const result = shown.find((event) => event.type === 'functionResult' && event.callId === call);
    expect(JSON.stringify(result)).toContain('SUB REPORT');
    expect(result).toMatchObject({ outcome: 'ok' });
    await agent.prompt({ text: 'say Again' });
    expect(rawOf((await until(output, 'result')).at(-1) as AgentOutput)).toMatchObject({ text: 'Again' });
  });

  test('that goes on for ever ends with an interrupt, and its calls with it', async () => {
    const agent = await startOne();
    const output = reader(agent);
    await agent.prompt({ text: 'delegate for ever' });
    const waiting = await until(output, 'progress');
    while (!JSON.stringify(waiting.at(-1)).includes('waits for')) waiting.push(...(await until(output, 'progress')));
    await agent.request('interrupt', 'i-1');
    const stopped = await until(output, 'ack', 'result', 'error');
    expect(rawOf(stopped.at(-1) as AgentOutput)).toMatchObject({ type: 'ack', in_reply_to_id: 'i-1' });
    const shown = shownOf([...waiting, ...stopped]);
    const ids = (type: string): Set<string> =>
      new Set(shown.flatMap((event) => (event.type === type && 'callId' in event ? [event.callId ?? ''] : [])));
    expect(ids('functionResult')).toEqual(ids('functionCall'));
    expect(shown.filter(({ type }) => type === 'functionResult')).toHaveLength(ids('functionCall').size);
    await agent.prompt({ text: 'say Again' });
    expect(rawOf((await until(output, 'result')).at(-1) as AgentOutput)).toMatchObject({ text: 'Again' });
  });

  test('and a cancel ends it with the process', async () => {
    const agent = await startOne();
    const output = reader(agent);
    await agent.prompt({ text: 'delegate for ever' });
    await until(output, 'progress');
    await agent.request('cancel', 'c-1');
    expect((await output.rest()).map(kindOf)).toContain('ack');
  });
});

test('a program that says no more after its background work is not waited for for ever', async () => {
  const agent = await start('claude', { protocol: 'claude' });
  const output = reader(agent);
  await agent.prompt({ text: 'delegate without a word' });
  const { id } = rawOf<{ id: string }>((await until(output, 'approval')).at(-1) as AgentOutput);
  await agent.reply({ inReplyTo: 'approval', inReplyToId: id, value: 'yes' });
  const items = await until(output, 'result', 'error');
  expect(rawOf(items.at(-1) as AgentOutput)).toMatchObject({ type: 'result', text: 'Waiting for my agent.' });
});

test.each([
  ['sleep', ['woken']],
  ['sleep twice', ['it is not woken then', 'woken']],
])('a time at which the model wants to be woken keeps the turn open: %j', async (text, ends) => {
  const agent = await start('claude', { protocol: 'claude' });
  const output = reader(agent);
  await agent.prompt({ text });
  const items = await until(output, 'result', 'error');
  expect(rawOf(items.at(-1) as AgentOutput)).toMatchObject({ type: 'result', text: 'WOKEN' });
  expect(items.map(kindOf)).not.toContain('begun');
  const shown = shownOf(items);
  expect(shown).toContainEqual(expect.objectContaining({ status: 'until 2027-01-15T08:00:00.000Z' }));
  const results = items.filter((item) => kindOf(item) === 'tool_result');
  expect(results.map((item) => rawOf<{ content: string }>(item).content)).toEqual(ends);
});

test('an interrupt ends a turn that waits for its time, and says that the time still comes', async () => {
  const agent = await start('claude', { protocol: 'claude' });
  const output = reader(agent);
  await agent.prompt({ text: 'sleep for ever' });
  const items = await until(output, 'progress');
  while (!JSON.stringify(items.at(-1)).includes('waits for')) items.push(...(await until(output, 'progress')));
  await agent.request('interrupt', 'i-1');
  const stopped = await until(output, 'ack', 'result', 'error');
  expect(rawOf(stopped.at(-1) as AgentOutput)).toMatchObject({ type: 'ack', in_reply_to_id: 'i-1' });
  expect(JSON.stringify(stopped)).toContain('its model will be woken at the time that it has set');
  expect(shownOf(stopped)).toContainEqual(expect.objectContaining({ type: 'functionResult', outcome: 'cancelled' }));
});

test('a goal keeps the turn open as long as the program goes on towards it, and all of it is counted', async () => {
  const agent = await start('codex', { protocol: 'codex' });
  const output = reader(agent);
  await agent.prompt({ text: 'goal' });
  const items = await until(output, 'result', 'error');
  const usage = { input_tokens: 20, output_tokens: 10 };
  expect(rawOf(items.at(-1) as AgentOutput)).toMatchObject({ type: 'result', text: 'Reached.', usage });
  expect(items.map(kindOf)).not.toContain('begun');
  await agent.prompt({ text: 'goal for ever' });
  expect(rawOf((await until(output, 'result')).at(-1) as AgentOutput)).toMatchObject({ text: 'I begin.' });
});

test.each([
  ['claude', 'alarm', 'RANG'],
  ['codex', 'alone', 'By myself.'],
] as const)('what %s begins by itself is a turn of its own', async (protocol, how, words) => {
  const agent = await start(protocol, { protocol });
  const output = reader(agent);
  await agent.prompt({ text: how });
  await until(output, 'result');
  expect((await until(output, 'begun')).map(kindOf)).not.toContain('partial');
  const items = await until(output, 'result', 'error');
  expect(items.map(kindOf)).toContain('partial');
  expect(rawOf(items.at(-1) as AgentOutput)).toMatchObject({ type: 'result', text: words });
  await agent.prompt({ text: 'say Again' });
  expect(rawOf((await until(output, 'result')).at(-1) as AgentOutput)).toMatchObject({ text: 'Again' });
});

test.each([
  ['claude', 'alarm and works', 'say Answered', 'Answered'],
  ['codex', 'stays', 'in time', 'heard: in time'],
] as const)(
  'such a turn of %s can be interrupted, and a prompt in the middle of it is a part of it',
  async (protocol, how, said, words) => {
    const agent = await start(protocol, { protocol });
    const output = reader(agent);
    await agent.prompt({ text: how });
    await until(output, 'begun');
    await until(output, 'partial');
    await agent.prompt({ text: said });
    expect(rawOf((await until(output, 'result')).at(-1) as AgentOutput)).toMatchObject({ text: words });
    await agent.prompt({ text: how });
    await until(output, 'begun');
    await until(output, 'partial');
    await agent.request('interrupt', 'i-1');
    expect(kindOf((await until(output, 'ack', 'result', 'error')).at(-1) as AgentOutput)).toBe('ack');
  },
);
