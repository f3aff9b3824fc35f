import type { JsonObject } from '@concerto/base';
import { expect, test } from 'vitest';
import type { AgentSpec } from './agent-connection.ts';
import { withParams } from './driver-settings.ts';

const spec = (protocol: AgentSpec['protocol'], params: JsonObject = {}): AgentSpec => ({
  name: 'coder',
  command: 'coder',
  ...(protocol === undefined ? {} : { protocol }),
  params,
});

test.each<[AgentSpec['protocol'], JsonObject, JsonObject]>([
  [
    'claude',
    { model: 'opus', mode: 'plan', effort: 'high' },
    { model: 'opus', permission_mode: 'plan', effort: 'high' },
  ],
  ['codex', { mode: 'on-request', extra_dirs: ['/a'] }, { approval_policy: 'on-request', extra_dirs: ['/a'] }],
  ['acp', { model: 'x', mode: 'plan' }, { model: 'x', mode: 'plan' }],
  ['ndjson', { branch: 'main', depth: 3 }, { branch: 'main', depth: 3 }],
  [undefined, { branch: 'main' }, { branch: 'main' }],
])('an agent of protocol %s takes %j as %j', (protocol, params, own) => {
  const taken = withParams(spec(protocol), params);
  expect(taken).toEqual({ ok: true, value: spec(protocol, own) });
});

test("a session's own goes over the entry's", () => {
  expect(withParams(spec('claude', { model: 'sonnet', max_turns: 3 }), { model: 'opus' })).toMatchObject({
    value: { params: { model: 'opus', max_turns: 3 } },
  });
});

test.each<[AgentSpec['protocol'], JsonObject, string]>([
  ['claude', { mode: 'bypassPermissions' }, 'permission_mode'],
  ['claude', { efort: 'high' }, 'did you mean "effort"'],
  ['codex', { mode: 'always' }, 'approval_policy'],
  ['codex', { sandbox: 'danger-full-access' }, 'sandbox'],
  ['acp', { model: 3 }, 'params.model'],
  ['ndjson', { tools: {} }, 'in `tools`'],
  ['claude', { work_dir: '/' }, 'in `workingDir`'],
])('an agent of protocol %s is not given %j', (protocol, params, why) => {
  expect(withParams(spec(protocol), params)).toMatchObject({ ok: false, error: expect.stringContaining(why) });
});
