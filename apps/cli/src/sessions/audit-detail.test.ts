import { expect, test } from 'vitest';
import { auditDetail } from './audit-detail.ts';

test.each([
  ['a message', { content: 'only the\nflaky ones', priority: 'immediate', source: 'user' }, 'only the flaky ones'],
  ['what was asked of the agent', { kind: 'pause', deadline: 1 }, 'pause'],
  ['what confirmed it', { kind: 'pause', by: 'ack' }, 'pause, by ack'],
  ['a new session', { sessionId: 's', kind: 'agent', agent: 'demo', title: 't' }, 'agent demo'],
  ['a question', { event: { type: 'waitForInput', prompt: { role: 'model', parts: [{ text: 'Which?' }] } } }, 'Which?'],
  ['an approval', { event: { type: 'queryConsent', scope: { description: 'Delete it' } } }, 'Delete it'],
  ['a yes', { response: true, held: false }, 'yes'],
  ['a choice', { response: { selected: ['option-1'] } }, 'option-1'],
  ['an answer', { response: { input: { role: 'user', parts: [{ text: 'main' }] } } }, 'main'],
  ['a result', { turn: 1, outcome: 'result', value: { text: 'Done.' } }, 'result: Done.'],
  ['an end', { status: 'cancelled', reason: 'cancelled' }, 'cancelled'],
  ['what was ignored', { report: 'control-acked', reason: 'no such request' }, 'control-acked: no such request'],
  ['how it was sent', { dispatchId: 'm.1', how: 'steer', turn: 1 }, 'steer'],
  ['nothing to say', { turn: 1 }, ''],
  ['no detail', undefined, ''],
])('%s', (_what, detail, text) => {
  expect(auditDetail(detail)).toBe(text);
});

test('a long text is cut', () => {
  expect(auditDetail({ content: 'x'.repeat(100) })).toBe(`${'x'.repeat(59)}…`);
});
