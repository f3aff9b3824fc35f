import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { askMcpSignatures, McpFailure, McpServers } from '../src/index.ts';
import { startMcpHttpServer } from './mcp-http-server.ts';

const require = createRequire(import.meta.url);
const everything = require.resolve('@modelcontextprotocol/server-everything/dist/index.js');
const filesystem = require.resolve('@modelcontextprotocol/server-filesystem/dist/index.js');
const SOON = { timeout: 10_000 };
const SECRET = 'secret-0123456789';

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function directory(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'concerto-mcp-'));
  cleanups.push(() => rm(made, { recursive: true, force: true }));
  return made;
}

function servers(settings: Record<string, unknown>, place = tmpdir()): McpServers {
  const environment = { PATH: process.env.PATH, MCP_TOKEN: SECRET, OPENAI_API_KEY: 'sk-not-for-servers' };
  const opened = new McpServers(settings, { environment, directory: place });
  cleanups.push(() => opened.close());
  return opened;
}

async function failureOf(work: Promise<unknown>): Promise<McpFailure> {
  const outcome = await work.then(
    () => undefined,
    (cause: unknown) => cause,
  );
  expect(outcome).toBeInstanceOf(McpFailure);
  return outcome as McpFailure;
}

const node = (...args: string[]) => ({ transport: 'stdio', command: process.execPath, args });

