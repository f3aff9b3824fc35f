import { readFileSync, watch } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startScriptedModelServer } from '@concerto/models/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { isAlive } from '../support/is-alive.ts';
import { type ConcertoRun, runConcerto } from '../support/run-concerto.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'concerto-journal-'));
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

/** Writes down what it hears, asks once, and says so. */
const agent = `
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
createInterface({ input: process.stdin }).on('line', (line) => {
  appendFileSync('heard', line + '\\n');
  if (!line.startsWith('{')) console.log(JSON.stringify({ type: 'question', id: line, question: line + '?' }));
  else console.log(JSON.stringify({ type: 'result', text: JSON.parse(line).value }));
});
`;

const program = `
agent Worker { connector: worker }
model Architect { provider: main, base: "m" }

async fn main() -> Result<Nil, String> {
    for n in 0..4 {
        let said = Architect.execute("thought \${n}").unwrap().text;
        emit("thought", said);
        let worked = listen Worker.execute("job \${n}") {
            "question" => |q| { Architect.execute(q.question).unwrap().text },
        };
        emit("job", [n, worked.is_ok()]);
        emit("approved", await emit("ask", n));
    }
    Err("that was all")
}
`;

async function writeProject(url: string): Promise<string[]> {
  const manifest = `[project]
name = "p"
version = "0.1.0"
entry = "main.conc"
[connections.main]
provider = "openai"
api_key_env = "MODEL_KEY"
base_url = "${url}"
[agents.worker]
command = "${process.execPath}"
args = ["agent.mjs"]
`;
  await writeFile(join(folder, 'Concerto.toml'), manifest);
  await writeFile(join(folder, 'main.conc'), program);
  await writeFile(join(folder, 'agent.mjs'), agent);
  await writeFile(join(folder, 'answers'), '"a0"\n"a1"\n"a2"\n"a3"\n');
  return ['run', '--input', join(folder, 'answers'), '--journal', join(folder, 'journal'), folder];
}

const environment = { MODEL_KEY: 'sk-very-secret' };

function journalLines(): number {
  try {
    return readFileSync(join(folder, 'journal'), 'utf8').split('\n').length - 1;
  } catch {
    return 0;
  }
}

/** Kills the run when its journal has so many lines; it may end before that. */
async function killAt(run: ConcertoRun, lines: number): Promise<void> {
  const watcher = watch(folder, () => {
    if (journalLines() >= lines) run.kill();
  });
  await run.ended;
  watcher.close();
}

test('a program that is killed again and again does each thing once', { timeout: 180_000 }, async () => {
  const server = await startScriptedModelServer((request) => {
    const asked = /thought \d|job \d\?/.exec(JSON.stringify(request.body))?.[0] ?? '';
    return `re ${asked}`;
  });
  const command = await writeProject(server.url);
  const shown: string[] = [];
  let kills = 0;
  let last: Awaited<ConcertoRun['ended']> | undefined;
  for (let target = 4; last === undefined; target += 7) {
    const run = runConcerto(command, environment);
    await killAt(run, target);
    const end = await run.ended;
    shown.push(...end.out.split('\n').filter((line) => line.startsWith('[emit:') && !line.startsWith('[emit:listen')));
    if (end.code === null) kills++;
    else last = end;
  }
  expect(last).toMatchObject({ code: 1, err: expect.stringContaining('error: that was all') });
  expect(kills).toBeGreaterThan(3);
  const emitted = shown.filter((line) => !line.startsWith('[emit:ask]'));
  expect(new Set(emitted).size).toBe(emitted.length);

  const prompts = (await readFile(join(folder, 'heard'), 'utf8')).split('\n').filter((line) => line.startsWith('job'));
  expect(new Set(prompts).size).toBe(prompts.length);

  const journal = await readFile(join(folder, 'journal'), 'utf8');
  expect(journal).not.toContain(environment.MODEL_KEY);
  // What had its answer was asked once; what was under way when it was killed, once more.
  const asked = server.requests.length;
  const answers = journal.split('\n').filter((line) => line.includes('"ok":true') && line.includes('"tokens_in"'));
  expect(asked).toBeGreaterThanOrEqual(answers.length);
  expect(asked).toBeLessThanOrEqual(answers.length + kills);
  await server.close();

  // The whole again, from the journal alone: there is no model any more.
  await rm(join(folder, 'answers'));
  const replay = await runConcerto(['run', '--replay', join(folder, 'journal'), '--replay-emits', folder]).ended;
  expect(replay.code).toBe(1);
  expect(replay.err).toContain('error: that was all');
  const all = replay.out.split('\n').filter((line) => line.startsWith('[emit:') && !line.startsWith('[emit:listen'));
  expect(all).toHaveLength(12);
  expect(all.filter((line) => line.startsWith('[emit:approved]'))).toEqual(
    ['a0', 'a1', 'a2', 'a3'].map((answer) => `[emit:approved] ${answer}`),
  );
  expect(all.filter((line) => emitted.includes(line))).toEqual(emitted);
  // Whoever is killed between writing down that something is said and saying it has not said it.
  expect(emitted.length).toBeGreaterThanOrEqual(all.length - kills);
  expect(await readFile(join(folder, 'journal'), 'utf8')).toBe(journal);
});

