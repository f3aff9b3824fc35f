import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import * as build from '../src/language/build-command.ts';
import * as check from '../src/language/check-command.ts';
import * as testCommand from '../src/language/test-command.ts';
import * as run from '../src/run/run-command.ts';
import { type } from './type-command.ts';

/** Real servers are started, once or twice for a command. */
const withinMs = 60_000;
const resolve = createRequire(import.meta.url).resolve;
const filesystem = resolve('@modelcontextprotocol/server-filesystem/dist/index.js');
const everything = resolve('@modelcontextprotocol/server-everything/dist/index.js');

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'concerto-mcp-'));
  const server = (name: string, args: readonly string[]) =>
    `[mcp.${name}]\ntransport = "stdio"\ncommand = ${JSON.stringify(process.execPath)}\nargs = ${JSON.stringify(args)}\n`;
  write(
    'Concerto.toml',
    `[project]\nname = "p"\nversion = "1"\nentry = "main.conc"\n${server('Files', [filesystem, directory])}${server('Everything', [everything, 'stdio'])}`,
  );
  write('note.json', '{"a": 1}');
});

afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

function write(name: string, text: string): string {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
}

const noteIn = () => JSON.stringify(join(directory, 'note.json'));

describe('tools that the block does not declare', () => {
  const program = () => `mcp Files {}
mcp Everything {}
fn main() -> Result<Nil, ToolError> {
  emit("note", Files.read_text_file(${noteIn()}, head: 1)?);
  emit("said", Everything.echo(message: "hi")?);
  Ok(nil)
}
@test fn echoes() { assert_eq(Everything.echo("yo").unwrap(), "Echo: yo"); }
`;

  test(
    'have the types their server gives when it is asked',
    async () => {
      write('main.conc', program());
      expect(await type(run, '--mcp', directory)).toEqual({
        code: 0,
        out: '[emit:note] {"content": {"a": 1}}\n[emit:said] Echo: hi\n',
        err: '',
      });
      expect(await type(testCommand, '--mcp', directory)).toMatchObject({
        code: 0,
        out: expect.stringContaining('1 passed, 0 failed') as string,
      });
    },
    withinMs,
  );

  test(
    'stay with a compiled program',
    async () => {
      write('main.conc', program());
      const compiled = join(directory, 'out.conc-ir');
      expect(await type(build, '--mcp', directory, '-o', compiled)).toMatchObject({ code: 0 });
      expect(await type(run, compiled)).toMatchObject({
        code: 0,
        out: expect.stringContaining('Echo: hi') as string,
      });
    },
    withinMs,
  );

  test('are unknown without asking, and the message says what to do', async () => {
    write('main.conc', program());
    const { code, err } = await type(run, directory);
    expect(code).toBe(1);
    expect(err).toContain('no method `read_text_file` on `Files`');
    expect(err).toContain('let --mcp ask the server');
  });

  test(
    'are checked like any other call',
    async () => {
      write(
        'main.conc',
        `mcp Files {}
fn main() {
  emit("a", Files.read_text_file(1));
  emit("b", Files.read_text_file());
  emit("c", Files.reed_text_file("x"));
  let n: Int = Files.read_text_file("x").unwrap();
  emit("d", n);
}
`,
      );
      const { code, err, out } = await type(run, '--mcp', directory);
      expect({ code, out }).toEqual({ code: 1, out: '' });
      expect(err.split('\n').filter((line) => line.startsWith('error'))).toMatchInlineSnapshot(`
        [
          "error[C0205]: argument \`path\` of \`read_text_file\`: expected \`String\`, found \`Int\`",
          "error[C0211]: \`read_text_file\` takes 1 to 3 arguments, but 0 are given",
          "error[C0251]: no method \`reed_text_file\` on \`Files\`",
          "error[C0205]: the initialiser: expected \`Int\`, found \`Map<String, Any>\`",
        ]
      `);
    },
    withinMs,
  );
});

