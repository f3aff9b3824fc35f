import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import * as build from '../src/language/build-command.ts';
import * as disasm from '../src/language/disasm-command.ts';
import * as tests from '../src/language/test-command.ts';
import * as run from '../src/run/run-command.ts';
import { type } from './type-command.ts';

let directory = '';
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'concerto-cli-'));
});
afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

function write(path: string, text: string): string {
  const full = join(directory, path);
  mkdirSync(dirname(full), { recursive: true });
  writeFileSync(full, text);
  return full;
}

const PROJECT = '[project]\nname = "p"\nversion = "1"\nentry = "src/main.conc"\n';

describe('run', () => {
  test('--journal: run again with it, a program that has ended gives its result and says nothing twice', async () => {
    const path = write('a.conc', 'fn main() -> Result<Nil, String> { emit("x", std::random::float()); Err("no") }');
    const journal = join(directory, 'journal');
    const first = await type(run, '--journal', journal, path);
    expect({ code: first.code, err: first.err }).toEqual({ code: 1, err: 'error: no\n' });
    const told = `journal: replayed 4 records of ${journal}: the program had ended\nerror: no\n`;
    for (const flag of ['--journal', '--replay']) {
      expect(await type(run, flag, journal, path)).toEqual({ code: 1, out: '', err: told });
      expect(await type(run, flag, journal, '--replay-emits', path)).toEqual({ code: 1, out: first.out, err: told });
    }
    const other = write('b.conc', 'fn main() { emit("x", 1); }');
    const changed = await type(run, '--journal', journal, other);
    expect({ code: changed.code, out: changed.out }).toEqual({ code: 1, out: '' });
    expect(changed.err).toContain('or the program has changed since');
  });

  test('--journal and --replay exclude each other, and --replay-emits needs one of them', async () => {
    const path = write('a.conc', 'fn main() { emit("x", 1); }');
    const journal = join(directory, 'journal');
    await expect(run.run(['--journal', journal, '--replay', journal, path])).rejects.toThrow('give one of them');
    await expect(run.run(['--replay-emits', path])).rejects.toThrow('needs --journal or --replay');
    expect((await type(run, '--replay', journal, path)).err).toMatch(/^error: cannot open the journal /);
  });

  test('each emit is a line; printed text is as it is', async () => {
    const path = write('a.conc', 'fn main() { emit("x", [1, "a"]); print("p"); println("q", 2); emit("y"); }');
    expect(await type(run, path)).toEqual({ code: 0, out: '[emit:x] [1, a]\npq 2\n[emit:y] nil\n', err: '' });
  });

  test('--json: one object a line and nothing else on standard output', async () => {
    const path = write('a.conc', 'fn main() { emit("x", {"b": 1.0, "a": Some(2)}); println("text"); }');
    const { code, out, err } = await type(run, path, '--json');
    expect({ code, out, err }).toEqual({
      code: 0,
      out: '{"channel":"x","payload":{"b":1.0,"a":2}}\n',
      err: 'text\n',
    });
  });

  test('a directory runs the entry of its manifest', async () => {
    write('Concerto.toml', PROJECT);
    write('src/main.conc', 'mod part;\nfn main() { emit("n", part::n()); }');
    write('src/part.conc', 'pub fn n() -> Int { 7 }');
    expect((await type(run, directory)).out).toBe('[emit:n] 7\n');
  });

  test('beside the manifest of a server alone a program runs, and the folder has none to run', async () => {
    write('Concerto.toml', '[agents.a]\ncommand = "a"\n');
    const path = write('a.conc', 'fn main() { emit("n", 7); }');
    expect(await type(run, path)).toEqual({ code: 0, out: '[emit:n] 7\n', err: '' });
    await expect(run.run([directory])).rejects.toThrow('has no [project]: name a program');
  });

  test('a file that is no program is one error', async () => {
    const text = write('notes.md', '# Notes\n\n- one "thing\n- and `another`: (x) => {}\n');
    const binary = write('a.conc', 'fn main() { \0\u0001\u0002 }');
    for (const path of [text, binary]) {
      const { code, out, err } = await type(run, path);
      expect({ code, out }).toEqual({ code: 1, out: '' });
      expect(err.match(/error/g)).toHaveLength(2);
      expect(err).toMatch(/^error\[C0505\]: .* is no program/);
      expect(err).toContain('1 error\n');
    }
  });

  test('a message that nothing handles is shown whole, with its type', async () => {
    write('Concerto.toml', `[agents.talker]\ncommand = "node"\nargs = ["talker.mjs"]\n`);
    const long = 'x'.repeat(500);
    const messages = [
      { type: 'metric', text: `${long}\nend` },
      { type: 'result', text: 'done' },
    ];
    const lines = messages.map((message) => `console.log(${JSON.stringify(JSON.stringify(message))});`);
    write('talker.mjs', `process.stdin.once('data', () => { ${lines.join(' ')} process.exit(0); });`);
    const path = write(
      'a.conc',
      'agent Talker { connector: "talker" }\nfn main() { let r = listen Talker.execute("x") { "progress" => |p| { } }; emit("ok", r.is_ok()); }',
    );
    const { out } = await type(run, path);
    expect(out).toContain(`[emit:listen:unhandled] {"type": metric, "text": ${long}\nend}\n`);
  });

  test('a fault is shown with its source, a caret and the calls that led there', async () => {
    const path = write('a.conc', 'fn half(n: Int) -> Int {\n    10 / n\n}\nfn main() {\n    emit("x", half(0));\n}\n');
    const { code, out, err } = await type(run, path);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain('runtime error: division by zero');
    expect(err).toContain('2 |     10 / n');
    expect(err).toMatch(/\n +\| {5}\^\n/);
    expect(err).toMatch(/at half \(.*a\.conc:2:5\)\n +at main \(.*a\.conc:5:15\)/);
    expect(err).not.toContain('\u001b[');
  });

  test('an endless recursion does not print ten thousand calls', async () => {
    const { code, err } = await type(run, write('a.conc', 'fn f(n: Int) -> Int { 1 + f(n) }\nfn main() { f(1); }'));
    expect(code).toBe(1);
    expect(err.split('\n').length).toBeLessThan(40);
    expect(err).toMatch(/… \d+ more/);
  });

  test('main that returns an error fails with its text', async () => {
    const path = write('a.conc', 'fn main() -> Result<Int, String> { emit("a", 1); Err("no such thing") }');
    expect(await type(run, path)).toEqual({ code: 1, out: '[emit:a] 1\n', err: 'error: no such thing\n' });
  });

  test('a panic is emitted and fails', async () => {
    const { code, out, err } = await type(run, write('a.conc', 'fn main() { panic("out of cheese"); }'));
    expect(code).toBe(1);
    expect(out).toMatch(/^\[emit:panic\] .*out of cheese.*\n$/);
    expect(err).toContain('panic: out of cheese');
  });

  test('errors stop the run before it begins', async () => {
    const { code, out, err } = await type(run, write('a.conc', 'emit("a", 1);\nfn main() { emit("x", missing); }'));
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain('missing');
  });

  test('a file without anything to run is an error', async () => {
    const { code, err } = await type(run, write('a.conc', 'pub fn f() -> Int { 1 }'));
    expect(code).toBe(1);
    expect(err).toContain('nothing to run');
  });

  test('--input answers in order, then nobody does', async () => {
    const path = write('a.conc', 'async fn main() { for _ in 0..3 { emit("got", await emit("ask", "?")); } }');
    const answers = write('answers.jsonl', '"Ann"\n\n{"city": "Oslo"}\n');
    expect((await type(run, path, '--input', answers)).out).toBe(
      '[emit:ask] ?\n[emit:got] Ann\n[emit:ask] ?\n[emit:got] {"city": Oslo}\n[emit:ask] ?\n[emit:got] nil\n',
    );
  });

  test('--input may begin with a byte order mark, and its lines end as on Windows', async () => {
    const path = write('a.conc', 'async fn main() { emit("got", await emit("ask", "?")); }');
    const answers = write('answers.jsonl', '\uFEFF"Ann"\r\n');
    expect((await type(run, path, '--input', answers)).out).toBe('[emit:ask] ?\n[emit:got] Ann\n');
  });

  test('answers that are not JSON are bad usage, and name the line', async () => {
    const path = write('a.conc', 'fn main() {}');
    await expect(type(run, path, '--input', write('answers', '1\nAnn\n'))).rejects.toThrow('answers:2');
    await expect(type(run, path, '--input', join(directory, 'none'))).rejects.toThrow('cannot read');
  });

  test('a model without its key fails, and --mock needs none', async () => {
    write('Concerto.toml', `${PROJECT}[connections.c]\nprovider = "openai"\napi_key_env = "A_KEY_NOBODY_HAS_SET"\n`);
    write(
      'src/main.conc',
      'model M { provider: c, base: "m" }\nfn main() { emit("t", M.execute("hi").unwrap().text); }',
    );
    const failed = await type(run, directory);
    expect(failed.code).toBe(1);
    expect(failed.err).toContain('A_KEY_NOBODY_HAS_SET');
    expect((await type(run, directory, '--mock')).out).toBe('[emit:t] [mock response to: hi]\n');
  });
});

