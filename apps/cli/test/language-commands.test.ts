import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import * as check from '../src/language/check-command.ts';
import * as explain from '../src/language/explain-command.ts';
import * as fmt from '../src/language/fmt-command.ts';
import * as create from '../src/language/new-command.ts';
import * as schema from '../src/language/schema-command.ts';
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

function read(path: string): string {
  return readFileSync(join(directory, path), 'utf8');
}

interface Found {
  readonly code: string;
  readonly severity: string;
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  readonly endColumn: number;
}

async function findings(...argv: string[]): Promise<{ code: number; list: Found[] }> {
  const { code, out } = await type(check, '--json', ...argv);
  return { code, list: JSON.parse(out) as Found[] };
}

const PROJECT = '[project]\nname = "p"\nversion = "1"\nentry = "src/main.conc"\n';

describe('check', () => {
  test('a clean program: an empty array and exit code 0', async () => {
    expect(await findings(write('a.conc', 'fn main() { emit("x", 1); }'))).toEqual({ code: 0, list: [] });
  });

  test('a folder without programs is told as such', async () => {
    expect(await type(check, directory)).toMatchObject({
      code: 0,
      err: expect.stringContaining('no programs') as string,
    });
  });

  test('a program of [programs] that is not there is told at its table', async () => {
    const manifest = '[project]\nname = "p"\nversion = "1"\nentry = "a.conc"\n[programs.other]\nentry = "b.conc"\n';
    write('Concerto.toml', manifest);
    write('a.conc', 'fn main() { emit("x", 1); }');
    expect(await findings(directory)).toMatchObject({
      code: 0,
      list: [{ severity: 'warning', line: 5, message: expect.stringContaining('`b.conc`') as string }],
    });
  });

  test('an error has its place in characters, and exit code 1', async () => {
    const path = write('a.conc', 'fn main() {\n    emit("😀", missing);\n}');
    expect(await findings(path)).toMatchObject({
      code: 1,
      list: [{ severity: 'error', line: 2, column: 15, endLine: 2, endColumn: 22 }],
    });
  });

  test('people get source and caret on standard error', async () => {
    const { out, err } = await type(check, write('a.conc', 'fn main() { emit("x", missing); }'));
    expect(out).toBe('');
    expect(err).toMatch(/error\[C\d{4}\]: .*missing/);
    expect(err).toContain('^^^^^^^');
    expect(err).toContain('1 error');
  });

  test('warnings alone are exit code 0', async () => {
    write('Concerto.toml', `${PROJECT}[agents.a]\ncommand = "a"\n`);
    const { code, list } = await findings(write('src/main.conc', 'host A { connector: "a" }\nfn main() {}'));
    expect({ code, severities: list.map(({ severity }) => severity) }).toEqual({ code: 0, severities: ['warning'] });
  });

  test('errors of the manifest are there too, at the line of the key', async () => {
    write('Concerto.toml', `${PROJECT}[agents.a]\ncomand = "x"\n`);
    write('src/main.conc', 'fn main() {}');
    const { code, list } = await findings(directory);
    expect(code).toBe(1);
    expect(list.find(({ line }) => line === 6)?.file).toMatch(/Concerto\.toml$/);
  });

  test('the manifest of a server need not be a project', async () => {
    write('Concerto.toml', '[agents.a]\ncommand = "a"\n');
    const path = write('a.conc', 'agent A { connector: "a" }\nfn main() { emit("r", A.execute("x")); }');
    expect((await type(check, path)).code).toBe(0);
    expect((await type(check, directory)).err).toContain('no problems');
  });

  test('in a directory modules are checked with their program, other files alone', async () => {
    write('Concerto.toml', PROJECT);
    write('src/main.conc', 'mod part;\nfn main() { emit("x", part::f()); }');
    write('src/part.conc', 'pub fn f() -> Int { nothing }');
    write('tests/other.conc', 'fn main() { alone }');
    const { list } = await findings(directory);
    expect(
      list
        .filter(({ severity }) => severity === 'error')
        .map(({ file }) => file.slice(directory.length + 1))
        .sort(),
    ).toEqual(['src/part.conc', 'tests/other.conc']);
  });

  test('a missing path is bad usage', async () => {
    await expect(type(check, join(directory, 'none.conc'))).rejects.toThrow('no such file or directory');
  });

  test('--fix rewrites old spellings in program and manifest', async () => {
    write('Concerto.toml', `${PROJECT}[hosts.a]\ncommand = "x"\n`);
    write('src/main.conc', 'host A { connector: "a" }\nconnect c { provider: "mock" }\nfn main() {}\n');
    const { code } = await type(check, '--fix', directory);
    expect(code).toBe(0);
    expect(read('src/main.conc')).toBe('agent A { connector: "a" }\n\nfn main() {}\n');
    expect(read('Concerto.toml')).toBe(`${PROJECT}[agents.a]\ncommand = "x"\n\n[connections.c]\nprovider = "mock"\n`);
  });

  test('--fix leaves a connection where the manifest has another one of that name', async () => {
    const manifest = `${PROJECT}[connections.c]\nprovider = "mock"\ndefault_model = "m"\n`;
    write('Concerto.toml', manifest);
    write(
      'src/main.conc',
      'connect c { provider: "mock" }\ndb x: Database<String, Int> = Database::new();\nfn main() {}\n',
    );
    expect((await type(check, '--fix', directory)).code).toBe(0);
    expect(read('Concerto.toml')).toBe(manifest);
    expect(read('src/main.conc')).toBe(
      'connect c { provider: "mock" }\nhashmap x: HashMap<String, Int> = HashMap::new();\nfn main() {}\n',
    );
  });

  test('--fix says once in the manifest what several programs say', async () => {
    write('Concerto.toml', `${PROJECT}[hosts.a]\ncommand = "x"\n`);
    write('src/main.conc', 'connect c { provider: "mock" }\nfn main() {}\n');
    write('src/other.conc', 'connect c { provider: "mock" }\nfn main() {}\n');
    write('src/third.conc', 'connect c { provider: "mock", default_model: "m" }\nfn main() {}\n');
    expect((await type(check, '--fix', directory)).code).toBe(0);
    expect(read('Concerto.toml')).toBe(`${PROJECT}[agents.a]\ncommand = "x"\n\n[connections.c]\nprovider = "mock"\n`);
    expect([read('src/main.conc'), read('src/other.conc')]).toEqual(['\nfn main() {}\n', '\nfn main() {}\n']);
    expect(read('src/third.conc')).toContain('connect c');
  });
});

