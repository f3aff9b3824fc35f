import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { openStage, type Stage } from './session-stage.ts';

const agent = {
  name: 'tells',
  command: process.execPath,
  args: [join(import.meta.dirname, 'agents/tells-its-tools.mjs')],
  params: { repo: '.' },
};
const environment = { FILES_TOKEN: 'open sesame', WEB_TOKEN: 'abracadabra' };
let stage: Stage;

afterEach(() => stage.close());

const caller = { actor: 'user', key: undefined };

async function resultOf(id: string): Promise<unknown> {
  await stage.until(id, (event) => event.type === 'turnComplete');
  return (await stage.sessions.get(id))?.result;
}

test('template and session tools reach the agent as one configuration, with secrets, and no secret is stored', async () => {
  stage = openStage({ agents: [agent], environment });
  await stage.sessions.createTemplate(
    {
      name: 'review',
      agent: 'tells',
      prompt: 'Review it',
      tools: {
        servers: {
          files: {
            transport: 'stdio',
            command: 'mcp-files',
            args: ['.'],
            env: { FILES_TOKEN: { env: 'FILES_TOKEN' } },
          },
          old: { transport: 'stdio', command: 'mcp-old' },
        },
        deny: ['Bash'],
      },
    },
    caller,
  );
  const started = await stage.start({
    template: 'review',
    tools: {
      servers: {
        old: { command: 'mcp-old', enabled: false },
        web: {
          url: 'https://tools.example/mcp',
          headers: { Authorization: { env: 'WEB_TOKEN' } },
          tools: { post: { approval: 'ask' }, wipe: { enabled: false } },
        },
      },
      deny: ['files.remove'],
    },
  });
  const id = started.ok ? started.value.id : '';
  expect(await resultOf(id)).toEqual({
    params: {
      repo: '.',
      mcp_servers: {
        files: { transport: 'stdio', command: 'mcp-files', args: ['.'], env: { FILES_TOKEN: 'emases nepo' } },
        web: {
          transport: 'http',
          url: 'https://tools.example/mcp',
          headers: { Authorization: 'arbadacarba' },
        },
      },
      tools: { deny: ['Bash', 'files.remove', 'web.wipe'], ask: ['web.post'] },
    },
  });
  for (const stream of ['domain', 'commands', 'events'] as const) {
    const page = await stage.log.read({ session: id, stream, after: 0, limit: 1_000 });
    const stored = JSON.stringify(page.entries);
    for (const secret of Object.values(environment)) expect(stored).not.toContain(secret);
  }
});

test('editing the template later changes nothing in the session', async () => {
  stage = openStage({ agents: [agent], environment });
  const template = { name: 't', agent: 'tells', tools: { deny: ['Bash'] } };
  await stage.sessions.createTemplate(template, caller);
  const started = await stage.start({ template: 't', prompt: 'go' });
  const id = started.ok ? started.value.id : '';
  await resultOf(id);
  await stage.sessions.putTemplate('t', { ...template, tools: { deny: ['Write'] } });
  expect(await resultOf(id)).toMatchObject({ params: { tools: { deny: ['Bash'] } } });
});

test('a missing secret refuses the start by its path and leaves nothing behind', async () => {
  stage = openStage({ agents: [agent], environment });
  const tools = { servers: { a: { command: 'x', env: { KEY: { env: 'NOT_SET_ANYWHERE' } } } } };
  const started = await stage.start({ agent: 'tells', prompt: 'go', tools });
  expect(started).toMatchObject({
    ok: false,
    error: {
      code: 'invalid_tools',
      details: {
        errors: [{ path: 'servers.a.env.KEY', message: 'environment variable NOT_SET_ANYWHERE is not set' }],
      },
    },
  });
  expect(await stage.sessions.pool()).toMatchObject({ active: 0, waiting: 0 });
  expect((await stage.sessions.list({ limit: 10 })).sessions).toEqual([]);
  expect(await stage.log.listSessions(undefined, 10)).toEqual([]);
});

test('an agent that does not answer `init` is told apart from one without tools', async () => {
  const deaf = join(import.meta.dirname, '../../agents/test/agents/never-acknowledges.mjs');
  stage = openStage({ agents: [{ name: 'deaf', command: process.execPath, args: [deaf] }], initTimeoutMs: 500 });
  const started = await stage.start({ agent: 'deaf', prompt: 'go', tools: { deny: ['Bash'] } });
  const id = started.ok ? started.value.id : '';
  const failed = await stage.until(id, (event) => event.type === 'status' && event.status === 'interrupted');
  expect(failed.reason).toContain('`init_ack`');
});
