import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { concertoCommand } from '../../../tests/support/concerto-command.ts';
import { UsageError } from '../src/arguments.ts';
import * as doctor from '../src/doctor/doctor-command.ts';
import { type } from './type-command.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'concerto-doctor-'));
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

type Found = { readonly check: string; readonly status: string; readonly message: string; readonly help?: string };

/** What every little agent begins with: `say` writes a message, `on` hears each line. */
const opening = `
import { createInterface } from 'node:readline';
const say = (message) => console.log(JSON.stringify(message));
const lines = createInterface({ input: process.stdin });
const on = (hear) => lines.on('line', (line) => hear(JSON.parse(line)));
`;

/** Writes the agent and its manifest. */
function agent(source: string, settings = ''): string {
  writeFileSync(join(folder, 'agent.mjs'), opening + source);
  return manifest(`[agents.it]\ncommand = ${JSON.stringify(process.execPath)}\nargs = ["agent.mjs"]\n${settings}`);
}

function manifest(text: string): string {
  const file = join(folder, 'Concerto.toml');
  writeFileSync(file, text);
  return file;
}

async function examine(config: string, ...more: string[]) {
  const argv = ['--config', config, '--store', 'memory:', '--port', '0', '--json', ...more];
  const { code, out } = await type(doctor, ...argv);
  const found = JSON.parse(out) as Found[];
  const of = (check: string): Found[] => found.filter((finding) => finding.check === `agent.it.${check}`);
  const statuses = Object.fromEntries(
    found
      .filter(({ check }) => check.startsWith('agent.it.'))
      .map(({ check, status }) => [check.slice('agent.it.'.length), status]),
  );
  return { code, found, of, statuses };
}

describe('a good agent', () => {
  const good = `
let stop;
on((message) => {
  if (message.type === 'init') say({ type: 'init_ack', version: '7', capabilities: ['interrupt', 'cancel'] });
  if (message.type === 'prompt') {
    say({ type: 'progress', message: 'reading', percent: 1 });
    stop = setTimeout(() => say({ type: 'question', id: 'q1', question: 'Go on?', options: ['yes', 'no'] }), 20);
  }
  if (message.type === 'response' && message.in_reply_to_id === 'q1') say({ type: 'approval', id: 2, description: 'Delete it' });
  if (message.type === 'response' && message.in_reply_to_id === 2) say({ type: 'result', text: 'approved: ' + message.value });
  if (message.type === 'interrupt' || message.type === 'cancel') {
    clearTimeout(stop);
    say({ type: 'ack', in_reply_to: message.type, in_reply_to_id: message.id });
  }
});
`;

  test('passes everything, and says what was answered for the user', async () => {
    const { code, of, statuses } = await examine(agent(good, '[agents.it.params]\nrepo = "."\n'));
    expect(statuses).toEqual({
      command: 'ok',
      start: 'ok',
      question: 'ok',
      approval: 'ok',
      turn: 'ok',
      capabilities: 'ok',
      wire: 'ok',
      exit: 'ok',
      interrupt: 'ok',
      cancel: 'ok',
      correlation: 'ok',
    });
    expect(code).toBe(0);
    expect(of('command')[0]?.message).toContain(process.execPath);
    expect(of('start')[0]?.message).toContain('version 7');
    expect(of('question')[0]?.message).toContain('answered "no"');
    expect(of('turn')[0]?.message).toContain('approved: no');
    expect(of('exit')[0]?.message).toContain('stdin is closed');
  });

  test('is only started when it is to be asked nothing', async () => {
    const { code, statuses } = await examine(agent(good, '[agents.it.params]\nrepo = "."\n'), '--no-prompt');
    expect(statuses).toEqual({ command: 'ok', start: 'ok', capabilities: 'ok', wire: 'ok', exit: 'ok' });
    expect(code).toBe(0);
  });

  test('gets the prompt that was chosen', async () => {
    const echo = `on((message) => say({ type: 'result', text: message.text }));`;
    const { of } = await examine(agent(echo), 'it', '--prompt', 'Say this');
    expect(of('turn')[0]?.message).toContain('"Say this"');
  });

  test('may be a program that prints its answer', async () => {
    const { code, of, statuses } = await examine(agent(`lines.on('line', () => console.log('plain\\nwords'));`));
    expect(of('turn')[0]?.message).toContain('plain text as its result');
    expect(of('wire.plain')[0]).toMatchObject({
      status: 'ok',
      message: expect.stringContaining('the text of the result') as string,
    });
    expect(statuses.turn).toBe('ok');
    expect(code).toBe(0);
  });
});