describe('build and disasm', () => {
  test('what was built runs without its sources and manifest', async () => {
    write('Concerto.toml', `${PROJECT}[connections.c]\nprovider = "mock"\n`);
    write('src/main.conc', 'model M { provider: c, base: "m" }\nfn main() { emit("t", M("hi").unwrap().model); }');
    const out = join(directory, 'out.conc-ir');
    expect((await type(build, directory, '-o', out)).code).toBe(0);
    rmSync(join(directory, 'src'), { recursive: true });
    rmSync(join(directory, 'Concerto.toml'));
    expect((await type(run, out)).out).toBe('[emit:t] m\n');
  });

  test('the default output is beside the program; errors write nothing', async () => {
    const path = write('a.conc', 'fn main() { emit("x", 1); }');
    expect(await type(build, path)).toEqual({
      code: 0,
      out: '',
      err: expect.stringMatching(/^wrote .*a\.conc-ir\n$/) as string,
    });
    expect(existsSync(join(directory, 'a.conc-ir'))).toBe(true);
    const bad = write('b.conc', 'fn main() { missing }');
    expect((await type(build, bad)).code).toBe(1);
    expect(existsSync(join(directory, 'b.conc-ir'))).toBe(false);
  });

  test('a damaged file is refused in one line', async () => {
    const { code, err } = await type(run, write('a.conc-ir', '{"format":"conc-ir","version":99}'));
    expect(code).toBe(1);
    expect(err).toMatch(/^error: .*version 99.*\n$/);
  });

  test('disasm shows functions and instructions of either form', async () => {
    const path = write('a.conc', 'fn twice(n: Int) -> Int { n * 2 }\nfn main() { emit("x", twice(4)); }');
    const shown = await type(disasm, path);
    expect(shown.out).toContain('twice(n: Int)');
    expect(shown.out).toContain('MulInt');
    await type(build, path);
    expect((await type(disasm, join(directory, 'a.conc-ir'))).out).toBe(shown.out);
  });
});

