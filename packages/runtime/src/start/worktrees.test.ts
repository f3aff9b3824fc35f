import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assert } from '@concerto/base';
import type { Worktree } from '@concerto/protocol';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { changeWorktree, makeWorktree } from './worktrees.ts';

let repository: string;

const git = (folder: string, ...args: readonly string[]): string =>
  execFileSync('git', ['-C', folder, '-c', 'user.name=t', '-c', 'user.email=t@t', ...args], {
    encoding: 'utf8',
  }).trim();

beforeEach(async () => {
  repository = await realpath(await mkdtemp(join(tmpdir(), 'concerto-worktree-')));
  git(repository, 'init', '--quiet', '--initial-branch=main');
  await mkdir(join(repository, 'api'));
  await writeFile(join(repository, 'api', 'a.txt'), 'one\n');
  git(repository, 'add', '.');
  git(repository, 'commit', '--quiet', '-m', 'first');
  // An agent could have written it.
  await writeFile(join(repository, '.git', 'hooks', 'post-checkout'), '#!/bin/sh\ntouch hooked\n', { mode: 0o755 });
});

afterEach(async () => {
  await rm(repository, { recursive: true, force: true });
});

async function made(name: string, share = false): Promise<{ worktree: Worktree; workingDir: string }> {
  const result = await makeWorktree(join(repository, 'api'), { name, share });
  assert(result.ok, JSON.stringify(result));
  return result.value;
}

test('each has a folder and a branch of its own, which git does not see in the repository, and runs no hook', async () => {
  const { worktree, workingDir } = await made('fix');
  expect(worktree).toMatchObject({ branch: 'concerto/fix', state: 'made', repository });
  expect(workingDir).toBe(join(worktree.path, 'api'));
  expect(git(worktree.path, 'branch', '--show-current')).toBe('concerto/fix');
  expect(git(repository, 'status', '--porcelain')).toBe('');
  expect(existsSync(join(worktree.path, 'hooked'))).toBe(false);
  expect(await makeWorktree(repository, { name: 'fix', share: false })).toMatchObject({
    error: { code: 'worktree_in_use' },
  });
  expect((await made('fix', true)).workingDir).toBe(workingDir);
});

test('what is not committed is merged only with a message; then it can be removed', async () => {
  const { worktree, workingDir } = await made('fix');
  await writeFile(join(workingDir, 'a.txt'), 'two\n');
  const dirty = { error: { code: 'worktree_dirty', details: { files: ['api/a.txt'] } } };
  expect(await changeWorktree(worktree, { action: 'merge' })).toMatchObject(dirty);
  expect(await changeWorktree(worktree, { action: 'remove' })).toMatchObject(dirty);
  expect(await changeWorktree(worktree, { action: 'merge', commit: 'two' })).toMatchObject({
    value: { state: 'merged', into: 'main' },
  });
  expect(git(repository, 'show', 'HEAD:api/a.txt')).toBe('two');
  expect(await changeWorktree(worktree, { action: 'remove' })).toMatchObject({ value: { state: 'removed' } });
  expect(existsSync(worktree.path)).toBe(false);
  expect(git(repository, 'branch', '--list', 'concerto/*')).toBe('');
});

test('a conflict changes nothing and names the files; what is not merged is not lost without force', async () => {
  const { worktree, workingDir } = await made('fix');
  await writeFile(join(workingDir, 'a.txt'), 'two\n');
  git(workingDir, 'commit', '--quiet', '-am', 'two');
  await writeFile(join(repository, 'api', 'a.txt'), 'three\n');
  git(repository, 'commit', '--quiet', '-am', 'three');
  expect(await changeWorktree(worktree, { action: 'merge' })).toMatchObject({
    error: { code: 'merge_conflict', details: { files: ['api/a.txt'] } },
  });
  expect(git(repository, 'status', '--porcelain')).toBe('');
  expect(await changeWorktree(worktree, { action: 'remove' })).toMatchObject({ error: { code: 'worktree_unmerged' } });
  expect(await changeWorktree(worktree, { action: 'remove', force: true })).toMatchObject({ ok: true });
});

test('a folder without a repository, or without a commit, has none', async () => {
  const empty = await mkdtemp(join(tmpdir(), 'concerto-empty-'));
  expect(await makeWorktree(empty, { name: 'x', share: false })).toMatchObject({ error: { code: 'invalid_params' } });
  git(empty, 'init', '--quiet');
  expect(await makeWorktree(empty, { name: 'x', share: false })).toMatchObject({ error: { code: 'invalid_params' } });
  await rm(empty, { recursive: true, force: true });
});
