import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer, request as httpRequest, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { root } from '../support/built-concerto.ts';
import { startRoomyPuppetServer, steps } from '../support/puppets.ts';
import { runProgram } from '../support/run-program.ts';

const timeout = 120_000;
const modal = `[agents.modal]
protocol = "acp"
command = ${JSON.stringify(process.execPath)}
args = ${JSON.stringify([join(root, 'packages/agents/test/agents/acp.mjs'), 'modes'])}
per_session = ["mode", "model", "working_dir"]
`;
const puppets = await startRoomyPuppetServer(modal);
const { api } = puppets;
const concerto = [process.execPath, join(root, 'apps/cli/bin/concerto.js')];
let home: string;
let env: Record<string, string>;

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'judges-'));
  env = { PATH: `${dirname(process.execPath)}:${process.env.PATH ?? ''}`, HOME: home };
});
afterAll(async () => {
  await puppets.close();
  await rm(home, { recursive: true, force: true, maxRetries: 5 });
});

describe('acpx', () => {
  const acpx = (agent: string, ...args: readonly string[]) =>
    runProgram(
      [
        process.env.CONCERTO_TEST_ACPX ?? '',
        '--agent',
        [...concerto, 'acp', '--agent', agent, '--url', api.url, '--token', api.token].join(' '),
        '--approve-all',
        '--ttl',
        '60',
        ...args,
      ],
      puppets.folder,
      env,
    );

  test('drives an agent: plan, thoughts, a tool, a permission, the answer', { timeout }, async () => {
    const work = steps(
      { say: { type: 'thought', text: 'Let me see.' } },
      { say: { type: 'plan', entries: [{ content: 'look', status: 'in_progress' }] } },
      { say: { type: 'tool_call', id: 't1', name: 'Edit', args: { path: 'a.txt' }, kind: 'edit' } },
      { ask: { type: 'approval', id: 'a1', description: 'Edit a.txt', call: 't1' } },
      { say: { type: 'tool_result', id: 't1', content: 'done' } },
      { say: { type: 'result', text: 'All done.' } },
    );
    const { code, stdout } = await acpx('able', 'exec', work);
    expect(code).toBe(0);
    for (const shown of [
      '[thinking] Let me see.',
      '[in_progress] look',
      'Edit (completed)',
      'All done.',
      '[done] end_turn',
    ])
      expect(stdout).toContain(shown);
  });

  test('a session of its own goes on from prompt to prompt, with a mode that is set in it', { timeout }, async () => {
    await acpx('modal', 'exec', 'hello');
    expect((await acpx('modal', 'sessions', 'new')).code).toBe(0);
    expect(await acpx('modal', 'first')).toMatchObject({ code: 0, stdout: expect.stringContaining('first') });
    expect(await acpx('modal', 'set-mode', 'code')).toMatchObject({ code: 0 });
    const { stdout } = await acpx('modal', 'opened');
    expect(stdout).toContain('"mode":"code"');
    const { sessions } = (await api.get('/api/sessions?limit=20')).body;
    const mine = sessions.filter(({ agent, turn }: { agent: string; turn: number }) => agent === 'modal' && turn === 2);
    expect(mine).toHaveLength(1);
  });
});

describe('the MCP inspector', () => {
  const inspect = async (over: 'stdio' | 'http', ...args: readonly string[]): Promise<any> => {
    const target =
      over === 'stdio'
        ? [...concerto, 'mcp', '--url', api.url, '--token', api.token]
        : [`${api.url}/mcp`, '--header', `Authorization: Bearer ${api.token}`];
    const program = process.env.CONCERTO_TEST_INSPECTOR ?? '';
    const { code, stdout, stderr } = await runProgram([program, '--cli', ...target, ...args], puppets.folder, env);
    if (code !== 0) throw new Error(`${stdout}${stderr}`);
    return JSON.parse(stdout);
  };

  test.each(['stdio', 'http'] as const)(
    'lists and calls our tools, and reads a session, over %s',
    { timeout },
    async (over) => {
      const { tools } = await inspect(over, '--method', 'tools/list');
      expect(tools.map(({ name }: { name: string }) => name)).toContain('start_session');
      const ran = await inspect(
        over,
        '--method',
        'tools/call',
        '--tool-name',
        'run_session',
        '--tool-arg',
        'agent=able',
        'prompt=hello',
      );
      const { id, text } = JSON.parse(ran.content[0].text);
      expect(text).toContain('did: hello');
      const { resources } = await inspect(over, '--method', 'resources/list');
      expect(resources.map(({ uri }: { uri: string }) => uri)).toContain(`concerto://sessions/${id}`);
      const { contents } = await inspect(over, '--method', 'resources/read', '--uri', `concerto://sessions/${id}`);
      expect(contents[0].text).toContain('did: hello');
    },
  );
});