describe('test', () => {
  test('tests on one line are as many as they are', async () => {
    const path = write('a.conc', '@test fn one() { assert(true); } @test fn two() { assert(false); }');
    expect(await type(tests, path)).toMatchObject({
      code: 1,
      out: expect.stringContaining('1 passed, 1 failed') as string,
    });
  });

  test('a line for each test, the sum, and why one failed', async () => {
    const path = write(
      'a.conc',
      '@test\nfn good() { assert_eq(1 + 1, 2); }\n@test("sums :: bad")\nfn bad() { assert_eq([1, 2], [1, 3]); }\n@test\n@expect_fail\nfn fails() { assert(false); }\n',
    );
    const { code, out } = await type(tests, path);
    expect(code).toBe(1);
    expect(out).toContain('  PASS good\n  FAIL sums :: bad\n  PASS fails (expected failure)\n');
    expect(out).toContain('2 passed, 1 failed');
    expect(out).toMatch(/left: +\[1, 2\]\n.*right: +\[1, 3\]/);
    expect(out).toMatch(/sums :: bad \(.*a\.conc:4\)/);
  });

  test('an agent that a test does not mock is a session, as in a run: rules and budgets of the manifest count', async () => {
    write(
      'Concerto.toml',
      `[agents.asks]
command = "node"
args = ["asks.mjs"]
[agents.asks.budget]
turns = 2
[[agents.asks.rules]]
tool = "Read"
decide = "deny"
reason = "not today"
`,
    );
    write(
      'asks.mjs',
      `import { createInterface } from 'node:readline';
const say = (message) => console.log(JSON.stringify(message));
createInterface({ input: process.stdin }).on('line', (line) => {
  if (!line.startsWith('{')) return say({ type: 'approval', id: 'a', description: 'Read it', tool: 'Read' });
  const { value, reason } = JSON.parse(line);
  say({ type: 'result', text: value + ', ' + reason });
});
`,
    );
    const path = write(
      'a.conc',
      `agent Asks { connector: "asks" }
@test
fn twice_and_no_more() {
    assert_eq(Asks.execute("one").unwrap(), "no, not today");
    assert_eq(Asks.execute("two").unwrap(), "no, not today");
    assert(Asks.execute("three").unwrap_err().message.contains("budget"));
}
@test
fn mocked() {
    mock Asks { script: [{"type": "result", "text": "mock"}] }
    assert_eq(Asks.execute("one").unwrap(), "mock");
}
`,
    );
    const { code, out } = await type(tests, path);
    expect(out).toContain('  PASS twice_and_no_more\n  PASS mocked\n');
    expect(code).toBe(0);
  });

  test('while a test only sleeps the time it waits for is there, in the order of the sleeps; its clock says so', async () => {
    const path = write(
      'a.conc',
      `hashmap seen: HashMap<String, String> = HashMap::new();
async fn later(what: String, after: String) -> String {
    sleep(after);
    seen.set("all", (seen.get("all") ?? "") + what);
    what
}
@test
async fn days() {
    let before = now();
    assert_eq(await (later("late ", "2d"), later("soon ", "1h")), ("late ", "soon "));
    assert_eq(seen.get("all"), Some("soon late "));
    assert_eq(every("1d", |n| n < 4), 5);
    let took = (now() - before) / 3600000;
    assert(took >= 144 && took < 145, "took \${took} hours");
}`,
    );
    const { code, out } = await type(tests, path);
    expect(out).toContain('PASS days');
    expect(code).toBe(0);
  });

  test('an agent at work takes its own time while the test sleeps beside it', async () => {
    write('Concerto.toml', '[agents.slow]\ncommand = "node"\nargs = ["slow.mjs"]\n');
    write(
      'slow.mjs',
      `process.stdin.once('data', () => setTimeout(() => console.log('{"type":"result","text":"done"}'), 300));
`,
    );
    const path = write(
      'a.conc',
      `agent Slow { connector: "slow", timeout: 60 }
async fn call() -> String { Slow.execute("go").unwrap() }
async fn wait() -> String { sleep("2h"); "slept" }
@test
async fn beside() { assert_eq(await (call(), wait()), ("done", "slept")); }`,
    );
    const { code, out } = await type(tests, path);
    expect(out).toContain('PASS beside');
    expect(code).toBe(0);
  });

  test('emits are not shown, unless --debug asks for them', async () => {
    const path = write('a.conc', '@test\nfn t() { emit("x", 1); println("y"); }');
    const quiet = await type(tests, path);
    expect(quiet.out + quiet.err).not.toContain('[emit:');
    expect((await type(tests, path, '--debug')).err).toContain('[emit:x] 1\ny\n');
  });

  test('--filter and --json', async () => {
    const path = write('a.conc', '@test("alpha one")\nfn a() { }\n@test("beta two")\nfn b() { assert(false, "no"); }');
    const { code, out } = await type(tests, path, '--filter', 'beta', '--json');
    expect(code).toBe(1);
    expect(
      out
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual([
      expect.objectContaining({ type: 'test', name: 'beta two', status: 'fail', line: 4 }),
      { type: 'summary', passed: 0, failed: 1 },
    ]);
  });

  test('no tests, or none that match, is a note and exit code 0', async () => {
    const none = await type(tests, write('a.conc', 'fn main() {}'));
    expect(none).toMatchObject({ code: 0, out: 'note: no tests found\n' });
    const path = write('b.conc', '@test\nfn t() {}');
    expect(await type(tests, path, '--filter', 'zzz')).toMatchObject({ code: 0, out: 'note: no test matches "zzz"\n' });
  });

  test('a directory: the program with its modules, and every other file, each test once', async () => {
    write('Concerto.toml', PROJECT);
    write('src/main.conc', 'mod part;\nfn main() { emit("x", part::f()); }\n@test\nfn in_main() {}');
    write('src/part.conc', 'pub fn f() -> Int { 1 }\n@test\nfn in_part() { assert_eq(f(), 1); }');
    write('tests/more.conc', '@test\nfn in_more() {}');
    const { code, out } = await type(tests, directory);
    expect(code).toBe(0);
    expect(out.match(/PASS \w+/g)).toEqual(['PASS in_part', 'PASS in_main', 'PASS in_more']);
    expect(out).toContain('3 passed, 0 failed');
  });

  test('a program that does not compile is in the sum, and no word is said about tests that were not found', async () => {
    const broken = write('b.conc', '@test\nfn b() { assert(1 + true); }');
    const alone = await type(tests, broken);
    expect(alone.code).toBe(1);
    expect(alone.out).toBe(`\n0 passed, 0 failed, 1 program not tested because of errors: ${broken}\n`);
    write('a.conc', '@test\nfn a() { }');
    expect((await type(tests, directory)).out).toContain(
      `1 passed, 0 failed, 1 program not tested because of errors: `,
    );
    const json = (await type(tests, directory, '--json')).out.trim().split('\n').at(-1) ?? '';
    expect(JSON.parse(json)).toEqual({ type: 'summary', passed: 1, failed: 0, broken: [broken] });
  });

  test('a file that does not compile fails the run, the others are still tested', async () => {
    const bad = write('a.conc', '@test\nfn t() { missing; }');
    const good = write('b.conc', '@test\nfn u() {}');
    const { code, out, err } = await type(tests, bad, good);
    expect(code).toBe(1);
    expect(out).toContain('PASS u');
    expect(err).toContain('missing');
  });
});