describe('a tool whose name the language does not have', () => {
  const body = 'fn main() { emit("sum", Everything.get_sum(1, 2)); }\n';

  test(
    'is declared with `_`, checked and called',
    async () => {
      write('main.conc', `mcp Everything { fn get_sum(a: Float, b: Float) -> String; }\n${body}`);
      const sum = { code: 0, out: '[emit:sum] Ok(The sum of 1 and 2 is 3.)\n', err: '' };
      expect(await type(run, directory)).toEqual(sum);
      expect(await type(run, '--mcp', directory)).toEqual(sum);
      write('main.conc', `mcp Everything { fn get_sum(a: String) -> String; }\nfn main() {}\n`);
      const { err } = await type(check, '--mcp', directory);
      expect(err).toContain('the tool `get-sum` takes `Float` for `a`, found `String`');
      expect(err).toContain('the tool `get-sum` also needs `b: Float`');
    },
    withinMs,
  );

  test(
    'is a method when the server is asked',
    async () => {
      write('main.conc', `mcp Everything {}\n${body}`);
      expect((await type(run, '--mcp', directory)).out).toBe('[emit:sum] Ok(The sum of 1 and 2 is 3.)\n');
    },
    withinMs,
  );
});

describe('what a block declares', () => {
  test(
    'must fit the output schema of the server, when it has one',
    async () => {
      write(
        'main.conc',
        `schema Content { content: String }
schema Wrong { content: Int }
schema More { content: String, size: Int }
mcp Files {
  fn read_text_file(path: String) -> Content;
  fn list_directory(path: String) -> Int;
  fn read_file(path: String) -> Wrong;
  fn create_directory(path: String) -> More;
  fn get_file_info(path: String) -> String;
  fn list_allowed_directories() -> Map<String, Any>;
  fn directory_tree(path: String);
}
mcp Everything { fn echo(message: String) -> Int; }
fn main() {}
`,
      );
      const { code, err } = await type(check, '--mcp', directory);
      expect(code).toBe(1);
      expect(err.split('\n').filter((line) => line.startsWith('error'))).toMatchInlineSnapshot(`
        [
          "error[C0253]: the tool \`list_directory\` gives \`Map<String, Any>\`, found \`Int\`",
          "error[C0253]: the tool \`read_file\` gives \`String\` for \`content\`, found \`Int\`",
          "error[C0253]: the tool \`create_directory\` gives no \`size\`",
        ]
      `);
    },
    withinMs,
  );

  test(
    'is what a call sends: the defaults of the block too',
    async () => {
      const call = `Files.edit_file(${noteIn()}, [Edit { oldText: "1", newText: "2" }]`;
      write(
        'main.conc',
        `schema Edit { oldText: String, newText: String }
mcp Files { fn edit_file(path: String, edits: Array<Edit>, dryRun: Bool = true) -> String; }
fn main() {
  emit("dry", ${call}).is_ok());
  emit("after", std::fs::read_file(${noteIn()}));
  emit("wet", ${call}, dryRun: false).is_ok());
  emit("after", std::fs::read_file(${noteIn()}));
}
`,
      );
      expect((await type(run, directory)).out.split('\n')).toEqual([
        '[emit:dry] true',
        '[emit:after] Ok({"a": 1})',
        '[emit:wet] true',
        '[emit:after] Ok({"a": 2})',
        '',
      ]);
    },
    withinMs,
  );

  test(
    'is what a call gives: a text, a value of a schema, or an error that says what came instead',
    async () => {
      write(
        'main.conc',
        `schema Content { content: String }
schema Note { a: Int }
mcp Files {
  fn read_text_file(path: String) -> String;
  fn read_file(path: String) -> Content;
  fn get_file_info(path: String) -> Note;
  fn list_directory(path: String);
}
fn main() {
  emit("text", Files.read_text_file(${noteIn()}));
  emit("schema", Files.read_file(${noteIn()}));
  emit("nothing", Files.list_directory(${JSON.stringify(directory)}));
  match Files.get_file_info(${noteIn()}) { Ok(n) => emit("note", n), Err(e) => emit("error", "\${e.kind}: \${e.message}") }
}
`,
      );
      const { out } = await type(run, directory);
      expect(out.split('\n')).toEqual([
        '[emit:text] Ok({"a": 1})',
        '[emit:schema] Ok(Content {content: {"a": 1}})',
        '[emit:nothing] Ok(nil)',
        expect.stringMatching(
          /^\[emit:error\] schema: Files\.get_file_info gave something else than Note: .*a/,
        ) as string,
        '',
      ]);
    },
    withinMs,
  );
});
