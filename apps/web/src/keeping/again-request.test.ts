import type { Session } from '@concerto/protocol';
import { expect, test } from 'vitest';
import { againRequest } from './again-request.ts';

const session: Session = {
  id: 's_1',
  title: 'Mine',
  kind: 'agent',
  agent: 'coder',
  status: 'completed',
  turn: 1,
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
  pending: 0,
  usage: { inputTokens: 0, outputTokens: 0 },
  position: 1,
};
const worktree = { repository: '/r', path: '/r/.concerto/worktrees/a', branch: 'concerto/a', state: 'made' } as const;
const said = { role: 'user' as const, parts: [{ text: 'do it' }] };
const plain = { agent: 'coder', title: 'Mine', prompt: 'do it' };
const all = ['working_dir', 'worktree', 'model'];

test.each<[string, Partial<Session>, object]>([
  ['as it was', {}, plain],
  ['once', { once: true }, { ...plain, once: true }],
  [
    'with its own settings',
    { settings: { workingDir: '/p', params: { model: 'opus' } }, supervisor: 'guard' },
    { ...plain, workingDir: '/p', params: { model: 'opus' }, supervisor: 'guard' },
  ],
  [
    'in a checkout that is made anew, in the same folder of it',
    { settings: { workingDir: `${worktree.path}/sub`, worktree, params: { worktree: 'a' } } },
    { ...plain, workingDir: '/r/sub', params: { worktree: true } },
  ],
  [
    'with the same budget',
    { budget: { limits: { usd: 2 }, spent: { usd: 1 }, left: { usd: 1 } } },
    { ...plain, budget: { usd: 2 } },
  ],
])('again %s', (_how, more, request) => {
  expect(againRequest({ ...session, ...more }, said, all)).toEqual(request);
});

test('a folder that the entry does not let sessions choose is not asked for', () => {
  const settings = { workingDir: `${worktree.path}/sub`, worktree };
  expect(againRequest({ ...session, settings }, said, [])).toEqual(plain);
});

test('files go along; nothing to say is nothing to start, but for a program', () => {
  const storedData = { handle: 'b_1', mimeType: 'image/png', contentHash: 'sha256-x', contentLength: 1 };
  const content = { role: 'user' as const, parts: [{ text: 'look' }, { storedData }] };
  expect(againRequest(session, content, all)?.prompt).toEqual(content);
  expect(againRequest(session, undefined, all)).toBeUndefined();
  expect(againRequest({ ...session, kind: 'program' }, undefined, all)).toEqual({ program: 'coder', title: 'Mine' });
});
