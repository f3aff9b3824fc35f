import { AgentEvent, KnownAgentMessage, SessionEvent } from '@concerto/protocol';
import { expect, test } from 'vitest';
import { agentInfo, plan, type Said, thought, toolCall, toolOutput, toolResult } from './driver-output.ts';

const change = { path: 'a.ts', kind: 'edit' as const, patch: '@@ -1 +1 @@\n-a\n+b\n', added: 1, removed: 1 };
const call = { id: 'c1', name: 'Edit', input: { path: 'a.ts' }, what: 'Edit a.ts' };

const everything: readonly (readonly [string, Said])[] = [
  ['thought', thought('hm', 'm1')],
  [
    'call',
    toolCall({
      ...call,
      title: 'Edit',
      messageId: 'm1',
      kind: 'edit',
      locations: [{ path: 'a.ts', line: 3 }],
      changes: [change],
      parentCallId: 'c0',
      extra: { exit_code: 0 },
    }),
  ],
  ['output', toolOutput('c1', 'a\n')],
  ['result', toolResult(call, { text: 'done', failed: false, changes: [change], extra: { ms: 3 } })],
  ['denied', toolResult(call, { text: 'no', failed: true, outcome: 'denied', parts: [{ text: 'no' }] })],
  ['plan', plan([{ content: 'Read', status: 'completed', priority: 'high' }])],
];

test.each(everything)(
  '%s: what is said is of our wire, what is shown is of the event model',
  (_name, { message, shown }) => {
    expect(message.type === 'custom' || KnownAgentMessage.safeParse(message).success).toBe(true);
    for (const event of shown ?? []) {
      expect(AgentEvent.safeParse(event).success || SessionEvent.safeParse(event).success).toBe(true);
    }
  },
);

test('how a call ended is said where it is known', () => {
  const denied = toolResult(call, { text: 'no', failed: true, outcome: 'denied' });
  expect(denied.shown?.map((event) => 'outcome' in event && event.outcome)).toEqual([false, 'denied']);
  expect(toolResult(call, { text: 'x', failed: true }).shown?.at(-1)).toMatchObject({ outcome: 'failed' });
});

test('what an agent can be switched to is told to sessions only', () => {
  const info = agentInfo({ model: 'a', models: [{ id: 'a' }], version: '1.0' });
  expect(info.kind === 'events' && info.events.every((event) => SessionEvent.safeParse(event).success)).toBe(true);
});

test('what is cut has no half character', () => {
  const text = `x${'😀'.repeat(20_000)}`;
  const { shown } = toolResult({ id: 'c1', name: 'Read' }, { text, failed: true });
  const written = JSON.stringify(shown);
  expect(written).toContain('[cut after 32000 of 40001 characters]');
  expect(written).not.toContain('\\ud');
});
