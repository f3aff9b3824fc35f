import { ClientError } from '@concerto/client';
import type { AgentInfo } from '@concerto/protocol';
import { expect, test } from 'vitest';
import { faultOf } from './fault-of.ts';
import { recentFolders } from './recent-folders.ts';
import { nobody, startRequest } from './start-request.ts';
import type { Target } from './targets.ts';

const may = ['model', 'branch', 'working_dir', 'worktree', 'extra_dirs', 'env'];
const worker: AgentInfo = { name: 'coder', kind: 'agent', capabilities: [], perSession: may };
const target: Target = {
  key: 'agent coder',
  kind: 'agent',
  name: 'coder',
  description: undefined,
  hasPrompt: false,
  worker,
  supervisor: undefined,
};
const request = (fields: Record<string, string>, to = target) =>
  startRequest(to, { prompt: ' do it ', files: [] }, fields);
const plain = { agent: 'coder', prompt: 'do it' };

test.each([
  [{}, {}],
  [{ model: ' ', title: '', working_dir: '' }, {}],
  [
    { model: 'opus', title: 'Mine' },
    { title: 'Mine', params: { model: 'opus' } },
  ],
  [{ branch: '3' }, { params: { branch: 3 } }],
  [{ effort: 'high' }, {}],
  [{ working_dir: ' sub ' }, { workingDir: 'sub' }],
  [{ worktree: 'yes' }, { params: { worktree: true } }],
  [{ worktree: 'yes', worktree_name: 'fix' }, { params: { worktree: 'fix' } }],
  [{ worktree: 'no', worktree_name: 'fix' }, {}],
  [{ extra_dirs: 'a\n\n b ' }, { params: { extra_dirs: ['a', 'b'] } }],
  [{ env: 'TOKEN=MINE' }, { params: { env: { TOKEN: { env: 'MINE' } } } }],
  [{ supervisor: 'guard' }, { supervisor: 'guard' }],
  [{ supervisor: nobody }, { supervisor: null }],
  [{ 'budget.usd': '2.5', 'budget.turns': '3' }, { budget: { usd: 2.5, turns: 3 } }],
  [{ once: 'yes' }, { once: true }],
])('%j starts with %j beside the agent and the prompt', (fields, asked) => {
  expect(request(fields)).toEqual({ ok: true, value: { ...plain, ...asked } });
});

test('where each session has a worktree, only the wish for none is said', () => {
  const usual = { ...target, worker: { ...worker, worktree: true as const } };
  expect(request({ worktree: 'yes' }, usual)).toEqual({ ok: true, value: plain });
  expect(request({ worktree: 'no' }, usual)).toEqual({ ok: true, value: { ...plain, params: { worktree: false } } });
});

test.each([
  [{ env: 'TOKEN: very secret' }, 'env'],
  [{ 'budget.usd': 'much' }, 'budget.usd'],
  [{ 'budget.turns': '-1' }, 'budget.turns'],
])('%j is refused at its field', (fields, field) => {
  expect(request(fields)).toMatchObject({ ok: false, error: { field } });
});

test('files go with the words, or alone', () => {
  const storedData = { handle: 'b_1', mimeType: 'image/png', contentHash: 'sha256-x', contentLength: 1 };
  const said = startRequest(target, { prompt: '', files: [{ storedData }] }, {});
  expect(said).toEqual({ ok: true, value: { agent: 'coder', prompt: { role: 'user', parts: [{ storedData }] } } });
});

test.each([
  ['folder_not_allowed', 'workingDir: "/etc" is outside of where sessions may work', 'working_dir'],
  ['invalid_params', 'params.permission_mode: Invalid option', 'mode'],
  ['invalid_params', 'params.worktree: /x is in no git repository', 'worktree'],
  ['invalid_body', '`budget.turns`: Invalid input: expected int', 'budget.turns'],
  ['worktree_in_use', 'the checkout "fix" is that of another session', 'worktree'],
  ['no_such_program', 'there is no program "guard"', 'supervisor'],
  ['part_not_taken', 'pictures are not taken', 'prompt'],
  ['pool_full', 'all slots are taken', undefined],
])('%s: %s stands at the field %s', (code, message, field) => {
  expect(faultOf(new ClientError(code, message)).field).toBe(field);
});

test('a setting that is not for sessions stands at its own field', () => {
  const problem = { type: 'about:blank', title: 'x', status: 403, code: 'not_per_session', setting: 'model' };
  expect(faultOf(new ClientError('not_per_session', '`model` of agent', { problem })).field).toBe('model');
});

test('folders of late, each once, of a worktree its repository', () => {
  const worktree = {
    repository: '/r',
    path: '/r/.concerto/worktrees/a',
    branch: 'concerto/a',
    state: 'made' as const,
  };
  const rows = [
    { updatedAt: '2026-01-01', settings: { workingDir: '/a' } },
    { updatedAt: '2026-01-02', settings: { workingDir: '/r/.concerto/worktrees/a', worktree } },
    { updatedAt: '2026-01-03', settings: { workingDir: '/a' } },
    { updatedAt: '2026-01-09' },
  ];
  expect(recentFolders(rows)).toEqual(['/a', '/r']);
});