/** A process that has ended but whom nobody has buried yet does not count. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return process.platform !== 'linux' || !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false;
  }
}

describe('server-everything over stdio', () => {
  test('lists its tools and calls them', async () => {
    const mcp = servers({ everything: node(everything, 'stdio') });
    const tools = await mcp.tools('everything');
    const echo = tools.find(({ name }) => name === 'echo');
    expect(echo?.parameters).toMatchObject({ type: 'object', required: ['message'] });
    expect(await mcp.call('everything', 'echo', { message: 'hello' })).toBe('Echo: hello');
    expect(await mcp.call('everything', 'get-sum', { a: 2, b: 3 })).toContain('5');
  });

  test('structured content comes as data', async () => {
    const mcp = servers({ everything: node(everything, 'stdio') });
    const weather = await mcp.call('everything', 'get-structured-content', { location: 'New York' });
    expect(weather).toMatchObject({
      temperature: expect.any(Number) as number,
      conditions: expect.any(String) as string,
    });
  });

  test('wrong arguments are an error that says so', async () => {
    const mcp = servers({ everything: node(everything, 'stdio') });
    const failure = await failureOf(mcp.call('everything', 'echo', {}));
    expect(['refused', 'execution']).toContain(failure.code);
    expect(failure.message).toMatch(/message/);
  });

  test('gets the variables it was given and no others', async () => {
    const mcp = servers({ everything: { ...node(everything, 'stdio'), env: { TOKEN: '${MCP_TOKEN}', PLAIN: 'yes' } } });
    const env = await mcp.call('everything', 'get-env', {});
    expect(env).toMatchObject({ TOKEN: SECRET, PLAIN: 'yes' });
    expect(JSON.stringify(env)).not.toContain('sk-not-for-servers');
  });

  test('tells the checker the types of its tools', async () => {
    const signatures = await askMcpSignatures('everything', node(everything, 'stdio'), {
      environment: { PATH: process.env.PATH },
      directory: tmpdir(),
    });
    const sum = signatures.find(({ name }) => name === 'get-sum');
    expect(sum?.params.map(({ name, shape, optional }) => [name, shape.type, optional])).toEqual([
      ['a', 'Float', false],
      ['b', 'Float', false],
    ]);
  });

  test('a call that takes too long ends at its limit, one that is cancelled at once', async () => {
    const slow = { duration: 60, steps: 1 };
    const mcp = servers({ everything: { ...node(everything, 'stdio'), timeout: 5 } });
    await mcp.tools('everything');
    const controller = new AbortController();
    const cancelled = failureOf(mcp.call('everything', 'trigger-long-running-operation', slow, controller.signal));
    controller.abort();
    expect((await cancelled).code).toBe('cancelled');
    expect((await failureOf(mcp.call('everything', 'trigger-long-running-operation', slow))).code).toBe('timeout');
  }, 20_000);
});

describe('server-filesystem over stdio', () => {
  test('reads and writes in its directory, and nowhere else', async () => {
    const root = await directory();
    await writeFile(join(root, 'note.txt'), 'forty-two\n');
    const mcp = servers({ files: node(filesystem, root) });
    const read = await mcp.call('files', 'read_text_file', { path: join(root, 'note.txt') });
    expect(JSON.stringify(read)).toContain('forty-two');
    await mcp.call('files', 'write_file', { path: join(root, 'new.txt'), content: 'written' });
    expect(await readFile(join(root, 'new.txt'), 'utf8')).toBe('written');
    const failure = await failureOf(mcp.call('files', 'read_text_file', { path: '/etc/hostname' }));
    expect(failure.code).toBe('execution');
    expect(failure.message).toMatch(/denied/i);
  });
});

describe('servers that misbehave', () => {
  test('a program that is not there', async () => {
    const failure = await failureOf(servers({ none: { command: '/nowhere/at-all' } }).tools('none'));
    expect(failure.code).toBe('connection');
    expect(failure.message).toContain('/nowhere/at-all');
  });

  test('one that is not known', async () => {
    expect((await failureOf(servers({}).tools('github'))).message).toContain('[mcp.github]');
  });

  test('a variable that is not set is named', async () => {
    const mcp = servers({ x: { ...node('-e', ''), env: { TOKEN: '${NOT_SET_ANYWHERE}' } } });
    const failure = await failureOf(mcp.tools('x'));
    expect(failure.code).toBe('auth');
    expect(failure.message).toContain('NOT_SET_ANYWHERE');
  });

  test('one that ends at once: its last words, without the secret', async () => {
    const script = 'console.error("no licence for " + process.env.TOKEN); process.exit(3)';
    const mcp = servers({ x: { ...node('-e', script), env: { TOKEN: '${MCP_TOKEN}' } } });
    const failure = await failureOf(mcp.tools('x'));
    expect(failure.code).toBe('connection');
    expect(failure.message).toContain('no licence for [secret]');
    expect(failure.message).not.toContain(SECRET);
  });

  test('one that never answers is given up, and ended', async () => {
    const root = await directory();
    const script = `require('fs').writeFileSync('pid', String(process.pid)); setInterval(() => {}, 1000); process.on('SIGTERM', () => process.exit())`;
    const mcp = servers({ x: { ...node('-e', script), timeout: 0.5 } }, root);
    const failure = await failureOf(mcp.tools('x'));
    expect(failure.code).toBe('timeout');
    expect(isRunning(Number(await readFile(join(root, 'pid'), 'utf8')))).toBe(false);
  }, 15_000);

  test('what a server started ends with it', async () => {
    const root = await directory();
    const wrapper = `
      const { spawn } = require('child_process');
      const child = spawn(process.execPath, [process.argv[1], 'stdio'], { stdio: 'inherit' });
      const idle = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
      require('fs').writeFileSync('pids', [child.pid, idle.pid].join(' '));`;
    const mcp = servers({ x: node('-e', wrapper, everything) }, root);
    expect(await mcp.call('x', 'echo', { message: 'hi' })).toBe('Echo: hi');
    const pids = (await readFile(join(root, 'pids'), 'utf8')).split(' ').map(Number);
    expect(pids.map(isRunning)).toEqual([true, true]);
    await mcp.close();
    await expect.poll(() => pids.map(isRunning), SOON).toEqual([false, false]);
  }, 15_000);

  test('one that has died is started again', async () => {
    const root = await directory();
    const wrapper = `require('fs').writeFileSync('pid', String(process.pid)); process.argv.splice(1, 1, 'x'); process.argv[2] = 'stdio'; import(process.env.SERVER);`;
    const mcp = servers({ x: { ...node('-e', wrapper, 'x', 'stdio'), env: { SERVER: everything } } }, root);
    expect(await mcp.call('x', 'echo', { message: 'one' })).toBe('Echo: one');
    const pid = Number(await readFile(join(root, 'pid'), 'utf8'));
    process.kill(pid, 'SIGKILL');
    await expect.poll(() => isRunning(pid), SOON).toBe(false);
    await expect.poll(async () => mcp.call('x', 'echo', { message: 'two' }).catch(() => ''), SOON).toBe('Echo: two');
  }, 15_000);
});

test('calls that find out that their server was started again are made once more', async () => {
  const server = await startMcpHttpServer('http');
  cleanups.push(() => server.close());
  const mcp = servers({ remote: { transport: 'http', url: server.url } });
  await mcp.tools('remote');
  server.forget();
  const both = [mcp.call('remote', 'add', { a: 2, b: 2 }), mcp.call('remote', 'add', { a: 3, b: 3 })];
  expect(await Promise.all(both)).toEqual([{ sum: 4 }, { sum: 6 }]);
});

describe.each(['http', 'sse'] as const)('over %s', (transport) => {
  test('lists, calls with its headers, and ends the session', async () => {
    const server = await startMcpHttpServer(transport);
    cleanups.push(() => server.close());
    const headers = { authorization: 'Bearer ${MCP_TOKEN}' };
    const mcp = servers({ remote: { transport, url: server.url, headers } });
    expect((await mcp.tools('remote')).map(({ name }) => name)).toEqual(['add']);
    expect(await mcp.call('remote', 'add', { a: 1, b: 2 })).toEqual({ sum: 3 });
    expect(server.authorizations()).toEqual([`Bearer ${SECRET}`]);
    await mcp.close();
    await expect.poll(() => server.sessions(), SOON).toBe(0);
  });

  test('one that was started again is connected to again', async () => {
    const server = await startMcpHttpServer(transport);
    cleanups.push(() => server.close());
    const mcp = servers({ remote: { transport, url: server.url } });
    expect(await mcp.call('remote', 'add', { a: 1, b: 2 })).toEqual({ sum: 3 });
    server.forget();
    // When the line of the old session breaks is not ours to say.
    await expect
      .poll(async () => mcp.call('remote', 'add', { a: 2, b: 2 }).catch((cause: Error) => cause.message), SOON)
      .toEqual({ sum: 4 });
  }, 15_000);

  test('a server that refuses us is an error without the secret', async () => {
    const server = await startMcpHttpServer(transport, { refuse: true });
    cleanups.push(() => server.close());
    const headers = { authorization: 'Bearer ${MCP_TOKEN}' };
    const failure = await failureOf(servers({ remote: { transport, url: server.url, headers } }).tools('remote'));
    expect(failure.code).toBe('connection');
    expect(failure.message).not.toContain(SECRET);
  });

  test('nobody there', async () => {
    const server = await startMcpHttpServer(transport);
    await server.close();
    const failure = await failureOf(servers({ remote: { transport, url: server.url } }).tools('remote'));
    expect(failure.code).toBe('connection');
    expect(failure.message).toContain('ECONNREFUSED');
  });
});
