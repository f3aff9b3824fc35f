import type { Json } from '@concerto/base';
import type { FollowedEvent } from '@concerto/client';
import { textContent } from '@concerto/protocol';
import { expect, test } from 'vitest';
import { Narration } from './narration.ts';

type Bare = FollowedEvent extends infer Event
  ? Event extends FollowedEvent
    ? Omit<Event, 'seq' | 'at'>
    : never
  : never;

function told(...events: readonly Bare[]): string {
  let text = '';
  const narration = new Narration({
    print: (line) => {
      text += `${line}\n`;
    },
    write: (piece) => {
      text += piece;
    },
  });
  for (const [index, event] of events.entries()) narration.tell({ ...event, seq: index + 1, at: '' });
  return text;
}

const say = (text: string): Bare => ({ type: 'content', content: textContent(text) });
const start: Bare[] = [
  { type: 'start', objective: textContent('Hi', 'user') },
  { type: 'functionCall', callId: 'turn-1', name: 'helper', args: { prompt: 'Hi' } },
];
const result: Bare = { type: 'functionResult', callId: 'turn-1', content: { parts: [] } };

test('pieces are one text, interrupted by what happens between them, and the result does not repeat them', () => {
  const call: Bare = { type: 'functionCall', callId: 'c', name: 'Notes.read', args: { title: 'a' } };
  expect(told(...start, say('Let '), say('me see.'), call, say('It is '), say('b.'), result, say('It is b.'))).toBe(
    '▶ Hi\nLet me see.\n  Notes.read {"title":"a"}\nIt is b.\n',
  );
});

test('a result that was not said before is told', () => {
  expect(told(...start, say('Working'), result, say('Done.'), ...start, result, say('Again.'))).toBe(
    '▶ Hi\nWorking\nDone.\n▶ Hi\nAgain.\n',
  );
});

test('why it failed is told once', () => {
  const failure: Bare = { type: 'subagentError', callId: 'turn-1', error: { $error: 'no luck', metadata: {} } };
  expect(
    told(
      ...start,
      failure,
      { type: 'status', status: 'failed', reason: 'no luck' },
      { type: 'error', message: 'no luck' },
    ),
  ).toBe('▶ Hi\n  no luck\n  [failed]\n');
  expect(told({ type: 'status', status: 'failed', reason: 'no agent' }, { type: 'error', message: 'no agent' })).toBe(
    '  [failed]\n✗ no agent\n',
  );
});

test('a log line is its text, and so is a text that a program emits', () => {
  const note = (title: string, data: Json): Bare => ({ type: 'subagentAddJson', callId: 'turn-1', title, data });
  expect(
    told(
      note('log', { level: 'info', message: '42 files' }),
      note('log', { level: 'warn', message: 'old' }),
      note('said', { value: 'hello' }),
      note('diff', { files: 3 }),
    ),
  ).toBe('  42 files\n  warn: old\n  said: hello\n  diff: {"files":3}\n');
});

test('an approval lists what the agent takes beside a yes and a no', () => {
  const options = [
    { id: 'once', name: 'Allow', kind: 'allow_once' },
    { id: 'ever', name: 'Allow always', kind: 'allow_always' },
  ];
  const scope = { description: 'rm -r build', risk_level: 'high', options };
  const asked: Bare = { type: 'queryConsent', requestId: 'r', consentType: 'approval', scope, graphUrl: '' };
  expect(told(asked)).toBe('! rm -r build (risk: high)\n    once: Allow\n    ever: Allow always\n');
});
