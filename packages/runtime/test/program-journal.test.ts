import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startScriptedModelServer } from '@concerto/models/testing';
import { JournalError } from '@concerto/runtime/program';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Stage } from './program-stage.ts';

let stage = new Stage();
beforeEach(() => {
  stage = new Stage();
  stage.write('agent.mjs', AGENT);
});
afterEach(() => stage.remove());

const JOURNAL = 'run.jsonl';

/** Asks twice, then tells what it heard. Everything it reads is in the file `heard`. */
const AGENT = `
import { createInterface } from 'node:readline';
import { appendFileSync } from 'node:fs';
const say = (message) => process.stdout.write(JSON.stringify(message) + '\\n');
const answers = [];
for await (const line of createInterface({ input: process.stdin })) {
  appendFileSync('heard', line + '\\n');
  let message = {};
  try { message = JSON.parse(line); } catch {}
  if (message.type === 'response') answers.push(message.value ?? 'error');
  if (answers.length === 2) say({ type: 'result', text: answers.splice(0).join(' and ') });
  else say({ type: 'question', id: answers.length, question: 'color ' + answers.length + '?' });
}`;

const WORKER = `[agents.worker]\ncommand = "${process.execPath}"\nargs = ["agent.mjs"]\n`;

const SUPERVISION = `
agent W { connector: "worker" }
model M { provider: main, base: "m" }
fn paint(what: String) -> String {
  let r = listen W.execute(what) {
    "question" => |q| {
      let said = M.execute("\${what}: \${q.question}");
      match said { Ok(a) => a.text, Err(e) => "no idea" }
    },
  };
  match r { Ok(v) => v.text, Err(e) => "lost (\${e.kind})" }
}
async fn main() {
  emit("begin", std::random::float() < 2.0);
  emit("house", paint("house"));
  std::fs::write_file("house.txt", "painted").unwrap();
  let ok = await emit("go on", "now?");
  emit("ok", ok);
  emit("garden", paint("garden"));
  println("done");
}`;

