import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@concerto/base';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { weighed } from './request-risk.ts';

let folder: string;

beforeAll(async () => {
  const base = await mkdtemp(join(tmpdir(), 'concerto-risk-'));
  await mkdir(join(base, 'real', '.ssh'), { recursive: true });
  await mkdir(join(base, 'real', 'project'));
  await symlink(join(base, 'real', '.ssh'), join(base, 'real', 'project', 'notes'));
  await symlink('../.ssh/authorized_keys', join(base, 'real', 'project', 'new'));
  await symlink('new', join(base, 'real', 'project', 'newer'));
  await symlink('circle', join(base, 'real', 'project', 'circle'));
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
  [{ kind: 'edit', changes: [{ path: '/etc/hosts' }] }, 'high'],
  // Through a link to what is not there yet, which whoever writes to it makes.
  [{ kind: 'edit', paths: ['new'] }, 'high'],
  [{ kind: 'edit', paths: ['newer'] }, 'high'],
  [{ kind: 'edit', paths: ['circle'] }, 'medium'],
  [{ kind: 'edit', paths: ['not/there/yet'] }, 'medium'],
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
