import { assert } from '@concerto/base';
import { memoryEventLog } from '@concerto/log';
import { type SuspendEvent, textContent } from '@concerto/protocol';
import type { Report, SessionState } from '@concerto/session';
import { expect, test } from 'vitest';
import { SessionStore } from '../session/session-store.ts';
import { ChildQuestions } from './child-questions.ts';

const unhandled = JSON.stringify({
  type: 'response',
  in_reply_to: 'question',
  in_reply_to_id: 'q',
  error: 'unhandled',
});
const requestIds = ['r1', 'r2'];

/** An agent has asked twice under one name; nobody but a person is asked. */
async function asking(): Promise<{ readonly store: SessionStore; readonly state: SessionState }> {
  const store = new SessionStore(memoryEventLog({ now: () => 1_000 }));
  const start = { kind: 'agent', agent: 'echo', title: 't', once: false, slot: 'held' } as const;
  await store.execute('s', { type: 'start', sessionId: 's', ...start, at: 1_000, actor: 'program:p' });
  const speaker = { epoch: 1, incarnation: 1 };
  const tell = async (report: Report): Promise<unknown> =>
    await store.execute('s', { at: 1_000, actor: 'runner:r', ...report });
  await tell({ type: 'claimed', epoch: 1, runner: 'r' });
  await tell({ type: 'agent-ready', ...speaker, capabilities: [] });
  for (const requestId of requestIds) {
    const prompt = textContent('Go on?', 'model');
    const event: SuspendEvent = { type: 'waitForInput', requestId, prompt, inputType: 'text' };
    await tell({ type: 'request-opened', ...speaker, requestId, event });
  }
  const state = await store.state('s');
  assert(state !== undefined, 'it was started');
  return { store, state };
}

function heard(): ChildQuestions {
  const questions = new ChildQuestions();
  const message = { type: 'question', id: 'q', question: 'Go on?' };
  for (const request of requestIds) questions.add({ type: 'message', request, message });
  return questions;
}

test('two questions under one name are each left with a reply of their own', async () => {
  const { state } = await asking();
  const questions = heard();
  expect(questions.decline(unhandled)).toBe(true);
  expect(questions.leftIn(state)).toHaveLength(1);
  expect(questions.decline(unhandled)).toBe(true);
  expect(questions.leftIn(state)).toHaveLength(2);
  const answered = questions.leftIn(state).map((line) => questions.answeredBy(line));
  expect(answered).toMatchObject(requestIds.map((requestId) => ({ requestId })));
  expect(questions.leftIn(state)).toEqual([]);
});

test('a reply to what somebody else has answered is none to something that asks nothing', async () => {
  const { store } = await asking();
  const questions = heard();
  for (const requestId of requestIds)
    await store.execute('s', { type: 'answer', requestId, response: 'yes', at: 2_000, actor: 'user:ann' });
  const state = await store.state('s');
  assert(state !== undefined, 'it is there');
  expect(questions.settledIn(state)).toHaveLength(2);
  expect(questions.answeredBy(unhandled)).toBe('settled');
  expect(questions.answeredBy(JSON.stringify({ in_reply_to: 'note', value: 1 }))).toBeUndefined();
});
