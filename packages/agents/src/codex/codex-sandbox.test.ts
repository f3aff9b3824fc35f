import { expect, test } from 'vitest';
import type { Sandbox, SandboxUse } from '../sandbox.ts';
import { whyUnguarded, whyWithoutHelpers } from './codex-sandbox.ts';

const bubblewrap = { kind: 'bubblewrap', program: '/usr/bin/bwrap', args: [] } as const;

test.each<[string, Sandbox['mode'] | undefined, SandboxUse, boolean]>([
  ['none opens inside ours', 'auto', { ...bubblewrap, nests: false }, true],
  ['none opens inside ours, which must be there', 'require', { ...bubblewrap, nests: false }, true],
  ['one opens inside ours', 'auto', { ...bubblewrap, nests: true }, false],
  ['ours is off', 'off', { ...bubblewrap, nests: false }, false],
  ['there is none here', 'auto', { kind: 'none', reason: 'not installed' }, false],
  ['it was started by hand', undefined, { ...bubblewrap, nests: false }, false],
])('whether the sandbox of codex holds: %s', async (_what, mode, use, isUnguarded) => {
  const spec = mode === undefined ? {} : { sandbox: { mode, hide: [] } };
  const why = await whyUnguarded(spec, () => Promise.resolve(use));
  expect(why !== undefined).toBe(isUnguarded);
});

test.each([
  ['/tmp/home/.codex', true],
  ['/home/me/.codex', false],
  ['/tmpfiles/.codex', false],
  [undefined, false],
])('a home at %s keeps no helpers of its sandbox: %s', (home, isHelpless) => {
  expect(whyWithoutHelpers(home, '/tmp') !== undefined).toBe(isHelpless);
});
