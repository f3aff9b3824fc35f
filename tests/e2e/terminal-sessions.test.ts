import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, openSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { builtConcerto, root } from '../support/built-concerto.ts';

const withinMs = 90_000;
const cli = join(root, 'apps/cli/bin/concerto.js');
const agent = `while read -r line; do
  echo '{"type":"approval","id":"a","description":"Delete it"}'
  read -r reply
  printf '{"type":"result","text":"told %s"}\\n' "$(printf '%s' "$reply" | sed -n 's/.*"value":"\\([^"]*\\)".*/\\1/p')"
done
`;
// A server's manifest need not be a project, also when it has programs.
const manifest = `[agents.asker]
command = "sh"
args = ["asker.sh"]
[programs.greeter]
entry = "greeter.conc"
`;
const program = `async fn main() -> Result<String, Error> {
    let who = await emit("who", "Who is there?");
    Ok("Hello, \${who}")
}
`;

describe('a person at the terminal, in the folder of a server', { timeout: withinMs }, () => {
  let folder: string;
  let server: ChildProcessByStdio<null, Readable, null>;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'concerto-terminal-sessions-'));
    await mkdir(join(folder, '.concerto'));
    await writeFile(join(folder, 'asker.sh'), agent);
    await writeFile(join(folder, 'greeter.conc'), program);
    await writeFile(join(folder, 'Concerto.toml'), manifest);
    const { PORT: _port, CONCERTO_URL: _url, CONCERTO_TOKEN: _token, ...env } = process.env;
    server = spawn(process.execPath, [cli, 'serve', '--port', '0', '--store', 'memory:'], {
      cwd: folder,
      env,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    await once(server.stdout, 'data');
  }, withinMs);

  afterAll(async () => {
    server.kill('SIGKILL');
    await rm(folder, { recursive: true, force: true });
  });

  /** `concerto sessions …` in a terminal where somebody waits for a text and then types. */
  async function sessions(args: readonly string[], steps: readonly (readonly [string, string])[]) {
    const command = [JSON.stringify(steps), process.execPath, cli, 'sessions', ...args];
    const child = spawn('python3', [join(root, 'tests/support/terminal.py'), ...command], {
      cwd: folder,
      env: { PATH: process.env.PATH, NO_COLOR: '1', TERM: 'xterm' },
      stdio: ['ignore', 'pipe', 'inherit'],
      timeout: withinMs,
      killSignal: 'SIGKILL',
    });
    let shown = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      shown += text;
    });
    const code = await new Promise<number | null>((resolve) => {
      child.on('close', resolve);
    });
    return { code, shown };
  }

  test('finds it on any port, says why not, and types the next message', async () => {
    const { code, shown } = await sessions(
      ['start', 'asker', 'first', '--attach'],
      [
        ['approve?', 'too early\r'],
        ['type the next message', 'second\r'],
        ['approve?', 'y\r'],
        ['type the next message', '\u0003'],
      ],
    );
    expect(shown).toContain('told too early');
    expect(shown).toContain('▶ second');
    expect(shown).toContain('told yes');
    expect(shown).toContain('Detached');
    expect(code).toBe(0);
  });

  test('answers a question that was there before the terminal was', async () => {
    const { code, shown } = await sessions(['start', '--program', 'greeter', '--attach'], [['your answer:', 'Ada\r']]);
    expect(shown).toContain('Hello, Ada');
    expect(code).toBe(0);
  });

  test('sees what can be started, and how', async () => {
    const { stdout } = await builtConcerto(['sessions', 'offers'], folder);
    expect(stdout).toContain('sessions start asker PROMPT');
    expect(stdout).toContain('sessions start --program greeter\n');
  });

  test('reads in the audit what was said', async () => {
    const start = await builtConcerto(['sessions', 'start', 'asker', 'Delete the branch'], folder);
    const { stdout } = await builtConcerto(['sessions', 'audit', start.stdout.trim()], folder);
    expect(stdout).toMatch(/message-enqueued +Delete the branch/);
  });

  test('is told when it is not there any more', async () => {
    server.kill('SIGTERM');
    await once(server, 'exit');
    expect(existsSync(join(folder, '.concerto/url'))).toBe(false);
    const { code, stderr } = await builtConcerto(['sessions', 'ls', '--url', 'http://127.0.0.1:1'], folder);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('running at http://127.0.0.1:1?') });
  });
});

test.runIf(existsSync('/dev/full'))('what cannot be written is a failure', { timeout: withinMs }, async () => {
  const child = spawn(process.execPath, [cli, '--help'], { stdio: ['ignore', openSync('/dev/full', 'w'), 'pipe'] });
  let told = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    told += text;
  });
  const code = await new Promise((resolve) => {
    child.on('close', resolve);
  });
  expect({ code, told }).toEqual({ code: 1, told: expect.stringContaining('the output cannot be written') });
});
