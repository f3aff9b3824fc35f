import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { probeSandbox } from '@concerto/agents';
import type { JsonObject } from '@concerto/base';
import { afterEach, describe, expect, test } from 'vitest';
import { answer, type Driven, drive } from './driven.ts';
import type { Place } from './real-claude.ts';
import { codex, openCodexPlace } from './real-codex.ts';

const timeout = 120_000;
const use = await probeSandbox();
const canNest = use.kind === 'bubblewrap' && use.nests;

let place: Place;
let driven: Driven | undefined;

afterEach(async () => {
  await driven?.agent.end();
  driven = undefined;
  await place.close();
});

/** One command in our sandbox, which tells whether it could write where it works and where it does not. */
async function tries(params: JsonObject): Promise<{ readonly said: string; readonly wrote: readonly string[] }> {
  place = await openCodexPlace([
    [{ tool: 'exec_command', arguments: { cmd: 'touch inside.txt; touch "$HOME/outside.txt"; echo tried' } }],
    'Done.',
  ]);
  driven = await drive({
    name: 'codex',
    protocol: 'codex',
    command: codex,
    env: place.env,
    workingDir: place.workDir,
    params: { ...params, config: { sandbox_workspace_write: { exclude_slash_tmp: true } } },
    sandbox: { mode: 'require', hide: [] },
  });
  await driven.agent.prompt({ text: 'Try' });
  const said = [...(await driven.until('approval', 'result'))];
  if (said.at(-1)?.type === 'approval') {
    await answer(driven, said.at(-1), 'yes');
    said.push(...(await driven.until('result')));
  }
  const files = [join(place.workDir, 'inside.txt'), join(place.env.HOME ?? '', 'outside.txt')];
  return {
    said: JSON.stringify(said.find(({ type }) => type === 'tool_result')),
    wrote: files.filter((file) => existsSync(file)).map((file) => file.slice(file.lastIndexOf('/') + 1)),
  };
}

describe.skipIf(!canNest)('the sandbox of the real Codex holds inside ours', () => {
  test.each([
    { approval_policy: 'untrusted', sandbox: 'read-only', wrote: [] },
    { approval_policy: 'untrusted', sandbox: 'workspace-write', wrote: ['inside.txt'] },
    { approval_policy: 'never', sandbox: 'read-only', wrote: [] },
    { approval_policy: 'never', sandbox: 'workspace-write', wrote: ['inside.txt'] },
  ])('$approval_policy, $sandbox: the command runs, and writes $wrote', { timeout }, async ({ wrote, ...params }) => {
    const tried = await tries(params);
    expect(tried.said).toContain('tried');
    expect(tried.wrote).toEqual(wrote);
  });
});
