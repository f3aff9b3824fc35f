import type { Json, JsonObject } from '@concerto/base';
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
    fresh: () => undefined,
    progress: undefined,
  });
  for (const [index, event] of events.entries()) narration.tell({ ...event, seq: index + 1, at: '' });
  return text;
}

const say = (text: string, messageId?: string): Bare => ({
  type: 'content',
  content: textContent(text),
  ...(messageId === undefined ? {} : { messageId }),
});
const whole = (text: string, messageId: string): Bare => ({
  type: 'content',
  content: textContent(text),
  messageId,
  whole: true,
});
const start: Bare[] = [
  { type: 'start', objective: textContent('Hi', 'user') },
  { type: 'functionCall', callId: 'turn-1', name: 'helper', args: { prompt: 'Hi' }, isTurn: true },
];
const result: Bare = { type: 'functionResult', callId: 'turn-1', content: { parts: [] } };
const call = (more: object = {}): Bare => ({
  type: 'functionCall',
  callId: 'c',
  name: 'Notes.read',
  args: { title: 'a' },
  ...more,
});

test('pieces of a message are one text, also around what happens between them; what stands whole is not said twice', () => {
  expect(
    told(
      ...start,
      say('Let ', 'a'),
      say('me see.', 'a'),
      call(),
      say('It is ', 'b'),
      say('b.', 'b'),
      whole('It is b.', 'b'),
      result,
    ),
  ).toBe('▶ Hi\nLet me see.\n  Notes.read {"title":"a"}\nIt is b.');
});