// The suite wants a server of its own making for most of what it asks: tools and resources by name, prompts, logs. What
// needs those is not judged.
const needsTheirs =
  /^Not testable|Tool \S+ not found|Resource not found: test:|^Prerequisite failed|with inputRequests and requestState/;
const notOffered = /^(prompts-|sep-2549-prompts-|completion-|logging-|tools-call-with-logging|sep-2322-non-tool-)/;
/** Some of what has to pass: a suite that ran nothing has found nothing. */
const judged: Readonly<Record<string, string[]>> = {
  '2025-11-25': [
    'wire-schema-valid',
    'server-initialize',
    'ping',
    'tools-list',
    'resources-list',
    'resources-subscribe',
    'resources-unsubscribe',
    'server-session-terminated-returns-404',
    'server-sse-streams-functional',
    'localhost-host-rebinding-rejected',
  ],
  '2026-07-28': [
    'wire-schema-valid',
    'sep-2575-server-implements-discover',
    'sep-2575-discover-capabilities-match-handlers',
    'sep-2575-server-honors-notification-filter',
    'sep-2575-http-server-header-mismatch-400',
    'sep-2549-resources-read-caching-hints',
    'sep-2243-server-reject-invalid-headers',
    'sep-2164-error-code',
    'localhost-host-rebinding-rejected',
  ],
};

describe.runIf(process.env.CONCERTO_TEST_CONFORMANCE !== undefined)('the MCP conformance suite', () => {
  let door: Server;

  /** The suite has no place for a token. */
  beforeAll(async () => {
    door = createServer((request, response) => {
      const headers = { ...request.headers, authorization: `Bearer ${api.token}` };
      const { method, url } = request;
      const onward = httpRequest(api.url + (url ?? ''), { method, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(response);
      });
      onward.on('error', () => response.destroy());
      response.on('close', () => onward.destroy());
      request.pipe(onward);
    });
    await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => {
    door.closeAllConnections();
    door.close();
  });

  type Check = { readonly id: string; readonly status: string; readonly errorMessage?: string };

  async function run(name: string, ...args: readonly string[]): Promise<Check[]> {
    const address = door.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const out = join(home, name);
    await mkdir(out);
    const { CONCERTO_TEST_NEWER_NODE: node = '', CONCERTO_TEST_CONFORMANCE: suite = '' } = process.env;
    const target = ['server', '--url', `http://localhost:${port}/mcp`, '--output-dir', out, '--timeout', '10000'];
    await runProgram([node, suite, ...target, ...args], puppets.folder, env);
    const folders = await readdir(out);
    const files = await Promise.all(folders.map((folder) => readFile(join(out, folder, 'checks.json'), 'utf8')));
    return files.flatMap((file): Check[] => JSON.parse(file));
  }

  test.each(['2025-11-25', '2026-07-28'])('%s: whatever fails needs what is not ours', { timeout }, async (version) => {
    const checks = await run(version, '--suite', 'all', '--spec-version', version);
    const failed = checks.filter(
      ({ id, status, errorMessage = '' }) =>
        status === 'FAILURE' && !needsTheirs.test(errorMessage) && !notOffered.test(id),
    );
    const passed = checks.filter(({ status }) => status === 'SUCCESS').map(({ id }) => id);
    expect(passed).toEqual(expect.arrayContaining(judged[version] ?? []));
    expect(failed).toEqual([]);
  });

  test('tasks: what can be asked of a server without tools of the suite', { timeout }, async () => {
    const negotiated = await run('negotiation', '--scenario', 'tasks-capability-negotiation');
    const dispatched = await run('dispatch', '--scenario', 'tasks-dispatch-and-envelope');
    const checks = [...negotiated, ...dispatched];
    const failed = checks.filter(
      ({ status, errorMessage = '' }) => status === 'FAILURE' && !needsTheirs.test(errorMessage),
    );
    expect(failed).toEqual([]);
    const passed = checks.filter(({ status }) => status === 'SUCCESS').map(({ id }) => id);
    expect(passed).toEqual(
      expect.arrayContaining([
        'tasks-extension-advertised',
        'sep-2663-tasks-methods-non-declaring',
        'sep-2663-tasks-get-invalid-task-id-32602',
        'tasks-removed-tasks-list',
      ]),
    );
  });
});