describe('what is wrong is named', () => {
  test('plain text of an agent that must write none', async () => {
    const strict = agent(`lines.on('line', () => console.log('plain'));`, 'plain_text = "error"\n');
    const { code, of } = await examine(strict);
    expect(code).toBe(1);
    expect(of('wire.plain')).toMatchObject([
      { status: 'fail', message: expect.stringContaining('`plain_text = "error"`') },
    ]);
  });

  test('a command that is not there', async () => {
    const { code, of, statuses } = await examine(manifest('[agents.it]\ncommand = "no-such-program-here"\n'));
    expect(statuses).toEqual({ command: 'fail' });
    expect(of('command')[0]?.message).toMatch(/"no-such-program-here" was not found: [^;]+$/);
    expect(of('command')[0]?.help).toBe('install it, or correct `command` in the manifest');
    expect(code).toBe(1);
  });

  test('a folder for a command, and one to work in that is not there', async () => {
    const asCommand = await examine(manifest(`[agents.it]\ncommand = ${JSON.stringify(folder)}\n`));
    expect(asCommand.of('command')).toMatchObject([
      {
        status: 'fail',
        message: expect.stringMatching(/ is a folder$/),
        help: expect.stringMatching(/^name the program/),
      },
    ]);
    const elsewhere = await examine(manifest('[agents.it]\ncommand = "sh"\nworking_dir = "nowhere"\n'));
    expect(elsewhere.of('command')).toMatchObject([
      {
        message: expect.stringMatching(/nowhere does not exist$/),
        help: 'create it, or correct `working_dir` in the manifest',
      },
    ]);
  });

  test('a program that does not speak its protocol, in the words of that protocol', async () => {
    const mute = agent('on(() => {});', 'protocol = "acp"\ninit_timeout = 2\n');
    const { of } = await examine(mute);
    expect(of('init')).toMatchObject([{ status: 'fail', help: expect.stringContaining('such as `--acp`') }]);
    expect(of('init')[0]?.help).not.toContain('init_ack');
  });

  test('no init_ack', async () => {
    const settings = 'init_timeout = 4\n[agents.it.params]\na = 1\n';
    const { code, of, statuses } = await examine(agent(`on(() => {}); console.error('who am I');`, settings));
    expect(statuses).toEqual({ command: 'ok', init: 'fail' });
    expect(of('init')[0]?.message).toMatch(/init_ack.*4 s[\s\S]*who am I/);
    expect(code).toBe(1);
  });

  test('lines that are no messages', async () => {
    const { code, of } = await examine(
      agent(`
on(() => {
  console.log('Loading the model');
  console.log('{"type":"progress",');
  console.log('[1]');
  console.log('{"tpye":"progress","message":"x"}');
  console.log('{"type":7}');
  say({ type: 'result', text: 'ok' });
});`),
    );
    expect(of('wire').map(({ status, message }) => `${status} ${message}`)).toEqual([
      expect.stringMatching(/^fail line 2: is not JSON \(.+\): \{"type":"progress",$/),
      'fail line 3: is a JSON array, not an object: [1]',
      'fail line 4: has no `type`: {"tpye":"progress","message":"x"}; it has `tpye` (and 1 more like it)',
    ]);
    expect(of('wire.plain')).toMatchObject([
      {
        status: 'warn',
        message: '1 line of plain text beside the messages, each taken as a log line; line 1: Loading the model',
      },
    ]);
    expect(of('turn')[0]?.status).toBe('ok');
    expect(code).toBe(1);
  });

  test('fields, by line, name and what was expected', async () => {
    const { code, of } = await examine(
      agent(`
on(() => {
  say({ type: 'progress', message: 'x', percent: '10%' });
  say({ type: 'progress', message: 'x', percent: '20%' });
  say({ type: 'partial', chunk: 'x' });
  say({ type: 'log', mesage: 'x' });
  say({ type: 'progress', message: 'x', stage: null });
  say({ type: 'progess', message: 'x' });
  say({ type: 'prompt', text: 'x' });
  say({ type: 'diff', files: 3 });
  say({ type: 'ack', in_reply_to: 'pause', in_reply_to_id: 'made-up' });
  say({ type: 'result', text: { a: 1 } });
  say({ type: 'result', text: 'again' });
});`),
    );
    expect(of('wire').map(({ status, message }) => `${status} ${message}`)).toEqual([
      'fail line 1: `progress`: field `percent`: expected a number, found the string "10%" (and 1 more like it)',
      'fail line 3: `partial`: field `text`: expected a string, found nothing; it has `chunk`',
      'fail line 4: `log`: field `message`: expected a string, found nothing; it has `mesage`',
      'warn line 5: `progress`: field `stage`: expected a string, found null',
      'warn line 6: `progess` is no type of the wire, so it is handed to handlers of that name; did you mean `progress`?',
      'warn line 7: `prompt` is what Concerto sends; from an agent it is a message of its own kind',
      'fail line 9: `ack` for the id "made-up", which no request had',
      'fail line 10: `result`: field `text`: expected a string, found the object {"a":1}',
      'warn line 11: `result` after the turn had ended',
    ]);
    expect(of('wire').every(({ help }) => help !== undefined)).toBe(true);
    expect(code).toBe(1);
  });

  test('a turn that never ends', async () => {
    const silent = await examine(agent(`on(() => {});`), '--timeout', '1');
    expect(silent.of('turn')[0]?.message).toBe('no `result` or `error` within 1 s; it said nothing at all');
    expect(silent.code).toBe(1);
    const busy = await examine(
      agent(`on(() => setInterval(() => say({ type: 'progress', message: 'still' }), 50));`),
      '--timeout',
      '3',
    );
    expect(busy.of('turn')).toMatchObject([
      { status: 'fail', message: expect.stringContaining('last spoke') as string },
    ]);
    expect(busy.code).toBe(1);
  });

  test('an answer that stays in a buffer', async () => {
    const held = `let out = ''; on(() => { out = '{"type":"result"}\\n'; }); lines.on('close', () => process.stdout.write(out));`;
    const { code, of } = await examine(agent(held), '--timeout', '1');
    expect(of('buffering')).toMatchObject([{ status: 'fail', help: expect.stringContaining('flush') as string }]);
    expect(code).toBe(1);
  });

  test('an agent that is gone before it is asked', async () => {
    const { code, of, statuses } = await examine(agent(`console.error('bad setup'); process.exit(4);`));
    expect(statuses).toEqual({ command: 'ok', start: 'ok', turn: 'fail' });
    expect(of('turn')[0]?.message).toMatch(/code 4[\s\S]*bad setup/);
    expect(code).toBe(1);
  });

  test('long work that can be interrupted is a warning', async () => {
    const { code, statuses } = await examine(
      agent(`
say({ type: 'init_ack', capabilities: ['interrupt'] });
let work;
on((message) => {
  if (message.type === 'prompt') work = setInterval(() => say({ type: 'progress', message: 'still' }), 50);
  else { clearInterval(work); say({ type: 'ack', in_reply_to: message.type, in_reply_to_id: message.id }); }
});`),
      '--timeout',
      '3',
    );
    expect(statuses).toMatchObject({ turn: 'warn', interrupt: 'ok', exit: 'ok' });
    expect(code).toBe(0);
  });

  test('an exit in the middle of the turn, with the end of its stderr', async () => {
    const { code, of } = await examine(agent(`on(() => { console.error('no key'); process.exit(3); });`));
    expect(of('turn')[0]).toMatchObject({
      status: 'fail',
      message: expect.stringMatching(/code 3[\s\S]*no key/) as string,
    });
    expect(code).toBe(1);
  });

  test('an error as the answer is shown, and is no fault in the wire', async () => {
    const { code, of } = await examine(agent(`on(() => say({ type: 'error', message: 'out of quota' }));`));
    expect(of('turn')[0]).toMatchObject({ status: 'warn', message: expect.stringContaining('out of quota') as string });
    expect(code).toBe(0);
  });

  test('an agent that does not end with its stdin, and what it leaves running', async () => {
    const stays = await examine(agent(`on(() => say({ type: 'result' })); setInterval(() => {}, 1000);`));
    expect(stays.of('exit')[0]).toMatchObject({
      status: 'warn',
      message: expect.stringContaining('SIGTERM') as string,
    });
    const leaves = await examine(
      agent(
        `
import { spawn } from 'node:child_process';
spawn('sleep', ['300'], { stdio: 'ignore', detached: true }).unref();
on(() => say({ type: 'result' }));`,
        'sandbox = "off"',
      ),
    );
    expect(leaves.of('exit')[0]?.status).toBe('ok');
    expect(leaves.of('children')[0]?.status).toBe('warn');
    const pid = Number(/them: (\d+)/.exec(leaves.of('children')[0]?.message ?? '')?.[1]);
    expect(pid).toBeGreaterThan(1);
    expect(existsSync(`/proc/${pid}/cmdline`) && readFileSync(`/proc/${pid}/cmdline`, 'utf8') !== '').toBe(false);
  });

  test('capabilities that are announced and not kept, or not known', async () => {
    const { code, of, statuses } = await examine(
      agent(`
say({ type: 'init_ack', capabilities: ['interupt', 'pause', 'resume', 'cancel', 'fly'] });
on((message) => {
  if (message.type === 'prompt') setTimeout(() => say({ type: 'result' }), 700);
  if (message.type === 'prompt') say({ type: 'progress', message: 'x' });
  if (message.type === 'pause') say({ type: 'ack', in_reply_to: 'resume', in_reply_to_id: message.id });
  if (message.type === 'cancel') process.exit(0);
});`),
      '--timeout',
      '5',
    );
    expect(of('capabilities').map(({ status, message, help }) => [status, message, help])).toEqual([
      ['ok', 'announced: pause, resume, cancel', undefined],
      ['warn', 'there is no capability `interupt`; it is ignored', 'did you mean `interrupt`?'],
      ['warn', 'there is no capability `fly`; it is ignored', expect.stringContaining('there are steer')],
    ]);
    expect(of('wire').map(({ message }) => message)).toContain(
      'line 3: `ack`: field `in_reply_to`: expected "pause", found "resume"',
    );
    expect(statuses).toMatchObject({ pause: 'ok', cancel: 'ok' });
    expect(code).toBe(1);
  });

  test('no ack at all', async () => {
    const { code, of } = await examine(
      agent(`
import { existsSync, writeFileSync } from 'node:fs';
const isSecondRun = existsSync('ran');
writeFileSync('ran', '');
say({ type: 'init_ack', capabilities: ['interrupt'] });
on((message) => {
  if (message.type === 'prompt') say(isSecondRun ? { type: 'progress', message: 'x' } : { type: 'result' });
});`),
      '--timeout',
      '4',
    );
    expect(of('interrupt')).toMatchObject([
      {
        status: 'fail',
        message: 'announced, but no `ack` within 4 s',
        help: expect.stringContaining('"in_reply_to":"interrupt"') as string,
      },
    ]);
    expect(code).toBe(1);
  });

  test('an agent that takes any answer for its own', async () => {
    const { code, of } = await examine(
      agent(`
on((message) => {
  if (message.type === 'prompt') say({ type: 'question', id: 'q', question: 'Which?' });
  if (message.type === 'response') say({ type: 'result', text: 'ok' });
});`),
    );
    expect(of('correlation')[0]).toMatchObject({
      status: 'warn',
      help: expect.stringContaining('in_reply_to_id') as string,
    });
    expect(code).toBe(0);
  });

  test('a secret that an agent repeats is not shown', async () => {
    vi.stubEnv('DOCTOR_TEST_SECRET', 'very-secret-value');
    try {
      const { found, of } = await examine(
        agent(
          `on(() => { console.log('{' + process.env.KEY); console.error(process.env.KEY); say({ type: 'result', text: process.env.KEY }); });`,
          '[agents.it.env]\nKEY = "${DOCTOR_TEST_SECRET}"\n',
        ),
      );
      expect(of('turn')[0]?.message).toContain('***');
      expect(JSON.stringify(found)).not.toContain('very-secret-value');
    } finally {
      vi.unstubAllEnvs();
    }
  });
});

test('an agent that is not declared is a slip of whoever typed it', async () => {
  const config = agent(`on(() => {});`);
  await expect(type(doctor, '--config', config, 'itt')).rejects.toThrow(UsageError);
  await expect(type(doctor, '--config', config, '--timeout', 'soon')).rejects.toThrow(UsageError);
  await expect(type(doctor, '--config', config, '--prompt', 'x', '--no-prompt')).rejects.toThrow(UsageError);
});

test('Ctrl-C ends what was started', async () => {
  const config = agent(
    `
import { writeFileSync } from 'node:fs';
on(() => writeFileSync('pid', String(process.pid)));
setInterval(() => {}, 1000);`,
    'sandbox = "off"',
  );
  const argv = ['doctor', '--config', config, '--store', 'memory:', '--port', '0', '--timeout', '60'];
  const child = spawn(process.execPath, [...concertoCommand, ...argv], { stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.resume();
  let said = '';
  child.stderr.on('data', (chunk) => {
    said += String(chunk);
  });
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  await vi.waitFor(() => expect(readFileSync(join(folder, 'pid'), 'utf8')).not.toBe(''), { timeout: 20_000 });
  child.kill('SIGINT');
  expect(await ended).toBe(130);
  expect(said).toContain('interrupted');
  const pid = Number(readFileSync(join(folder, 'pid'), 'utf8'));
  expect(() => process.kill(pid, 0)).toThrow('ESRCH');
});

describe('a program of another protocol', () => {
  const driven = (env: string, protocol = 'claude'): string => {
    const peer = fileURLToPath(new URL(`../../../packages/agents/test/agents/${protocol}.mjs`, import.meta.url));
    const started = `command = ${JSON.stringify(process.execPath)}\nargs = [${JSON.stringify(peer)}]`;
    return manifest(`[agents.it]\nprotocol = "${protocol}"\n${started}\n${env}`);
  };

  test('is named with its version', async () => {
    const { of } = await examine(driven(''), '--no-prompt');
    expect(of('program')).toMatchObject([{ status: 'ok', message: expect.stringContaining('version 9.9') }]);
  });

  test('that is not installed is told once, with how it is', async () => {
    const { statuses, of } = await examine(manifest('[agents.it]\nprotocol = "codex"\nenv = { PATH = "/nowhere" }\n'));
    expect(statuses).toEqual({ command: 'fail' });
    expect(of('command')[0]?.help).toMatch(/^install it with `npm install .*`, or correct/);
  });

  test('without a login fails with what to run, and is not asked anything', async () => {
    const { code, statuses, of } = await examine(driven('env = { STRANGER = "1" }\n'), 'it');
    expect([code, statuses.login, statuses.turn]).toEqual([1, 'fail', undefined]);
    expect(of('login')).toMatchObject([{ help: expect.stringContaining('run `claude` in a terminal and log in') }]);
  });

  test('that warns when it starts is heard', async () => {
    const { code, of } = await examine(driven('env = { CODEX_HOME = "/tmp/home" }\n', 'codex'), '--no-prompt');
    expect(code).toBe(0);
    expect(of('start')).toMatchObject([
      { status: 'ok' },
      { status: 'warn', message: expect.stringContaining('put its home (CODEX_HOME, now /tmp/home) elsewhere') },
    ]);
  });
});