test('one that was interrupted goes on', { timeout: 60_000 }, async () => {
  let onAsked = (): void => {};
  const asked = new Promise<void>((resolve) => {
    onAsked = resolve;
  });
  const server = await startScriptedModelServer((_request, index) => {
    if (index !== 1) return 'said';
    onAsked();
    return [{ hang: true }];
  });
  const command = await writeProject(server.url);
  const run = runConcerto(command, environment);
  // The agent's question is with the model.
  await asked;
  run.interrupt();
  expect((await run.ended).code).toBe(130);
  const again = await runConcerto(command, environment).ended;
  expect(again.err).toMatch(/journal: replayed \d+ records of .*; 1 session with agents ended with the old run/);
  expect(again.out).toMatch(/^\[emit:listen:error\] .*\n\[emit:job\] \[0, false\]/);
  expect(again.err).toContain('error: that was all');
  const changed = await runConcerto(['run', '--mock', ...command.slice(1)], environment).ended;
  expect(changed).toMatchObject({ code: 1, err: expect.stringContaining('is of a run with other arguments') });
  await server.close();
});

test('an agent that outlives the run is ended before another takes its place', { timeout: 60_000 }, async () => {
  await writeFile(
    join(folder, 'Concerto.toml'),
    `[project]\nname = "p"\nversion = "0.1.0"\nentry = "main.conc"\n[agents.worker]\ncommand = "${process.execPath}"\nargs = ["agent.mjs"]\n`,
  );
  await writeFile(
    join(folder, 'agent.mjs'),
    `import { appendFileSync } from 'node:fs';
     setInterval(() => {}, 1000);
     process.stdin.on('data', (text) => {
       appendFileSync('pids', process.pid + '\\n');
       if (String(text) === 'short\\n') console.log(JSON.stringify({ type: 'result', text: 'done' }));
     });`,
  );
  await writeFile(
    join(folder, 'main.conc'),
    `agent Worker { connector: worker }
     fn main() {
         emit("long", match Worker.execute("long") { Ok(text) => text, Err(e) => e.kind });
         emit("short", Worker.execute("short"));
     }`,
  );
  const command = ['run', '--journal', join(folder, 'journal'), folder];
  const run = runConcerto(command);
  const watcher = watch(folder, (_event, name) => {
    if (name === 'pids') run.kill();
  });
  expect((await run.ended).code).toBeNull();
  watcher.close();
  // The file is there a moment before what is written into it.
  const written = (): string => readFileSync(join(folder, 'pids'), 'utf8').trim();
  await expect.poll(written).not.toBe('');
  const pid = Number(written());
  expect(isAlive(pid)).toBe(true);
  const again = await runConcerto(command).ended;
  expect(again).toMatchObject({ code: 0, out: '[emit:long] exited\n[emit:short] Ok(done)\n' });
  expect(again.err).toContain('ended 1 agent process that the old run had left');
  expect(isAlive(pid)).toBe(false);
});
