import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readManifest } from '@concerto/language';
import { AgentCommand, parseAgentLine, StartSession } from '@concerto/protocol';
import { openApiDocument } from '@concerto/server';
import { transform } from 'esbuild';
import { describe, expect, test } from 'vitest';
import { parseArguments } from '../src/arguments.ts';
import { commands } from '../src/commands.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

type Block = { readonly at: string; readonly language: string; readonly text: string };

/** Every page that people read, with every block of it. */
const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'editors/vscode/README.md',
  'clients/python/README.md',
  ...within('docs'),
  ...within('docs/guide').filter((name) => !name.endsWith('error-codes.md')),
  ...within('docs/adr'),
  ...readdirSync(join(root, 'packages')).flatMap((name) => within(`packages/${name}`)),
  ...readdirSync(join(root, 'examples')).flatMap((name) => (name.includes('.') ? [] : within(`examples/${name}`))),
];

function within(folder: string): readonly string[] {
  return readdirSync(join(root, folder)).flatMap((name) => (name.endsWith('.md') ? [`${folder}/${name}`] : []));
}

const blocks = pages.flatMap((page): Block[] => {
  const text = readFileSync(join(root, page), 'utf8');
  return [...text.matchAll(/^```(\S*)\n([\s\S]*?)^```$/gm)].map((match) => ({
    at: `${page}:${text.slice(0, match.index).split('\n').length}`,
    language: match[1] ?? '',
    text: match[2] ?? '',
  }));
});

const of = (...languages: readonly string[]): [string, Block][] =>
  blocks.filter(({ language }) => languages.includes(language)).map((block) => [block.at, block]);

/** Who checks the blocks of a language: here, or the test that is named. What nobody checks does not get in. */
const checked: Readonly<Record<string, string>> = {
  toml: 'here: as a manifest',
  sh: 'here: commands, flags, scripts and calls that exist; README’s are run by tests/e2e/readme.test.ts',
  console: 'here, the lines that are typed',
  http: 'here: a call that exists, with a body of its shape',
  ndjson: 'here: lines of JSON; of the agent wire, with their shapes',
  json: 'here: JSON',
  ts: 'here: types',
  tsx: 'here: types',
  js: 'here: syntax; tests/e2e/packages.test.ts runs them from the tarballs',
  python: 'here: syntax; run by tests/e2e/readme.test.ts and python-client.test.ts',
  concerto: 'tests/e2e/docs.test.ts',
  lua: 'nobody: there is no such editor here',
  text: 'nobody: a drawing, or a file of another program',
};

test('every block says what it is, and somebody checks it', () => {
  const nobodys = blocks.filter(({ language }) => checked[language] === undefined);
  expect(nobodys.map(({ at, language }) => `${at} ${language}`)).toEqual([]);
  expect(blocks.length).toBeGreaterThan(80);
});

test.each(of('toml'))('%s is part of a manifest', (_at, { text }) => {
  const { diagnostics } = readManifest(inPlace(text), 'Concerto.toml');
  // Helix has its settings in TOML too: nothing else is wrong with them here.
  const isHelix = text.includes('[language-server.concerto]');
  const problems = diagnostics.filter(({ message }) => !(isHelix && message.startsWith('unknown key')));
  expect(problems.map(({ message }) => message)).toEqual([]);
});

/** What a part says more of stands in the manifest that it is a part of. */
function inPlace(text: string): string {
  const isTold = text.includes('[agents.claude]');
  const around = [
    !isTold && text.includes('[agents.claude.') ? '[agents.claude]\ncommand = "claude"\n' : '',
    text.includes('"main"') && !text.includes('[connections.') ? '[connections.main]\nprovider = "mock"\n' : '',
  ].join('');
  const whole =
    isTold && !text.includes('command =') ? text.replace('[agents.claude]', '$&\ncommand = "claude"') : text;
  return around + whole;
}

test.each(of('json'))('%s is JSON', (_at, { text }) => {
  expect(JSON.parse(text)).toBeTypeOf('object');
});

test.each(of('ndjson'))('%s has a message in each line', (_at, { text }) => {
  const lines = text.startsWith('→') ? text.split(/^(?=[→←])/m) : text.trim().split('\n');
  expect(lines.flatMap(lineProblem)).toEqual([]);
});

