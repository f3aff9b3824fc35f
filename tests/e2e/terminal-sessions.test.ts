import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, openSync } from 'node:fs';
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { builtConcerto, root } from '../support/built-concerto.ts';
import { inTerminal, type TerminalSteps } from '../support/in-terminal.ts';

const withinMs = 90_000;
const cli = join(root, 'apps/cli/bin/concerto.js');
const agent = `while read -r line; do
  echo '{"type":"approval","id":"a","description":"Delete it","tool":"sh","command":"rm it"}'
  read -r reply
  printf '{"type":"result","text":"told %s"}\\n' "$(printf '%s' "$reply" | sed -n 's/.*"value":"\\([^"]*\\)".*/\\1/p')"
done
`;
/** Asks which of three. */
const chooser = agent.replace(
  '"approval","id":"a","description":"Delete it","tool":"sh","command":"rm it"',
  '"question","id":"q","question":"Which?","options":["red","green","blue"]',
);
/** Wants two things at once, of which one has more lines than are shown; tells what it heard. */
const pair = `read -r line
echo '{"type":"approval","id":"a","description":"Clean it","tool":"sh","command":"make clean"}'
printf '{"type":"approval","id":"b","description":"Change it","tool":"edit","changes":[{"path":"a.sql","patch":"--- a/a.sql\\\\n+++ b/a.sql\\\\n@@ -1,2 +1,61 @@\\\\n--- the guard\\\\n%s-the end\\\\n"}]}\\n' "$(i=0; while [ $i -lt 60 ]; do i=$((i+1)); printf '+line %d\\\\n' $i; done)"
read -r one
read -r two
echo '{"type":"result","text":"heard both"}'
`;
/** Says what would hide a line, write the clipboard, clear the screen and turn a name around. */
const evilAgent = `while read -r line; do
  printf '%s\\n' '{"type":"progress","message":"rm -rf /\\r\\u001b[2KRead README"}'
  printf '%s\\n' '{"type":"log","message":"\\u009b2J\\u0008"}'
  printf '%s\\n' '{"type":"approval","id":"a","description":"open \\u202efdp.exe \\u001b]52;c;ZQ==\\u0007"}'
  read -r reply
  printf '%s\\n' '{"type":"result","text":"done \\u001b[1A\\u001b[2K"}'
done
`;
// oxlint-disable-next-line no-control-regex -- they are what must not arrive
const acting = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e]|\r(?!\n)/;
// A server's manifest need not be a project, also when it has programs.
const manifest = `[agents.asker]
command = "sh"
args = ["asker.sh"]
[agents.ruled]
command = "sh"
args = ["asker.sh"]
[agents.chooser]
command = "sh"
args = ["chooser.sh"]
[agents.pair]
command = "sh"
args = ["pair.sh"]
[agents.evil]
command = "sh"
args = ["evil.sh"]
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
    await writeFile(join(folder, 'asker.sh'), agent);
    await writeFile(join(folder, 'chooser.sh'), chooser);
    await writeFile(join(folder, 'evil.sh'), evilAgent);
    await writeFile(join(folder, 'pair.sh'), pair);
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
  const sessions = (args: readonly string[], steps: TerminalSteps) => concerto(['sessions', ...args], steps);

  const concerto = (args: readonly string[], steps: TerminalSteps) =>
    inTerminal([process.execPath, cli, ...args], steps, {
      cwd: folder,
      env: { XDG_STATE_HOME: process.env.XDG_STATE_HOME },
      withinMs,
    });

  async function piped(args: readonly string[], input: string): Promise<{ readonly stdout: string }> {
    const child = spawn(process.execPath, [cli, ...args], { cwd: folder, stdio: ['pipe', 'pipe', 'inherit'] });
    child.stdin.end(input);
    return { stdout: await text(child.stdout) };
  }

  test('finds it on any port, says why not, and types the next message', async () => {
    const { code, shown } = await sessions(
      ['start', 'asker', 'first', '--attach'],
      [
        ['approve?', 'too early\r'],
        ['type the next message', '/pasue\r'],
        ['did you mean /pause?', 'second\r'],
        ['▶ second', ''],
        ['approve?', '/queue third\r'],
        ['queued: third', '/steer now\r'],
        ['said: now', 'y\r'],
        // A prompt is drawn again when something else is: the next one comes after its message.
        ['▶ now', ''],
        ['approve?', 'n\r'],
        ['▶ third', ''],
        ['approve?', 'n\r'],
        ['type the next message', '\u0003'],
      ],
    );
    expect(shown).toContain('told too early');
    expect(shown).toContain('▶ second');
    expect(shown).toContain('→ too early by');
    expect(shown).toContain('told yes');
    expect(shown).toContain('Detached');
    expect(code).toBe(0);
  });

  test('denies nothing with an empty line', async () => {
    const { shown } = await sessions(
      ['start', 'asker', 'first', '--attach'],
      [
        ['approve?', '\r'],
        ['an empty line is no answer', 'y\r'],
        ['told yes', '\u0003'],
      ],
    );
    expect(shown).toContain('told yes');
  });

  test('says which of several an answer goes to, shows the next again and all of it when asked; pasted lines are one text', async () => {
    const { shown } = await sessions(
      ['start', 'pair', 'first', '--attach'],
      [
        ['1 of 2 ! Clean it', 'y\r'],
        ['yes by user:owner', ''],
        ['! Change it', ''],
        ['--- the guard', ''],
        ['more lines', ''],
        ['/more shows all of it', '/more\r'],
        ['+line 60', ''],
        ['-the end', '\u001b[200~not so:\rkeep the guard\u001b[201~'],
        ['/drop forgets them', '\r'],
        ['heard both', '\u0003'],
      ],
    );
    expect(shown).toContain('┊ not so:');
    expect(shown).toContain('→ not so:\r\n    keep the guard by user:owner');
  });

  test('shows one session in full, however narrow the terminal is', async () => {
    const title = Array.from({ length: 30 }, (_, word) => `word${word}`).join(' ');
    await builtConcerto(['sessions', 'start', 'asker', 'first', '--title', title], folder);
    const { shown } = await sessions(['show', 'last'], []);
    expect(shown.replaceAll(/\r\n +/g, ' ')).toContain(`title        ${title}`);
  });

  test('answers a question that was there before the terminal was', async () => {
    const { code, shown } = await sessions(['start', '--program', 'greeter', '--attach'], [['your answer:', 'Ada\r']]);
    expect(shown).toContain('Hello, Ada');
    expect(code).toBe(0);
  });

  test('chooses by number: one that is none is refused with those that are, attached, watching and by command', async () => {
    const { code, shown } = await sessions(
      ['start', 'chooser', 'first', '--attach'],
      [
        ['your choice', '7\r'],
        ['there is no choice 7: write 1 to 3', '"7"\r'],
        ['told 7', ''],
        ['type the next message', 'second\r'],
        ['▶ second', ''],
        ['your choice', '\u0003'],
      ],
    );
    expect({ code, shown }).toEqual({ code: 0, shown: expect.stringContaining('Detached') });
    const watched = await concerto(
      ['watch'],
      [
        ['1  first', '1 9\r'],
        ['there is no choice 9: write 1 to 3', 'q\r'],
      ],
    );
    expect(watched.code).toBe(0);
    const wrong = await builtConcerto(['sessions', 'answer', 'last', '4'], folder);
    expect(wrong).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^error: there is no choice 4: write 1 to 3/),
    });
    expect(await builtConcerto(['sessions', 'answer', 'last', '3'], folder)).toMatchObject({ code: 0 });
    await vi.waitFor(async () => {
      expect((await builtConcerto(['sessions', 'show', 'last'], folder)).stdout).toContain('told blue');
    }, withinMs);
  });

  test('allows the very same from now on, watching too', async () => {
    await builtConcerto(['sessions', 'start', 'asker', 'x', '--title', 'the first of two'], folder);
    const { code } = await concerto(
      ['watch'],
      [
        ['the first of two', ''],
        ['Delete it', '1 y session\r'],
        ['1 was answered', 'q\r'],
      ],
    );
    expect(code).toBe(0);
    await vi.waitFor(async () => {
      expect((await builtConcerto(['sessions', 'show', 'last'], folder)).stdout).toContain('told yes');
    }, withinMs);
  });

  test('sees the rule of an "always" before it is added, attached and watching; anything else leaves it', async () => {
    const rules = async () => (await builtConcerto(['rules', 'ls'], folder)).stdout;
    const shownRule = 'allowed from now on in every session of this agent: tool = sh, command = rm it';
    await builtConcerto(['sessions', 'start', 'ruled', 'x', '--title', 'one that always may'], folder);
    const watched = await concerto(
      ['watch'],
      [
        ['one that always may', ''],
        // The second Enter of a slip is before anything was shown.
        ['Delete it', '1 y always\r\r'],
        ['anything else leaves it', 'n\r'],
        ['write the number of a question', 'q\r'],
      ],
    );
    expect(watched.shown.replaceAll(/\s+/g, ' ')).toContain(shownRule);
    expect(watched.shown).not.toContain('was answered');
    expect(await rules()).not.toContain('rm it');
    const attached = await sessions(
      ['attach', 'last'],
      [
        ['approve?', 'y always\r\r'],
        ['add this rule?', 'n\r'],
        ['nothing was answered', ''],
        ['approve?', 'y always\r'],
        ['add this rule?', '\r'],
        ['told yes', ''],
        ['type the next message', '\u0003'],
      ],
    );
    expect(attached.shown).toContain(shownRule);
    expect(attached.code).toBe(0);
    expect(await rules()).toContain('rm it');
  });

  test('sees what an agent says, and nothing that it says acts on the terminal', async () => {
    const begun = await builtConcerto(['sessions', 'start', 'evil', 'go', '--title', 'a\u001b[31mb\r\u2066'], folder);
    const id = begun.stdout.trim();
    await vi.waitFor(async () => {
      const { stdout } = await builtConcerto(['sessions', 'show', id], folder);
      expect(stdout).toContain('open ‹U+202E›fdp.exe ␛]52;c;ZQ==␇');
    }, withinMs);
    for (const args of [['ls'], ['show', id], ['audit', id], ['queue', id, '--all'], ['ls', '--json']]) {
      const { code, shown } = await sessions(args, []);
      expect({ code, acts: acting.exec(shown.replaceAll('\r\r\n', '\n')) }).toEqual({ code: 0, acts: null });
      // A terminal that does not tell its width is taken for one of 80 columns; only JSON is as long as it is.
      const widest = Math.max(...shown.split(/[\r\n]+/).map((line) => line.length));
      expect(args.includes('--json') || widest <= 80).toBe(true);
    }
    await builtConcerto(['sessions', 'answer', id, 'y'], folder);
    const { code, stdout } = await builtConcerto(['sessions', 'attach', id], folder);
    expect(stdout).toContain('rm -rf /␍␛[2KRead README');
    expect(stdout).toContain('done ␛[1A␛[2K');
    expect({ code, acts: acting.exec(stdout) }).toEqual({ code: 0, acts: null });
  });

  test('names a session by its beginning or as the last, and gives text through a pipe', async () => {
    const { stdout } = await piped(['sessions', 'start', 'asker', '-', '--title', 'from a pipe'], 'first line\n');
    const id = stdout.trim();
    expect((await builtConcerto(['sessions', 'show', 'last'], folder)).stdout).toContain('from a pipe');
    expect((await builtConcerto(['sessions', 'show', id.slice(2, 12)], folder)).stdout).toContain(id);
    const { stderr, code } = await builtConcerto(['sessions', 'show', 'nothing-like-it'], folder);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('concerto sessions ls') });
    expect((await builtConcerto(['sessions', 'queue', id, '--all'], folder)).stdout).toMatch(/ first line\n/);
  });

  test('follows without a terminal until there is nothing more to come', async () => {
    const start = await builtConcerto(['sessions', 'start', 'asker', 'x'], folder);
    const id = start.stdout.trim();
    const attached = builtConcerto(['sessions', 'attach', id], folder);
    await vi.waitFor(async () => {
      expect((await builtConcerto(['sessions', 'answer', id, 'y'], folder)).code).toBe(0);
    }, withinMs);
    expect(await attached).toMatchObject({ code: 0, stdout: expect.stringContaining('told yes') });
  });

  test('watches all of them and answers from there', async () => {
    const start = await builtConcerto(['sessions', 'start', 'asker', 'x', '--title', 'the watched one'], folder);
    const id = start.stdout.trim();
    await vi.waitFor(async () => {
      expect((await builtConcerto(['sessions', 'show', id], folder)).stdout).toContain('waitingForApproval');
    }, withinMs);
    // The newest is asked about first, so it has the first number.
    const { code, shown } = await concerto(
      ['watch'],
      [
        ['1  the watched one', '/attach 99\r'],
        ['nothing waits as 99', '1 y\r'],
        ['1 was answered', `/attach ${id.slice(0, 8)}\r`],
        ['told yes', '\u0003'],
        ['NUMBER ANSWER', 'q\r'],
      ],
    );
    expect({ code, shown }).toEqual({ code: 0, shown: expect.stringContaining('Delete it') });
    await vi.waitFor(async () => {
      expect((await builtConcerto(['sessions', 'show', id], folder)).stdout).toContain('told yes');
    }, withinMs);
  });

  test('what is typed after coming back from a session is heard by the view alone', async () => {
    const start = async (title: string): Promise<string> =>
      (await builtConcerto(['sessions', 'start', 'asker', 'x', '--title', title], folder)).stdout.trim();
    const [other, visited] = [await start('the other'), await start('the visited')];
    await vi.waitFor(async () => {
      for (const id of [other, visited])
        expect((await builtConcerto(['sessions', 'show', id], folder)).stdout).toContain('waitingForApproval');
    }, withinMs);
    const { code } = await concerto(
      ['watch'],
      [
        ['the other', `/attach ${visited}\r`],
        ['approve?', '\u0003'],
        ['NUMBER ANSWER', '99 y\r'],
        ['nothing waits as 99', 'q\r'],
      ],
    );
    expect(code).toBe(0);
    // A line that the session had still heard would have been its answer.
    for (const id of [other, visited])
      expect((await builtConcerto(['sessions', 'show', id], folder)).stdout).toContain('waitingForApproval');
  });

  test('is told what is wrong with the token, and where the right one is', async () => {
    const wrong = await builtConcerto(['sessions', 'ls', '--token', 'wrong'], folder);
    expect(wrong).toMatchObject({ code: 1, stderr: expect.stringMatching(/does not know the token of --token\n/) });
    expect(wrong.stderr).toContain(`\`concerto token\` in the folder of that server (${await realpath(folder)})`);
    const url = (await builtConcerto(['token', '--url'], folder)).stdout.split('/?')[0] ?? '';
    const other = await mkdtemp(join(tmpdir(), 'concerto-elsewhere-'));
    const { stderr } = await builtConcerto(['pool', '--url', url], other);
    await rm(other, { recursive: true });
    expect(stderr).toMatch(/^error: the server at \S+ asks for a token, and none is kept for this folder\n/);
    expect(stderr).toContain(`Run this in the folder of that server (${await realpath(folder)})`);
  });

  test('is told at once when there is nobody to watch', async () => {
    const { code, stderr } = await builtConcerto(['watch', '--url', 'http://127.0.0.1:9'], folder);
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining('concerto serve') });
  });

  test('has its shell complete commands, subcommands and options', async () => {
    const { stdout } = await builtConcerto(['completion', 'bash'], folder);
    const script = `${stdout}\nCOMP_WORDS=(concerto sessions at); COMP_CWORD=2; _concerto; echo "\${COMPREPLY[@]}"\nCOMP_WORDS=(concerto sessions attach at); COMP_CWORD=3; _concerto; echo "\${COMPREPLY[@]}"\nCOMP_WORDS=(concerto sessions start --at); COMP_CWORD=3; _concerto; echo "\${COMPREPLY[@]}"\nCOMP_WORDS=(concerto sessions ls --at); COMP_CWORD=3; _concerto; echo "\${COMPREPLY[@]}"\nCOMP_WORDS=(concerto serve --st); COMP_CWORD=2; _concerto; echo "\${COMPREPLY[@]}"\nCOMP_WORDS=(concerto wat); COMP_CWORD=1; _concerto; echo "\${COMPREPLY[@]}"`;
    const shell = spawn('bash', ['-c', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    expect(await text(shell.stdout)).toBe('attach\n\n--attach\n\n--store --store-wait\nwatch\n');
    for (const name of ['zsh', 'fish'])
      expect((await builtConcerto(['completion', name], folder)).stdout).toContain('attach');
    expect(await builtConcerto(['completion', 'tcsh'], folder)).toMatchObject({ code: 2 });
  });

  test('sees what can be started, and how', async () => {
    const { stdout } = await builtConcerto(['sessions', 'offers'], folder);
    expect(stdout).toContain('sessions start asker PROMPT');
    expect(stdout).toContain('sessions start --program greeter\n');
  });

  test('reads in the audit what was said', async () => {
    const start = await builtConcerto(['sessions', 'start', 'asker', 'Delete the branch'], folder);
    const { stdout } = await builtConcerto(['sessions', 'audit', start.stdout.trim()], folder);
    expect(stdout).toMatch(/ABOUT\n/);
    expect(stdout).toMatch(/→ agent +message-enqueued +Delete the branch/);
    // On 80 columns there is no room for everything, but for what was done there is.
    const { shown } = await sessions(['audit', 'last'], []);
    expect(shown).toMatch(/→ +message-enqueued +Delete/);
    expect(shown).not.toContain('ABOUT');
  });

  test('reads help that is no wider than the terminal, and whole in a pipe', async () => {
    const { shown } = await concerto(['run', '--help'], []);
    expect(Math.max(...shown.split(/[\r\n]+/).map((line) => line.length))).toBeLessThanOrEqual(80);
    expect(shown).toMatch(/run\s+again\s+with\s+the\s+same\s+FILE/);
    expect((await builtConcerto(['run', '--help'], folder)).stdout).toContain('run again with the same FILE');
  });

  test('ends a server with Ctrl-C, and goes on in a new line', async () => {
    const cwd = await mkdtemp(join(tmpdir(), 'concerto-terminal-serve-'));
    const serve = [process.execPath, cli, 'serve', '--port', '0', '--store', 'memory:'];
    const env = { XDG_STATE_HOME: process.env.XDG_STATE_HOME };
    const { code, shown } = await inTerminal(serve, [['?token=', '\u0003']], { cwd, env, withinMs });
    await rm(cwd, { recursive: true });
    expect({ code, shown }).toEqual({ code: 0, shown: expect.stringMatching(/\^C\r?\n$/) });
  });

  test('is told when it is not there any more', async () => {
    server.kill('SIGTERM');
    await once(server, 'exit');
    const { stderr: lost } = await builtConcerto(['sessions', 'ls', '--url', 'http://127.0.0.1:1'], folder);
    expect(lost).not.toContain('401');
    const { code, stderr } = await builtConcerto(['sessions', 'ls', '--url', 'http://127.0.0.1:1'], folder);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringContaining('no server answers at http://127.0.0.1:1\n'),
    });
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
