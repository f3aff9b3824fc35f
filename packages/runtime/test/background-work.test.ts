import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { memoryEventLog } from '@concerto/log';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openStage, type Stage } from './session-stage.ts';
import { VirtualClock } from './virtual-clock.ts';

/** Both delegate to a sub-agent and say "Waiting for my agent."; the model of Codex is not woken when that one ends. */
const agents = (['claude', 'codex'] as const).map((protocol) => ({
  name: protocol,
  protocol,
  command: process.execPath,
  args: [join(import.meta.dirname, '../../agents/test/agents', `${protocol}.mjs`)],
}));
const lastWords = { claude: 'FINAL REPORT', codex: 'Waiting for my agent.' };
const caller = { actor: 'user', key: undefined } as const;

async function begin(stage: Stage, agent: string, prompt: string, once = false): Promise<string> {
  onTestFinished(() => stage.close());
  const started = await stage.start({ agent, prompt, ...(once ? { once } : {}) });
  return started.ok ? started.value.id : '';
}

async function approve(stage: Stage, session: string): Promise<void> {
  const { requestId } = await stage.until(session, ({ type }) => type === 'queryConsent');
  if (typeof requestId !== 'string') throw new Error('nothing was asked');
  expect(await stage.sessions.get(session)).toMatchObject({ status: 'waitingForApproval', turn: 1 });
  const answered = await stage.sessions.answer({ session, request: requestId }, { response: true }, caller);
  expect(answered).toMatchObject({ ok: true });
}

async function eventsOf(stage: Stage, session: string): Promise<readonly Record<string, unknown>[]> {
  const { entries } = await stage.log.read({ session, stream: 'events', after: 0, limit: 1_000 });
  return entries.map(({ data }): Record<string, unknown> => JSON.parse(data));
}

describe.each(agents)('work in the background of a session with $name', ({ protocol }) => {
  test('of a session for one prompt: it is asked for, and the last word is the result', async () => {
    const stage = openStage({ agents });
    const id = await begin(stage, protocol, 'delegate', true);
    await approve(stage, id);
    await stage.until(id, ({ type }) => type === 'finish');
    const { status, turn, result } = (await stage.sessions.get(id)) ?? {};
    expect({ status, turn }).toEqual({ status: 'completed', turn: 1 });
    expect(JSON.stringify(result)).toContain(lastWords[protocol]);
    expect(JSON.stringify(await eventsOf(stage, id))).toContain('SUB REPORT');
  });

  test('is of one turn, after which the next message has its own', async () => {
    const stage = openStage({ agents });
    const id = await begin(stage, protocol, 'delegate');
    await stage.sessions.send(id, { content: 'say Next.' }, caller);
    await approve(stage, id);
    await stage.until(id, ({ type, content }) => type === 'content' && JSON.stringify(content).includes('Next.'));
    await expect.poll(async () => (await stage.sessions.get(id))?.status).toBe('idle');
    const events = await eventsOf(stage, id);
    expect(events.filter(({ type }) => type === 'turnComplete')).toHaveLength(2);
    expect((await stage.sessions.get(id))?.turn).toBe(2);
  });

  test('keeps the session at work however long it takes, and ends with an interrupt', async () => {
    const clock = new VirtualClock();
    const stage = openStage({ agents, clock, log: memoryEventLog({ now: () => clock.now() }) });
    const id = await begin(stage, protocol, 'delegate for ever');
    const said = ({ type, data }: Record<string, unknown>): boolean =>
      type === 'subagentAddJson' && JSON.stringify(data).includes('waits for');
    await stage.until(id, said);
    for (let minute = 0; minute < 12; minute++) {
      for (let second = 0; second < 60; second += 5) {
        clock.pass(5_000);
        await sleep(1);
      }
    }
    expect((await stage.sessions.get(id))?.status).toBe('running');
    await stage.sessions.control(id, 'interrupt', caller);
    await expect.poll(async () => (await stage.sessions.get(id))?.status).toBe('interrupted');
  });
});

test('a session for one prompt is not over while its model waits to be woken', async () => {
  const stage = openStage({ agents });
  const id = await begin(stage, 'claude', 'sleep', true);
  await stage.until(id, ({ type }) => type === 'finish');
  expect(await stage.sessions.get(id)).toMatchObject({ status: 'completed', turn: 1, result: { text: 'WOKEN' } });
});

test('an agent that begins to work by itself is at work in a turn of its own', async () => {
  const stage = openStage({ agents });
  const id = await begin(stage, 'claude', 'alarm and works');
  await stage.until(id, ({ type, content }) => type === 'content' && JSON.stringify(content).includes('RANG'));
  expect(await stage.sessions.get(id)).toMatchObject({ status: 'running', turn: 2 });
  await stage.sessions.control(id, 'interrupt', caller);
  await expect.poll(async () => (await stage.sessions.get(id))?.status).toBe('interrupted');
  const of = ['start', 'content', 'turnComplete'];
  const events = (await eventsOf(stage, id)).flatMap(({ type }) => (of.includes(String(type)) ? [type] : []));
  expect(events).toEqual(['start', 'content', 'turnComplete', 'start', 'content', 'turnComplete']);
});
