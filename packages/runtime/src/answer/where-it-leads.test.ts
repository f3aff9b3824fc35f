import { mkdir, mkdtemp, realpath, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { whereItLeads } from './where-it-leads.ts';

let base: string;

beforeAll(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), 'concerto-leads-')));
  await mkdir(join(base, 'project'));
  await mkdir(join(base, 'far', 'deep'), { recursive: true });
  for (const [link, target] of [
    ['folder', '../far/deep'],
    ['dangling', '../far/new.txt'],
    ['absolute', join(base, 'far/new.txt')],
    ['twice', 'dangling'],
    ['through', 'folder/../new.txt'],
    ['round', 'round'],
  ] as const)
    await symlink(target, join(base, 'project', link));
});
afterAll(() => rm(base, { recursive: true, force: true }));

test.each([
  ['project/none.txt', 'project/none.txt'],
  ['project/none/deep.txt', 'project/none/deep.txt'],
  ['project/folder', 'far/deep'],
  ['project/folder/none/x.txt', 'far/deep/none/x.txt'],
  ['project/dangling', 'far/new.txt'],
  ['project/dangling/x.txt', 'far/new.txt/x.txt'],
  ['project/absolute', 'far/new.txt'],
  ['project/twice', 'far/new.txt'],
  ['project/through', 'far/new.txt'],
  ['project/round', 'project/round'],
])('%s leads to %s', async (path, place) => {
  expect(await whereItLeads(join(base, path))).toBe(join(base, place));
});
