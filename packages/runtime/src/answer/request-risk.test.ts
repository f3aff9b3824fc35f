import { mkdir, mkdtemp, realpath, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@concerto/base';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { resolvedPaths, weighed } from './request-risk.ts';

let folder: string;

beforeAll(async () => {
  const base = await mkdtemp(join(tmpdir(), 'concerto-risk-'));
  await mkdir(join(base, 'real', '.ssh'), { recursive: true });
  await mkdir(join(base, 'real', 'project'));
  await symlink(join(base, 'real', '.ssh'), join(base, 'real', 'project', 'notes'));
  await symlink(join(base, 'real', '.ssh', 'new_key.pem'), join(base, 'real', 'project', 'later'));
  await symlink('round', join(base, 'real', 'project', 'round'));
  await mkdir(join(base, 'real', 'elsewhere', 'deep'), { recursive: true });
  await symlink(join(base, 'real', 'elsewhere', 'deep'), join(base, 'real', 'project', 'deep'));
  await symlink(join(base, 'real', '.ssh', 'authorized_keys'), join(base, 'real', 'project', 'keys.md'));
  await symlink(join(base, 'real', 'project'), join(base, 'project'));
  folder = join(base, 'project');
});

afterAll(async () => {
  await rm(join(folder, '..'), { recursive: true, force: true });
});

async function riskOf(fields: JsonObject): Promise<unknown> {
  const raw: JsonObject & { readonly type: string } = { type: 'approval', description: 'x', ...fields };
  const [word] = await weighed([{ kind: 'message', raw, message: { ...raw } }], { agent: 'coder', folder });
  expect(word?.message).toEqual(word?.raw);
  return word?.raw.risk_level;
}

test.each<[JsonObject, string | undefined]>([
  [{}, undefined],
  [{ risk_level: 'critical' }, 'critical'],
  [{ risk_level: 'low' }, 'low'],
  [{ tool: 'Bash', kind: 'execute', command: 'ls -la' }, 'low'],
  [{ tool: 'Bash', kind: 'execute', command: 'ls -la', risk_level: 'medium' }, 'medium'],
  [{ tool: 'Bash', kind: 'execute', command: 'rm -r build', risk_level: 'low' }, 'high'],
  [{ tool: 'WebFetch', kind: 'fetch', input: { url: 'https://docs.example/' } }, 'medium'],
  [{ tool: 'files.list', server: 'files', kind: 'read' }, 'medium'],
  [{ kind: 'edit', paths: ['src/a.ts'] }, 'medium'],
  [{ kind: 'read', paths: ['src/a.ts'] }, 'low'],
  // Through a link, out of the folder.
  [{ kind: 'read', paths: ['notes/key'] }, 'high'],
  // To what does not exist yet; and up from where a link leads, not from where it stands.
  [{ kind: 'edit', paths: ['later'] }, 'high'],
  [{ kind: 'edit', paths: ['deep/../x'] }, 'high'],
  [{ kind: 'edit', paths: ['new/../x'] }, 'medium'],
  [{ kind: 'edit', paths: ['round/x'] }, 'medium'],
  // Whoever writes there makes what the link names.
  [{ kind: 'edit', paths: ['keys.md'] }, 'high'],
  [{ kind: 'edit', changes: [{ path: '/etc/hosts' }] }, 'high'],
])('%j is shown as %s', async (fields, risk) => {
  expect(await riskOf(fields)).toBe(risk);
});

test('a request of our own loop is weighed by its scope; a budget is not', async () => {
  const event = (consentType: string, scope: JsonObject) =>
    ({ type: 'queryConsent', consentType, scope, graphUrl: '' }) as const;
  const two = [
    { kind: 'suspend', event: event('approval', { tool: 'files.write', server: 'files' }) },
    { kind: 'suspend', event: event('budget', { tool: 'x' }) },
  ];
  const batch = await weighed(two, { agent: 'helper', folder: undefined });
  expect(batch.map(({ event: { scope } }) => scope.risk_level)).toEqual(['high', undefined]);
});

test('a path is told as it leads when it is shortened first, and when its links are followed first', async () => {
  const outside = await realpath(join(folder, '..', 'real', 'elsewhere'));
  const real = async (paths: readonly string[]) => await resolvedPaths(folder, paths);
  expect(await real(['deep/../x'])).toEqual([join(folder, 'x'), join(outside, 'x')]);
  expect(await real([`${folder}/deep/../../elsewhere/x`])).toContain(join(outside, 'x'));
  expect(await real(['a/../x', './x', 'x'])).toEqual([join(folder, 'x'), join(folder, 'x'), join(folder, 'x')]);
  expect(await real(['/../../no-such/x', 'round'])).toEqual(['/no-such/x', join(folder, 'round')]);
});