describe('check --mcp', () => {
  const everything = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js');
  const project = (command: string, args: readonly string[]) => {
    const server = `[mcp.everything]\ntransport = "stdio"\ncommand = ${JSON.stringify(command)}\nargs = ${JSON.stringify(args)}\n`;
    write('Concerto.toml', `[project]\nname = "p"\nversion = "1"\nentry = "main.conc"\n${server}`);
  };
  const program = `mcp everything {
  @describe("echoes") fn echo(message: String) -> String;
  @describe("misspelt") fn ecko(message: String) -> String;
}
mcp broken { command: "no-such-program-anywhere" }
fn main() {
  emit("a", everything.call("get-sum", {a: 1, b: "two"}));
  emit("b", everything.call("get-sun", {a: 1, b: 2}));
  emit("c", everything.call("get-sum", {a: 1, c: 2}));
  emit("d", everything.call("get-sum", {a: 1, b: 2.5}));
  emit("e", everything.echo("hi"));
}
`;

  test('the tools a server really has are what a program is checked against', async () => {
    project(process.execPath, [everything, 'stdio']);
    write('main.conc', program);
    const { code, err } = await type(check, '--mcp', directory);
    expect(code).toBe(1);
    const told = err.split('\n').filter((line) => line.startsWith('error') || line.includes('help:'));
    expect(told.join('\n')).toMatchInlineSnapshot(`
      "error[C0253]: the MCP server \`everything\` has no tool \`ecko\`
        = help: did you mean \`echo\`?
      error[C0253]: the MCP server \`broken\` could not be asked for its tools
        = help: MCP server "broken": spawn no-such-program-anywhere ENOENT
      error[C0205]: \`b\`: expected \`Float\`, found \`String\`
        = help: read it with \`.parse_float()\`, or \`… as Float\` where it must be one
      error[C0253]: the MCP server \`everything\` has no tool \`get-sun\`
        = help: did you mean \`get-sum\`?
      error[C0253]: the tool \`get-sum\` also needs \`b: Float\`
      error[C0253]: the tool \`get-sum\` has no argument \`c\`
        = help: did you mean \`a\`?"
    `);
  }, 60_000);

  test('what a block declares must fit', async () => {
    project(process.execPath, [everything, 'stdio']);
    write(
      'main.conc',
      `mcp everything {
  @describe("echoes") fn echo(message: Int, loud: Bool) -> String;
}
fn main() { emit("a", everything.echo(1, true)); }
`,
    );
    const { code, err } = await type(check, '--mcp', directory);
    expect(code).toBe(1);
    expect(err).toContain('the tool `echo` takes `String` for `message`, found `Int`');
    expect(err).toContain('the tool `echo` has no argument `loud`');
  }, 60_000);

  test('a server that says nothing is given up', async () => {
    project(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
    write('main.conc', 'mcp everything { timeout: 0.5 }\nfn main() { emit("a", everything.call("echo")); }\n');
    const { code, err } = await type(check, '--mcp', directory);
    expect(code).toBe(1);
    expect(err).toContain('the MCP server `everything` could not be asked for its tools');
  }, 60_000);

  test('without the flag no server is started', async () => {
    project('no-such-program-anywhere', []);
    write('main.conc', program);
    expect(await type(check, directory)).toMatchObject({ code: 0 });
  });
});

describe('fmt', () => {
  test('formats in place, and then is content', async () => {
    const path = write('a.conc', 'fn main(){emit("x",1);}');
    expect(await type(fmt, '--check', path)).toMatchObject({
      code: 1,
      out: expect.stringContaining('a.conc') as string,
    });
    expect(read('a.conc')).toBe('fn main(){emit("x",1);}');
    expect(await type(fmt, path)).toMatchObject({ code: 0 });
    expect(read('a.conc')).toBe('fn main() { emit("x", 1); }\n');
    expect(await type(fmt, '--check', path)).toMatchObject({ code: 0, out: '' });
  });

  test('leaves a file with syntax errors alone, and does the others', async () => {
    write('bad.conc', 'fn main( {');
    write('good.conc', 'fn  main() {}');
    expect(await type(fmt, directory)).toMatchObject({ code: 1, err: expect.stringContaining('bad.conc:1') as string });
    expect(read('bad.conc')).toBe('fn main( {');
    expect(read('good.conc')).toBe('fn main() {}\n');
  });
});

describe('new', () => {
  test('makes a project without problems in the one style', async () => {
    const path = join(directory, 'my demo');
    expect(await type(create, path)).toMatchObject({ code: 0 });
    expect(await findings(path)).toEqual({ code: 0, list: [] });
    expect(await type(fmt, '--check', path)).toMatchObject({ code: 0 });
    expect(read('my demo/Concerto.toml')).toContain('name = "my-demo"');
  });

  test('says what to type next, in a shell', async () => {
    const { out } = await type(create, join(directory, "Ada's demo"));
    expect(out).toContain(`cd '${directory}/Ada'\\''s demo' && `);
    expect(out).toMatch(/concerto check && .*concerto test && .*concerto run\n$/);
  });

  test.each(['openai', 'anthropic', 'google', 'ollama'])('with %s too', async (provider) => {
    expect(await type(create, '-p', provider, directory)).toMatchObject({ code: 0 });
    expect(await findings(directory)).toEqual({ code: 0, list: [] });
  });

  test('touches nothing that exists', async () => {
    write('README.md', 'mine');
    await type(create, directory);
    expect(read('README.md')).toBe('mine');
    expect(await type(create, directory)).toMatchObject({
      code: 1,
      err: expect.stringContaining('already exists') as string,
    });
    expect(existsSync(join(directory, 'src/main.conc'))).toBe(true);
  });
});

describe('explain', () => {
  test('says what a code means, however it is written', async () => {
    const whole = await type(explain, 'C0210');
    expect(whole.out).toMatch(/^C0210: `await` in a function that is not async\n\n[^]*Instead:\n\n {4}async fn main/);
    expect(await type(explain, 'c210')).toEqual(whole);
    expect((await type(explain)).out).toContain('C0003  A text or comment that is never closed\n');
  });

  test('a code that does not exist is bad usage', async () => {
    await expect(explain.run(['C9999'])).rejects.toThrow('there is no error code C9999');
  });
});

describe('schema', () => {
  test('is JSON that names every table of the manifest, and what keys are for', async () => {
    const { code, out } = await type(schema);
    const printed = JSON.parse(out);
    expect(code).toBe(0);
    expect(Object.keys(printed.properties)).toEqual(expect.arrayContaining(['project', 'agents', 'server']));
    const agent = printed.properties.agents.additionalProperties;
    expect(agent.properties.command).toMatchObject({ type: 'string', description: 'The program to start.' });
    expect(agent.additionalProperties).toBe(false);
  });
});
