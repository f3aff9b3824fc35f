import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEventLog } from '@concerto/log';
import { startRedisServer } from '@concerto/log/testing';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { concertoCommand } from '../../../tests/support/concerto-command.ts';
import { checkNode } from '../src/doctor/check-machine.ts';
import * as doctor from '../src/doctor/doctor-command.ts';
import { type } from './type-command.ts';

/** A whole `concerto` is started, perhaps from source, which takes seconds on a busy machine. */
const shellMs = 120_000;

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'concerto-doctor-'));
  for (const name of ['OPENAI_API_KEY', 'OPENAI_BASE_URL', 'DOCTOR_TEST_KEY']) vi.stubEnv(name, undefined);
});

afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

type Found = { readonly check: string; readonly status: string; readonly message: string; readonly help?: string };

function write(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

/** With a manifest that declares nothing, unless there is another. */
async function examine(text: string, ...more: string[]) {
  const config = write('Concerto.toml', text);
  const isGiven = (name: string): boolean => more.includes(name);
  const store = isGiven('--store') ? [] : ['--store', 'memory:'];
  const port = isGiven('--port') ? [] : ['--port', '0'];
  const { code, out, err } = await type(doctor, '--config', config, ...store, ...port, '--json', ...more);
  const found = JSON.parse(out) as Found[];
  return { code, err, found, of: (check: string) => found.filter((finding) => finding.check === check) };
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

test('every finding has its shape, and nothing fails where nothing is declared', async () => {
  const { code, found } = await examine('');
  expect(code).toBe(0);
  expect(found.map(({ check }) => check)).toEqual(['node', 'sandbox', 'store', 'port', 'manifest']);
  for (const finding of found) {
    expect(Object.keys(finding).every((key) => ['check', 'status', 'message', 'help'].includes(key))).toBe(true);
    expect(['ok', 'warn', 'fail']).toContain(finding.status);
  }
});

test('an old Node is refused', () => {
  expect(checkNode('18.20.0')).toMatchObject({ status: 'fail', help: 'install a newer Node' });
  expect(checkNode('20.18.9').status).toBe('fail');
  expect(checkNode('20.19.0').status).toBe('ok');
  expect(checkNode('24.0.0').status).toBe('ok');
});

describe('the store', () => {
  test('that is not there yet is not made', async () => {
    const path = join(folder, 'new', 'it.db');
    const { code, of } = await examine('', '--store', `sqlite:${path}`);
    expect(of('store')[0]).toMatchObject({ status: 'ok', message: expect.stringContaining('first start') as string });
    expect(of('disk')[0]?.message).toMatch(/GiB free/);
    expect(existsSync(join(folder, 'new'))).toBe(false);
    expect(code).toBe(0);
  });

  test('that another process has is named, with the process', async () => {
    const url = `sqlite:${join(folder, 'it.db')}`;
    const log = await openEventLog(url, { now: Date.now });
    const held = await examine('', '--store', url);
    await log.close();
    expect(held.of('store')[0]).toMatchObject({
      status: 'warn',
      message: expect.stringContaining(`the process ${process.pid}`) as string,
    });
    const free = await examine('', '--store', url);
    expect(free.of('store')[0]).toMatchObject({
      status: 'ok',
      message: expect.stringContaining('takes writes') as string,
    });
  });

  test('that is none fails with what to do', async () => {
    write('it.db', 'this is no database at all, but it is long enough to look like a header of one');
    const damaged = await examine('', '--store', `sqlite:${join(folder, 'it.db')}`);
    expect(damaged.of('store')[0]).toMatchObject({
      status: 'fail',
      message: expect.stringContaining('not a database') as string,
      help: expect.any(String) as string,
    });
    expect(damaged.code).toBe(1);
    const unknown = await examine('', '--store', 'postgres://here');
    expect(unknown.of('store')[0]?.status).toBe('fail');
    const inFile = await examine('', '--store', `sqlite:${join(folder, 'it.db', 'x.db')}`);
    expect(inFile.of('store')[0]?.status).toBe('fail');
  });

  test('in Redis: `appendfsync always` is recommended', async () => {
    const server = await startRedisServer();
    const careless = await startRedisServer({ settings: ['--appendfsync', 'everysec'] });
    try {
      const good = await examine('', '--store', server.url);
      expect(good.of('store')).toMatchObject([
        {
          status: 'ok',
          message: expect.stringMatching(/^Redis \d+\.\d+.*appendonly yes, appendfsync always$/) as string,
        },
      ]);
      expect(good.of('store.durability')).toEqual([]);
      const risky = await examine('', '--store', careless.url);
      expect(risky.of('store.durability')).toMatchObject([
        {
          status: 'warn',
          message: expect.stringContaining('set `appendfsync always`') as string,
          help: expect.stringContaining('redis.conf') as string,
        },
      ]);
      expect(risky.code).toBe(0);
      await careless.stop();
      const gone = await examine('', '--store', careless.url.replace('redis://', 'redis://:hidden-word@'));
      expect(gone.of('store')[0]).toMatchObject({
        status: 'fail',
        message: expect.stringContaining('does not answer') as string,
      });
      expect(JSON.stringify(gone.found)).not.toContain('hidden-word');
      expect(gone.code).toBe(1);
    } finally {
      await server.dispose();
      await careless.dispose();
    }
  });
});

describe('the port', () => {
  test('taken by another program', async () => {
    const port = await listen(createServer((_, response) => response.end('hello')));
    const { code, of } = await examine('', '--port', String(port));
    expect(of('port')[0]).toMatchObject({ status: 'fail', help: expect.stringContaining('--port') as string });
    expect(code).toBe(1);
  });

  describe('of a server', () => {
    const run = async (work: (port: string, store: string, pid: number | undefined) => Promise<void>) => {
      const store = `sqlite:${join(folder, 'it.db')}`;
      const server = spawn(process.execPath, [...concertoCommand, 'serve', '--port', '0', '--store', store], {
        cwd: folder,
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const ended = once(server, 'exit');
      try {
        let said = '';
        for await (const chunk of server.stdout) {
          said += String(chunk);
          if (said.includes('open http')) break;
        }
        await work(/listening on http:\/\/127\.0\.0\.1:(\d+)/.exec(said)?.[1] ?? '', store, server.pid);
      } finally {
        server.kill('SIGTERM');
        await ended;
      }
    };

    test('of our own, which has the store', { timeout: shellMs }, async () => {
      await run(async (port, store, pid) => {
        const { code, of } = await examine('', '--port', port, '--store', store);
        expect(of('port')[0]).toMatchObject({
          status: 'ok',
          message: expect.stringContaining('a Concerto server answers') as string,
        });
        expect(of('store')[0]).toMatchObject({
          status: 'ok',
          message: expect.stringContaining(`in use by the process ${pid}`) as string,
        });
        expect(code).toBe(0);
      });
    });

    test('of another folder, which is named; `serve` names it too', { timeout: shellMs }, async () => {
      const here = mkdtempSync(join(tmpdir(), 'concerto-doctor-other-'));
      onTestFinished(() => rmSync(here, { recursive: true, force: true }));
      const concerto = (...args: string[]) =>
        spawnSync(process.execPath, [...concertoCommand, ...args], { encoding: 'utf8', timeout: shellMs, cwd: here });
      await run(async (port, _, pid) => {
        // From the manifest, as `serve` takes it.
        writeFileSync(join(here, 'Concerto.toml'), `[server]\nport = ${port}\n`);
        const { status, stdout } = concerto('doctor', '--store', 'memory:', '--json');
        const found = JSON.parse(stdout) as Found[];
        const whose = `the Concerto server of ${realpathSync(folder)} (pid ${pid})`;
        expect(found.find(({ check }) => check === 'port')).toMatchObject({
          status: 'warn',
          message: `port ${port} on 127.0.0.1 is taken by ${whose}`,
          help: expect.stringContaining('`concerto stop` in its folder') as string,
        });
        expect(status).toBe(0);
        const refused = concerto('serve', '--store', 'memory:');
        expect(refused.stderr).toContain(`error: port ${port} is in use by ${whose}; give another with --port`);
      });
    });

    test('of which nothing is known here', async () => {
      const port = await listen(
        createServer((_, response) => response.end(JSON.stringify({ info: { title: 'Concerto' } }))),
      );
      const { of } = await examine('', '--port', String(port));
      expect(of('port')[0]).toMatchObject({
        status: 'warn',
        message: `port ${port} on 127.0.0.1 is taken by a Concerto server of another folder or user`,
      });
    });
  });
});

describe('the manifest', () => {
  test('is shown as `check` shows it', async () => {
    const { code, of } = await examine('[agents.it]\ncomand = "x"\n');
    expect(of('manifest').map(({ message }) => message)).toContainEqual(
      expect.stringMatching(
        /^error\[C0501\]: unknown key `comand` in \[agents\.it\]; did you mean `command`\? \(.*Concerto\.toml:2:1\)$/,
      ),
    );
    expect(code).toBe(1);
    const { out } = await type(doctor, '--config', join(folder, 'Concerto.toml'), '--store', 'memory:', '--port', '0');
    expect(out).toContain('2 | comand = "x"');
    expect(out).toMatch(/\d+ ok, 0 warnings, \d+ failures?\n$/);
  });

  test('that was named and is not there', async () => {
    const { code, out } = await type(doctor, '--config', join(folder, 'no.toml'), '--store', 'memory:', '--port', '0');
    expect(out).toContain('cannot be read');
    expect(code).toBe(1);
  });

  // As a shell starts it: programs are checked in a process that is started as this one was.
  test(
    'its programs, assistants and templates',
    () => {
      write('good.conc', 'fn main() { emit("a", 1); }\n');
      write('bad.conc', 'fn main() { let n: Int = "x"; emit("a", n); }\n');
      const config = write(
        'Concerto.toml',
        `
[connections.local]
provider = "mock"
[programs.good]
entry = "good.conc"
[programs.bad]
entry = "bad.conc"
[programs.gone]
entry = "gone.conc"
[assistants.helper]
connection = "local"
[assistants.lost]
connection = "local"
functions = ["no_such_function"]
[templates.fine]
program = "good"
[templates.typo]
program = "goood"
`,
      );
      const args = ['doctor', '--config', config, '--store', 'memory:', '--port', '0', '--json'];
      const { status, stdout } = spawnSync(process.execPath, [...concertoCommand, ...args], {
        encoding: 'utf8',
        timeout: shellMs,
      });
      const found = JSON.parse(stdout) as Found[];
      const of = (check: string) => found.filter((finding) => finding.check === check);
      expect(of('program.good')[0]?.status).toBe('ok');
      expect(of('program.bad')[0]).toMatchObject({
        status: 'fail',
        message: expect.stringContaining('bad.conc:1:') as string,
        help: expect.stringContaining('concerto check') as string,
      });
      expect(of('program.gone')[0]?.status).toBe('fail');
      expect(of('assistant.helper')[0]?.status).toBe('ok');
      expect(of('assistant.lost')[0]).toMatchObject({
        status: 'fail',
        message: expect.stringContaining('no_such_function') as string,
      });
      expect(of('template.fine')[0]?.status).toBe('ok');
      expect(of('template.typo')[0]).toMatchObject({ status: 'fail', help: 'did you mean "good"?' });
      expect(status).toBe(1);
    },
    shellMs,
  );
});

describe('connections', () => {
  const openai = '[connections.main]\nprovider = "openai"\napi_key_env = "DOCTOR_TEST_KEY"\ndefault_model = "small"\n';

  test('a key that is not set', async () => {
    const { code, of } = await examine(openai);
    expect(of('connection.main')[0]).toMatchObject({
      status: 'fail',
      help: expect.stringContaining('export DOCTOR_TEST_KEY') as string,
    });
    expect(code).toBe(1);
  });

  test('a key that is set is not shown, nor is anybody called', async () => {
    let calls = 0;
    const port = await listen(
      createServer((_, response) => {
        calls += 1;
        response.end();
      }),
    );
    vi.stubEnv('DOCTOR_TEST_KEY', 'sk-very-secret');
    vi.stubEnv('OPENAI_BASE_URL', `http://user:hidden-word@127.0.0.1:${port}/v1`);
    const { code, of, found } = await examine(openai);
    expect(of('connection.main')[0]?.message).toBe(
      `openai: DOCTOR_TEST_KEY is set; OPENAI_BASE_URL sends it to http://127.0.0.1:${port}/v1`,
    );
    expect(JSON.stringify(found)).not.toMatch(/very-secret|hidden-word/);
    expect({ code, calls }).toEqual({ code: 0, calls: 0 });
  });

  test('with --online one small question is asked, and not waited for for ever', async () => {
    const asked: string[] = [];
    const answer = {
      id: 'x',
      object: 'chat.completion',
      created: 1,
      model: 'small-1',
      choices: [{ index: 0, message: { role: 'assistant', content: 'ready' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    };
    const port = await listen(
      createServer((request, response) => {
        asked.push(request.url ?? '');
        if (request.url?.startsWith('/silent') === true) return;
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify(answer));
      }),
    );
    vi.stubEnv('DOCTOR_TEST_KEY', 'sk-very-secret');
    const custom = (name: string, path: string) =>
      `[connections.${name}]\nprovider = "custom"\nbase_url = "http://127.0.0.1:${port}${path}/v1"\napi_key_env = "DOCTOR_TEST_KEY"\ndefault_model = "small"\n`;
    const { code, of, found } = await examine(
      `${custom('main', '')}${custom('quiet', '/silent')}`,
      '--online',
      '--timeout',
      '2',
    );
    expect(of('connection.main.online')[0]).toMatchObject({
      status: 'ok',
      message: expect.stringMatching(/^small-1 answered in \d+ ms$/) as string,
    });
    expect(of('connection.quiet.online')[0]?.status).toBe('fail');
    expect(asked.toSorted()).toEqual(['/silent/v1/chat/completions', '/v1/chat/completions']);
    expect(JSON.stringify(found)).not.toContain('very-secret');
    expect(code).toBe(1);
  });
});

test('MCP servers are started, asked for their tools, and ended', async () => {
  const filesystem = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-filesystem/dist/index.js');
  const server = (name: string, args: readonly string[]) =>
    `[mcp.${name}]\ntransport = "stdio"\ncommand = ${JSON.stringify(process.execPath)}\nargs = ${JSON.stringify(args)}\n`;
  const { code, of } = await examine(
    `${server('files', [filesystem, folder])}${server('gone', [join(folder, 'no.js')])}${server('mute', ['-e', 'setInterval(() => {}, 1000)'])}timeout = 1\n[mcp.away]\ntransport = "http"\nurl = "http://127.0.0.1:9/mcp"\n`,
  );
  expect(of('mcp.files')[0]).toMatchObject({
    status: 'ok',
    message: expect.stringMatching(/^\d+ tools in \d+ ms$/) as string,
  });
  expect(of('mcp.gone')[0]).toMatchObject({ status: 'fail', message: expect.stringContaining('no.js') as string });
  expect(of('mcp.mute')[0]).toMatchObject({ status: 'fail', message: expect.stringContaining('within 1 s') as string });
  expect(of('mcp.away')[0]).toMatchObject({ status: 'fail', help: expect.stringContaining('`url`') as string });
  expect(code).toBe(1);
});

test(
  'exit codes, help and colour as a shell sees them',
  () => {
    const concerto = (...args: string[]) =>
      spawnSync(process.execPath, [...concertoCommand, 'doctor', ...args], {
        encoding: 'utf8',
        timeout: shellMs,
        cwd: folder,
      });
    write('Concerto.toml', '');
    const good = concerto('--store', 'memory:', '--port', '0');
    expect(good).toMatchObject({ status: 0, stderr: '' });
    expect(good.stdout).toContain('5 ok, 0 warnings, 0 failures');
    expect(good.stdout).not.toContain('\u001b');
    expect(concerto('--store', 'nonsense:', '--port', '0').status).toBe(1);
    expect(concerto('nobody')).toMatchObject({ status: 2, stderr: expect.stringContaining('no agent "nobody"') });
    expect(concerto('--help')).toMatchObject({ status: 0, stdout: expect.stringContaining('--no-prompt') });
  },
  shellMs,
);

test('a fault is told once, where it is', async () => {
  const { found, code } = await examine(
    [
      '[connections.main]\nprovider = "openai"\napi_key_env = "DOCTOR_TEST_KEY"',
      '[assistants.chat]\nconnection = "main"\nmodel = "m"',
      '[assistants.lost]\nconnection = "nowhere"\nmodel = "m"',
    ].join('\n'),
  );
  const faults = found.filter(({ status }) => status !== 'ok').map(({ check }) => check);
  expect(faults).toEqual(['connection.main', 'assistant.lost']);
  expect(code).toBe(1);
});

test(
  'whoever is to answer for others is there, and can',
  async () => {
    const supervised = (name: string, supervisor: string): string =>
      `[assistants.${name}]\nconnection = "local"\nsupervisor = "${supervisor}"\n`;
    const programs = '[programs.guard]\nentry = "guard.conc"\n[programs.plain]\nentry = "plain.conc"\n';
    write('guard.conc', '@supervisor\nfn guard(session: Session) { listen session { "approval" => |a| { nil }, }; }\n');
    write('plain.conc', 'fn main() { print("plain"); }\n');
    const local = `${programs}[connections.local]\nprovider = "mock"\n`;
    const config = write('Concerto.toml', `${local}${supervised('a', 'guard')}${supervised('b', 'plain')}`);
    const args = ['doctor', '--config', config, '--store', 'memory:', '--port', '0', '--json'];
    const { status, stdout } = spawnSync(process.execPath, [...concertoCommand, ...args], {
      encoding: 'utf8',
      timeout: shellMs,
    });
    const found = JSON.parse(stdout) as Found[];
    expect(found).toContainEqual(expect.objectContaining({ check: 'supervisor.guard', status: 'ok' }));
    const message = 'program "plain" cannot supervise: it has no function with `@supervisor`';
    expect(found).toContainEqual(expect.objectContaining({ check: 'supervisor.plain', status: 'fail', message }));
    expect(status).toBe(1);

    const misspelt = await examine(`${local}${supervised('a', 'gaurd')}`);
    const missing = expect.stringContaining('there is no [programs.gaurd]; did you mean `guard`?') as string;
    expect(misspelt.of('manifest')).toMatchObject([{ status: 'fail', message: missing }]);
    expect(misspelt.code).toBe(1);
  },
  shellMs,
);