function lines(name: string): string[] {
  const path = join(stage.directory, name);
  return existsSync(path)
    ? readFileSync(path, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
    : [];
}

describe('a journal', () => {
  test('wherever a program was ended, it goes on without doing again what was done', async () => {
    const server = await startScriptedModelServer((request) => `re ${String(promptOf(request.body))}`);
    const options = {
      manifest: `${WORKER}[connections.main]\nprovider = "openai"\napi_key_env = "KEY"\nbase_url = "${server.url}"\n`,
      environment: { KEY: 'secret-key' },
      answers: ['yes'],
      journal: JOURNAL,
    };
    const whole = await stage.run(SUPERVISION, options);
    expect(whole.lines.at(-1)).toBe('done\n');
    const written = lines(JOURNAL);
    for (let kept = 1; kept < written.length; kept++) {
      const asked = server.requests.length;
      const heard = lines('heard').length;
      const before = written.slice(0, kept);
      // A line that was being written when it happened.
      stage.write(JOURNAL, `${before.join('\n')}\n${(written[kept] ?? '').slice(0, kept % 9)}`);
      const again = await stage.run(SUPERVISION, options);
      expect(again.problem).toBeUndefined();
      const told = [...again.replayed, ...again.lines].map((line) => line.replace(/(house|garden): .*/, '$1'));
      const question = 'go on? now?';
      const isAskedAgain = before.some((line) => line.includes('"kind":"ask"'));
      const expected = ['begin: true', 'house', question, 'ok: yes', 'garden', 'done\n'];
      // A person who had not answered is asked again; nothing else is said twice.
      expect(
        told.filter((line, index) => !(isAskedAgain && line === question && told.indexOf(line) !== index)),
      ).toEqual(expected);
      expectNothingTwice(
        before,
        server.requests.slice(asked).map(({ body }) => String(promptOf(body))),
      );
      const prompts = lines('heard')
        .slice(heard)
        .filter((line) => !line.startsWith('{'));
      expect(prompts).toEqual(['house', 'garden'].filter((prompt) => !wasPrompted(before, prompt)));
      // What it became can be replayed, by itself and to the same end.
      const count = server.requests.length;
      const replay = await stage.run(SUPERVISION, { ...options, replayOnly: true });
      expect([...replay.replayed]).toEqual([...again.replayed, ...again.lines].filter(uniqueQuestion()));
      expect(replay.lines).toEqual([]);
      expect(server.requests.length).toBe(count);
    }
    await server.close();
  }, 120_000);

  test('a handler whose agent is lost is ended: nobody is asked for an agent that is gone', async () => {
    const source = `agent W { connector: "worker" }
      async fn main() {
        let mut seen: Array<Any> = [];
        let r = listen W.execute("go") {
          "question" => |q| { await emit("color", q.question) },
          "exit" => |e| { seen.push(e.code); },
        };
        match r { Ok(v) => emit("r", v.text), Err(e) => emit(e.kind, [e.message, e.agent]) }
        emit("seen", seen);
        emit("next", (listen W.execute("on") { "question" => |_| { break "taken" } }));
      }`;
    const options = { manifest: WORKER, journal: JOURNAL, answers: ['red', 'blue'] };
    await stage.run(source, options);
    const written = lines(JOURNAL);
    const asked = written.findLastIndex((line) => line.includes('"kind":"ask"'));
    stage.write(JOURNAL, `${written.slice(0, asked + 1).join('\n')}\n`);
    const again = await stage.run(source, options);
    expect(again.lines).toEqual([
      'exited: [agent exited without result (the run was ended while the session was open, and the agent with it), W]',
      'seen: [nil]',
      'next: Ok(taken)',
    ]);
    expect(again.summary).toMatchObject({ isFinished: false, lostSessions: 1, askedAgain: 1 });
  });

  test('what an agent had finished is kept, and parallel handlers go on', async () => {
    stage.write(
      'agent.mjs',
      `process.stdin.once('data', () => {
         console.log(JSON.stringify({ type: 'question', id: 1 }));
         console.log(JSON.stringify({ type: 'result', text: 'all done' }));
       });`,
    );
    const source = `agent W { connector: "worker" }
      fn main() {
        let r = listen W.execute("go") {
          "question" (parallel: true) => |q| { std::time::sleep(300); emit("handled", q.id); "x" },
        };
        emit("r", r);
      }`;
    const options = { manifest: WORKER, journal: JOURNAL };
    await stage.run(source, options);
    const written = lines(JOURNAL);
    const result = written.findIndex((line) => line.includes('all done'));
    expect(written.slice(0, result).some((line) => line.includes('"handled"'))).toBe(false);
    stage.write(JOURNAL, `${written.slice(0, result + 1).join('\n')}\n`);
    const again = await stage.run(source, options);
    expect(again.lines).toEqual(['handled: 1', 'r: Ok({"text": all done})']);
    expect(again.summary).toMatchObject({ lostSessions: 0, askedAgain: 1 });
  });

  test('what may have been done is not done again', async () => {
    const source = `fn main() {
      match std::fs::append_file("log", "x") { Ok(_) => emit("r", "ok"), Err(e) => emit("r", "\${e}") }
      emit("log", std::fs::read_file("log").unwrap_or("none"));
    }`;
    const options = { journal: JOURNAL };
    await stage.run(source, options);
    const written = lines(JOURNAL);
    const begun = written.findIndex((line) => line.includes('"append"'));
    stage.write(JOURNAL, `${written.slice(0, begun + 1).join('\n')}\n`);
    const { lines: told } = await stage.run(source, options);
    expect(told[0]).toMatch(/^r: .*log was written: whether it was done is not known/);
    expect(told[1]).toBe('log: x');
  });

  test('time that has passed has passed', async () => {
    const source = 'fn main() { std::time::sleep(60000); emit("r", "awake"); }';
    stage.write(JOURNAL, '');
    const controller = new AbortController();
    const interrupted = stage.run(source, { journal: JOURNAL, signal: controller.signal });
    while (!lines(JOURNAL).some((line) => line.includes('"sleep"'))) await new Promise(setImmediate);
    controller.abort();
    expect((await interrupted).problem).toBe('the program was interrupted');
    const text = stage.read(JOURNAL).replace(/"at":(\d+),"turn"/g, (_, at) => `"at":${Number(at) - 60_000},"turn"`);
    stage.write(JOURNAL, text);
    const again = await stage.run(source, { journal: JOURNAL });
    expect(again.lines).toEqual(['r: awake']);
    expect(again.summary).toMatchObject({ askedAgain: 1 });
  });

  test('a streamed answer that had not come to its end is an error', async () => {
    const server = await startScriptedModelServer((_request, index) =>
      index === 0 ? [{ text: 'one two three four', pieces: 4 }] : 'whole',
    );
    const source = `model M { provider: main, base: "m" }
      fn main() {
        let mut pieces = 0;
        let r = M.stream("x", |chunk| { pieces = pieces + 1; emit("piece", chunk); });
        match r { Ok(a) => emit("r", a.text), Err(e) => emit("error", e.message) }
        emit("again", M.stream("y", |chunk| { pieces = pieces + 1; }).unwrap().text);
      }`;
    const options = {
      manifest: `[connections.main]\nprovider = "openai"\napi_key_env = "KEY"\nbase_url = "${server.url}"\n`,
      environment: { KEY: 'secret-key' },
      journal: JOURNAL,
    };
    expect((await stage.run(source, options)).lines.slice(-2)).toEqual(['r: one two three four', 'again: whole']);
    const written = lines(JOURNAL);
    const chunk = written.findIndex((line) => line.includes('"chunk"'));
    for (const kept of [chunk, chunk + 1, chunk + 2]) {
      stage.write(JOURNAL, `${written.slice(0, kept).join('\n')}\n`);
      const again = await stage.run(source, options);
      const told = [...again.replayed, ...again.lines].filter((line) => !line.startsWith('piece:'));
      expect(told).toEqual([
        'error: model M failed after 1 attempt: the run was ended while the answer came',
        'again: whole',
      ]);
    }
    expect(server.requests).toHaveLength(5);
    await server.close();
  });

  test('a program that is ended again while it recovers, or while it computes, still does each thing once', async () => {
    const source = `agent W { connector: "worker" }
      fn busy(n: Int) -> Int { let mut sum = 0; for i in 0..60000 { sum = (sum + i * n) % 7919; } sum }
      fn naps(n: Int) -> Int { for _ in 0..n { std::time::sleep(1); } n }
      async fn main() {
        let r = await (busy(3), naps(4), busy(5));
        emit("computed", r);
        let one = listen W.execute("one") { "question" => |q| { emit("asked", q.question); await (naps(2), busy(1)) } };
        emit("one", one.is_ok());
        emit("late", await (naps(3), W.execute("two").is_ok()));
      }`;
    const options = { manifest: WORKER, journal: JOURNAL };
    await stage.run(source, options);
    let seed = 7;
    for (let round = 0; round < 40; round++) {
      const written = lines(JOURNAL);
      seed = (seed * 1103515245 + 12345) % 2147483648;
      const kept = 1 + (seed % written.length);
      stage.write(JOURNAL, `${written.slice(0, kept).join('\n')}\n`);
      const prompts = lines(JOURNAL).filter((line) => line.includes('"agent_open"')).length;
      const heard = lines('heard').filter((line) => !line.startsWith('{')).length;
      const again = await stage.run(source, options);
      expect(again.problem).toBeUndefined();
      expect(lines('heard').filter((line) => !line.startsWith('{')).length).toBe(heard + 2 - prompts);
      const told = [...again.replayed, ...again.lines].map((line) => line.split(':')[0]);
      expect(told.filter((channel) => channel !== 'asked')).toEqual(['computed', 'one', 'late']);
      const replay = await stage.run(source, { ...options, replayOnly: true });
      expect(replay.replayed).toEqual([...again.replayed, ...again.lines]);
    }
  }, 180_000);

  test('an answer that a model may give again is not asked for again', async () => {
    const server = await startScriptedModelServer(() => 'the answer');
    const source = `@cache(ttl: 600)
      model M { provider: main, base: "m" }
      async fn main() {
        emit("one", M.execute("x").unwrap().text);
        await emit("stop", nil);
        emit("two", M.execute("x").unwrap().text);
      }`;
    const options = {
      manifest: `[connections.main]\nprovider = "openai"\napi_key_env = "KEY"\nbase_url = "${server.url}"\n`,
      environment: { KEY: 'secret-key' },
      journal: JOURNAL,
    };
    await stage.run(source, options);
    const written = lines(JOURNAL);
    const stopped = written.findIndex((line) => line.includes('"kind":"ask"'));
    stage.write(JOURNAL, `${written.slice(0, stopped + 1).join('\n')}\n`);
    const again = await stage.run(source, options);
    await server.close();
    expect(again.lines).toEqual(['stop? nil', 'two: the answer']);
    expect(server.requests).toHaveLength(1);
  });
});

describe('secrets', () => {
  const source = `fn main() {
      let key = env("API_KEY");
      emit("key", key);
      emit("mark", "[secret:API_KEY] [secret::x]");
      emit("same", key == "s3cret\\"value");
    }`;
  const environment = { API_KEY: 's3cret"value' };

  test('are struck out of the file, and what is read back is what the variable holds', async () => {
    await stage.run(source, { journal: JOURNAL, environment });
    const text = stage.read(JOURNAL);
    expect(text).not.toContain('s3cret');
    expect(text).toContain('"payload":"[secret:API_KEY]"');
    const replay = await stage.run(source, { journal: JOURNAL, environment, replayOnly: true });
    expect(replay.replayed).toEqual(['key: s3cret"value', 'mark: [secret:API_KEY] [secret::x]', 'same: true']);
  });

  test('that are not set are asked for by name, and a replay does without', async () => {
    const ends = 'fn main() { emit("key", env("API_KEY")); }';
    await stage.run(ends, { journal: JOURNAL, environment });
    await expect(stage.run(ends, { journal: JOURNAL })).rejects.toThrow('set API_KEY as it was');
    const replay = await stage.run(ends, { journal: JOURNAL, replayOnly: true });
    expect(replay.summary).toMatchObject({ isFinished: true });
  });
});

describe('a journal that does not fit', () => {
  const source = 'fn main() { emit("r", std::random::float()); std::time::sleep(1); emit("s", 2); }';

  async function refusal(options: { source?: string; replayOnly?: boolean } = {}): Promise<[string, string]> {
    try {
      await stage.run(options.source ?? source, { journal: JOURNAL, replayOnly: options.replayOnly ?? false });
    } catch (cause) {
      if (cause instanceof JournalError) return [cause.code, cause.message];
      throw cause;
    }
    return ['', ''];
  }

  test('is refused, and stays as it is', async () => {
    await stage.run(source, { journal: JOURNAL });
    const text = stage.read(JOURNAL);
    expect((await refusal({ source: 'fn main() { emit("r", 1); }' }))[0]).toBe('changed');
    expect(stage.read(JOURNAL)).toBe(text);

    stage.write(JOURNAL, text.replace('"payload":2', '"payload":3'));
    const [code, message] = await refusal({ replayOnly: true });
    expect(code).toBe('diverged');
    expect(message).toMatch(/at line \d+ .*"payload":3.* but the program does .*"payload":2/);

    stage.write(JOURNAL, text.replace('"turn":1,"out"', '"turn":1,"oot"'));
    expect(await refusal()).toEqual(['damaged', expect.stringMatching(/^line 2 of /)]);

    stage.write(JOURNAL, text.split('\n').slice(0, -3).join('\n'));
    expect((await refusal({ replayOnly: true }))[0]).toBe('unfinished');
    stage.write(JOURNAL, 'hello\nworld\n');
    expect((await refusal())[0]).toBe('damaged');
    expect(stage.read(JOURNAL)).toBe('hello\nworld\n');
  });

  test('is refused while another process writes it', async () => {
    stage.write(`${JOURNAL}.lock`, `${process.ppid}\n`);
    expect(await refusal()).toEqual(['busy', expect.stringContaining(`process ${process.ppid}`)]);
    // A process that is gone holds nothing.
    stage.write(`${JOURNAL}.lock`, '999999999\n');
    expect(await refusal()).toEqual(['', '']);
    expect(existsSync(join(stage.directory, `${JOURNAL}.lock`))).toBe(false);
  });

  test('but is as if it was not there when nothing whole was written', async () => {
    stage.write(JOURNAL, '{"journal":"conc');
    expect((await stage.run(source, { journal: JOURNAL })).lines.at(-1)).toBe('s: 2');
    expect((await stage.run(source, { journal: JOURNAL })).lines).toEqual([]);
    // The machine went down, and a part of the last line never got to the disk.
    appendFileSync(join(stage.directory, JOURNAL), Buffer.from([0, 0, 0, 10]));
    expect((await stage.run(source, { journal: JOURNAL })).summary).toMatchObject({ isFinished: true });
  });
});

/** The replay has the question once, however often it was asked. */
function uniqueQuestion(): (line: string) => boolean {
  let seen = false;
  return (line) => {
    if (!line.startsWith('go on?')) return true;
    const isFirst = !seen;
    seen = true;
    return isFirst;
  };
}

function promptOf(body: unknown): unknown {
  const text = JSON.stringify(body);
  return /(house|garden): color \d\?/.exec(text)?.[0];
}

function wasPrompted(journal: readonly string[], prompt: string): boolean {
  return journal.some((line) => line.includes('"agent_open"') && line.includes(`"prompt":"${prompt}"`));
}

/** No question that a model has answered was asked again. */
function expectNothingTwice(before: readonly string[], asked: readonly string[]): void {
  const answered = before.flatMap((line) => {
    const found = /"ok":true.*"text":"re ((?:house|garden): color \d\?)"/.exec(line);
    return found === null ? [] : [found[1]];
  });
  expect(asked.filter((question) => answered.includes(question))).toEqual([]);
  expect(new Set(asked).size).toBe(asked.length);
}
