import { memoryEventLog } from '@concerto/log';
import { type SessionState, statusOf } from '@concerto/session';
import { expect, test } from 'vitest';
import { SessionStore } from '../session/session-store.ts';
import { holdBelow } from './hold-below.ts';

const at = 1_800_000_000_000;
const log = memoryEventLog({ now: () => at });
const store = new SessionStore(log);

type Command = Parameters<SessionStore['execute']>[1];

async function does(session: string, ...commands: readonly object[]): Promise<SessionState> {
  for (const command of commands) {
    const executed = await store.execute(session, { at, actor: 'user:ann', ...command } as Command);
    expect(executed.ok).toBe(true);
  }
  const state = await store.state(session);
  if (state === undefined) throw new Error(`there is no ${session}`);
  return state;
}

const starts = (sessionId: string, kind: 'agent' | 'program') => {
  const prompt = { messageId: `m-${sessionId}`, content: 'go' };
  return { type: 'start', sessionId, kind, agent: 'a', title: sessionId, once: false, slot: 'held', prompt };
};

const runs = (session: string) => [
  { type: 'claimed', epoch: 1, runner: 'one' },
  { type: 'agent-ready', epoch: 1, incarnation: 1, capabilities: ['pause', 'resume'] },
  { type: 'delivered', epoch: 1, incarnation: 1, dispatchId: `m-${session}.1`, how: 'prompt' },
];

test('what a paused program opened is paused by whoever takes it up, where its owner was gone before it was told; once', async () => {
  await does('child', starts('child', 'agent'), ...runs('child'));
  await does('program', starts('program', 'program'), ...runs('program'));
  await does('program', { type: 'child-opened', epoch: 1, child: 'child' });
  const asked = { type: 'control', kind: 'pause', requestId: 'c1' };
  const taken = await does('program', asked, { type: 'claimed', epoch: 2, runner: 'two' });
  expect(statusOf(taken)).toBe('paused');
  const child = async (): Promise<string> => statusOf(await does('child'));
  expect(await child()).toBe('running');

  await holdBelow(taken, { log, store, now: () => at });
  const told = await does('child');
  expect(statusOf(told)).toBe('pausing');
  const { requestId } = told.control ?? {};
  await does('child', { type: 'control-acked', epoch: 1, incarnation: 1, requestId });
  expect(await child()).toBe('paused');

  await does('child', { type: 'control', kind: 'resume', requestId: 'r1' });
  await does('child', { type: 'control-acked', epoch: 1, incarnation: 1, requestId: 'r1' });
  await holdBelow(taken, { log, store, now: () => at });
  expect(await child()).toBe('running');
});