/** `→` goes to an agent, `←` comes from it. */
function lineProblem(line: string): readonly string[] {
  // What is said beside it stands far to its right.
  const json = line.replace(/^[→←] /, '').replace(/\s{3,}\S.*$/s, (end) => (/^\s*["}\]]/.test(end) ? end : ''));
  const value: unknown = JSON.parse(json);
  if (line.startsWith('→')) return AgentCommand.safeParse(value).success ? [] : [`no command: ${line}`];
  if (!line.startsWith('←')) return [];
  const read = parseAgentLine(JSON.stringify(value));
  return read.kind === 'message' && read.problem === undefined ? [] : [`no message: ${line}`];
}

const { paths } = JSON.parse(JSON.stringify(openApiDocument('0'))) as { paths: Record<string, object> };

function callProblem(method: string, path: string): readonly string[] {
  const known = Object.entries(paths).find(([template]) =>
    new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path),
  );
  return Object.keys(known?.[1] ?? {}).includes(method.toLowerCase()) ? [] : [`there is no ${method} ${path}`];
}

test.each(of('http'))('%s is a call', (_at, { text }) => {
  const [, method = '', path = '', body = ''] = /^(\w+) (\S+) ([\s\S]*)$/.exec(text) ?? [];
  expect(callProblem(method, path)).toEqual([]);
  expect(StartSession.safeParse(JSON.parse(body)).error).toBeUndefined();
});

test.each(of('sh', 'console'))('%s: what is typed exists, with these flags', async (_at, { language, text }) => {
  const typed = typedLines(language, text).flatMap(simpleCommands);
  expect((await Promise.all(typed.map(commandProblem))).flat()).toEqual([]);
});

const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> };

/** Programs of others are not ours to check. */
async function commandProblem(words: readonly string[]): Promise<readonly string[]> {
  const [program, ...rest] = words;
  switch (program) {
    case 'npm':
      return scriptProblem(rest);
    case 'curl':
      return callProblem(methodOf(words), pathOf(words));
    case 'concerto':
      return await concertoProblem(rest);
    case 'npx':
      return rest[0] === 'concerto' ? await concertoProblem(rest.slice(1)) : [];
    default:
      return [];
  }
}

function scriptProblem([verb = '', name = '']: readonly string[]): readonly string[] {
  if (verb === 'install' || verb === 'i') return [];
  const script = verb === 'run' ? name : verb;
  return scripts[script] === undefined ? [`there is no script ${script}`] : [];
}

function methodOf(words: readonly string[]): string {
  const at = words.indexOf('-X');
  if (at !== -1) return words[at + 1] ?? '';
  return words.includes('--data-binary') || words.includes('-d') ? 'POST' : 'GET';
}

async function concertoProblem([name = 'serve', ...argv]: readonly string[]): Promise<readonly string[]> {
  const row = commands[name];
  if (row === undefined) return [`there is no concerto ${name}`];
  const { spec, specOf } = await row.load();
  try {
    const [verb] = parseArguments(specOf?.(argv) ?? spec, argv).positionals;
    // A command with subcommands lists them in its help.
    const isListed = verb === undefined || !spec.usage.includes('SUBCOMMAND') || (spec.details ?? '').includes(verb);
    return isListed ? [] : [`there is no concerto ${name} ${verb}`];
  } catch (cause) {
    return [`concerto ${name} ${argv.join(' ')}: ${String(cause)}`];
  }
}

function typedLines(language: string, text: string): readonly string[] {
  const whole = text.replaceAll(/\\\n\s*/g, ' ');
  const lines = whole.split('\n').filter((line) => language === 'sh' || line.startsWith('$ '));
  return lines
    .map((line) =>
      line
        .replace(/^\$ /, '')
        .replace(/(^|\s)#.*$/, '')
        .trim(),
    )
    .filter((line) => line !== '');
}

/** The words of each command of a line; what is quoted is one word, and what is in `$( )` is a command too. */
function simpleCommands(line: string): readonly (readonly string[])[] {
  const inner = [...line.matchAll(/\$\(([^()]*)\)/g)].flatMap(([, command = '']) => simpleCommands(command));
  const words = line.replaceAll(/\$\([^()]*\)/g, 'X').match(/'[^']*'|"[^"]*"|[|&;<>]+|[^\s|&;<>]+/g) ?? [];
  const parts: string[][] = [[]];
  for (const word of words) {
    if (/^[|&;<>]+$/.test(word)) parts.push([]);
    else if (parts.at(-1)?.length !== 0 || !/^\w+=/.test(word)) parts.at(-1)?.push(word.replaceAll(/^['"]|['"]$/g, ''));
  }
  return [...inner, ...parts.filter((part) => part.length > 0)];
}

function pathOf(words: readonly string[]): string {
  const url = words.find((word) => /^\$URL|^http/.test(word)) ?? '';
  return url
    .replace(/^\$URL|^https?:\/\/[^/]+/, '')
    .replaceAll(/\$\w+/g, 'x')
    .replace(/\?.*$/, '');
}

describe('code of others', () => {
  test.each(of('js'))('%s can be read', async (_at, { text }) => {
    expect((await transform(text, { loader: 'js', format: 'esm' })).code).not.toBe('');
  });

  test.each(of('python'))('%s can be read', (_at, { text }) => {
    const read = () => execFileSync('python3', ['-c', 'import ast, sys; ast.parse(sys.stdin.read())'], { input: text });
    expect(read).not.toThrow();
  });

  test('the TypeScript has the types that it says', { timeout: 120_000 }, () => {
    // Those of middleware.md are files of the examples: tests/e2e/docs.test.ts compares them.
    const typed = of('ts', 'tsx').filter(([at]) => !at.includes('middleware.md'));
    // Below the packages, so that it finds them.
    const folder = mkdtempSync(join(root, 'node_modules', '.docs-'));
    try {
      for (const [index, [at, { language, text }]] of typed.entries())
        writeFileSync(join(folder, `block${index}.${language}`), `// ${at}\n${surroundings}\n${text}\nexport {};\n`);
      const compilerOptions = {
        strict: true,
        noEmit: true,
        skipLibCheck: true,
        module: 'nodenext',
        target: 'es2023',
        lib: ['es2023', 'dom', 'dom.iterable'],
        jsx: 'react-jsx',
        types: ['node'],
        allowImportingTsExtensions: true,
        customConditions: ['@concerto/source'],
      };
      writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
      writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*'] }));
      let told = '';
      try {
        execFileSync(join(root, 'node_modules/.bin/tsc'), ['-p', folder], { encoding: 'utf8' });
      } catch (cause) {
        told = String(Object(cause).stdout);
      }
      expect(told).toBe('');
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

/** What a reader has around a block. */
const surroundings = `
declare const id: string, token: string, server: string, headers: Record<string, string>;
declare const fetchWithToken: typeof fetch;
declare function show(shown: unknown): void;
declare function keep(items: readonly unknown[], offset: string): Promise<void>;
declare function askTheUser(scope: unknown, signal: AbortSignal | undefined): Promise<boolean>;
`;