test('a message of its own is told, however it reads', () => {
  expect(told(...start, say('Done.', 'a'), whole('Done.', 'b'))).toBe('▶ Hi\nDone.\nDone.');
  expect(told(...start, say('Dome', 'a'), whole('Done.', 'a'))).toBe('▶ Hi\nDome\nDone.');
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

const change = {
  path: 'a.ts',
  kind: 'edit' as const,
  patch: '--- a.ts\n+++ a.ts\n@@ -1 +1 @@\n-old\n+new\n',
  added: 1,
  removed: 1,
};

test('an edit is shown once, with its call or with its result; a path is one line', () => {
  const ok: Bare = { type: 'functionResult', callId: 'c1', content: { role: 'user', parts: [] }, outcome: 'ok' };
  const call: Bare = {
    type: 'functionCall',
    callId: 'c1',
    name: 'Edit',
    args: {},
    changes: [{ ...change, path: 'a\nb' }],
  };
  const text = '  edit a b  +1 -1\n    @@ -1 +1 @@\n    -old\n    +new\n';
  expect(told(...start, call, ok)).toBe(`▶ Hi\n  Edit {}\n${text}`);
  const { changes, ...bare } = call;
  expect(told(...start, bare, { ...ok, changes })).toBe(`▶ Hi\n  Edit {}\n${text}`);
});

test('an approval shows what it is about, what the agent takes beside a yes and a no, and what was answered', () => {
  const options = [
    { id: 'once', name: 'Allow', kind: 'allow_once' },
    { id: 'ever', name: 'Allow always', kind: 'allow_always' },
  ];
  const scope = { description: 'Edit a.ts', risk_level: 'high', options };
  const asked: Bare = {
    type: 'queryConsent',
    requestId: 'r',
    consentType: 'approval',
    scope,
    graphUrl: '',
    changes: [change],
  };
  const settled: Bare = {
    type: 'requestSettled',
    requestId: 'r',
    outcome: 'answered',
    by: 'rule:3',
    response: false,
    reason: 'not here',
  };
  expect(told(asked, settled)).toBe(
    '! Edit a.ts (risk: high)\n  edit a.ts  +1 -1\n    @@ -1 +1 @@\n    -old\n    +new\n    once: Allow\n    ever: Allow always\n  → no by rule:3: not here\n',
  );
});

test('a command shows the end of what it printed and how it went', () => {
  const printed = Array.from({ length: 10 }, (_, index) => `line ${index + 1}`).join('\n');
  const run = call({ name: 'Bash', kind: 'execute', args: { command: 'make' } });
  const output: Bare = { type: 'toolOutput', callId: 'c', text: `\u001b[31m${printed}\u001b[0m\u001b[2J` };
  const failed: Bare = { type: 'functionResult', callId: 'c', content: textContent('exit 2'), outcome: 'failed' };
  const text = told(...start, run, output, failed);
  expect(text).toContain('  Bash $ make\n    … 2 lines before\n    line 3\n');
  expect(text).toContain('    line 10␛[2J\n  ✗ Bash failed: exit 2\n');
});

test('what a turn used is told at its end, and a plan as the list it is', () => {
  const used: Bare = { type: 'usage', turn: 1, inputTokens: 1200, outputTokens: 30, costMicroUsd: 12_000 };
  const entries = [
    { content: 'Read', status: 'completed' as const },
    { content: 'Write', status: 'in_progress' as const },
  ];
  expect(told(...start, { type: 'plan', entries }, used, { type: 'turnComplete', outcome: 'done' })).toBe(
    '▶ Hi\n  ☑ Read\n  ▸ Write\n  1200 in, 30 out · $0.0120\n',
  );
});

test('of a plan that goes on only what has changed is told; another plan is told whole', () => {
  const plan = (...statuses: readonly ('pending' | 'in_progress' | 'completed')[]): Bare => ({
    type: 'plan',
    entries: statuses.map((status, index) => ({ content: `step ${index + 1}`, status })),
  });
  const first = plan('in_progress', 'pending', 'pending');
  expect(
    told(...start, first, first, plan('completed', 'in_progress', 'pending'), plan('completed', 'completed')),
  ).toBe('▶ Hi\n  ▸ step 1\n  ☐ step 2\n  ☐ step 3\n  ☑ step 1\n  ▸ step 2\n  ☑ step 1\n  ☑ step 2\n');
});

test('a long line of output is cut, and that a program listens is told by the call of its agent', () => {
  const run = call({ name: 'Bash', kind: 'execute', args: { command: 'make' } });
  const output: Bare = { type: 'toolOutput', callId: 'c', text: 'x'.repeat(3000) };
  const listens: Bare = { type: 'subagentAddJson', callId: 'turn-1', title: 'listen:start', data: { agent: 'Coder' } };
  const done: Bare = { type: 'functionResult', callId: 'c', content: { parts: [] }, outcome: 'ok' };
  expect(told(...start, listens, run, output, done)).toBe(`▶ Hi\n  Bash $ make\n    ${'x'.repeat(399)}…\n`);
});

test('files are told in words: of a prompt, of a tool, of an answer', () => {
  const dot = { inlineData: { mimeType: 'image/png', data: 'AAAA', title: 'dot.png' } };
  const sheet = { storedData: { handle: 'b', mimeType: 'application/pdf', contentLength: 12_300 } };
  const text = told(
    { type: 'start', objective: { role: 'user', parts: [{ text: 'Look' }, dot] } },
    call(),
    { type: 'functionResult', callId: 'c', content: { parts: [sheet] }, outcome: 'ok' },
    { type: 'content', content: { role: 'model', parts: [dot] }, messageId: 'm' },
  );
  expect(text).toContain('▶ Look\n[picture, 3 B, dot.png]');
  expect(text).toContain('[file (application/pdf), 12 kB]');
  expect(text).toMatch(/\n\[picture, 3 B, dot\.png\]$/);
});

test('a command that says what it printed only at its end is shown with the end of it', () => {
  const response = { result: 'one\n\u001b[32mtwo\u001b[0m' };
  const content = { parts: [{ functionResponse: { name: 'Bash', response } }] };
  const text = told(
    ...start,
    call({ name: 'Bash', args: { command: 'npm test' } }),
    { type: 'functionResult', callId: 'c', content },
    { type: 'functionCall', callId: 'd', name: 'Read', args: { path: 'a' } },
    { type: 'functionResult', callId: 'd', content },
  );
  expect(text.split('\n').slice(1)).toEqual(['  Bash $ npm test', '    one', '    two', '  Read {"path":"a"}', '']);
});

test('what a program was answered, by a model or an agent, and what it answers an agent itself', () => {
  const answered = (callId: string, name: string, response: JsonObject): Bare => ({
    type: 'functionResult',
    callId,
    outcome: 'ok',
    content: { parts: [{ functionResponse: { name, response } }] },
  });
  const given = { request: 'r', session: 's_1', response: 'RS256' };
  const text = told(
    ...start,
    call({ name: 'Architect', args: { prompt: 'Which?' } }),
    answered('c', 'Architect', { text: 'RS256\nbecause', tokens_in: 300, tokens_out: 12 }),
    { type: 'subagentAddJson', callId: 'c', title: 'answer', data: given },
    call({ callId: 'd', name: 'Coder', childSession: 's_1' }),
    answered('d', 'Coder', { text: 'signed' }),
    call({ callId: 'e', name: 'Clerk', args: {} }),
    answered('e', 'Clerk', { text: '', tokens_in: 1, tokens_out: 2, tool_calls: [{ name: 'Basket::add' }] }),
    call({ callId: 'f', name: 'Clerk', args: {} }),
    answered('f', 'Clerk', { text: 'That is 4.10.', tokens_in: 1, tokens_out: 2 }),
  );
  expect(text.split('\n').slice(1)).toEqual([
    '  Architect {"prompt":"Which?"}',
    '  Architect answered RS256, 312 tokens',
    '  answered RS256 in s_1',
    '  Coder {"title":"a"} (s_1)',
    '  Coder answered signed',
    '  Clerk {}',
    '  Clerk called Basket::add, 3 tokens',
    '  Clerk {}',
    '  Clerk answered That is 4.10, 3 tokens',
    '',
  ]);
});
