import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readManifest } from '@concerto/language';
import { AgentCommand, parseAgentLine, StartSession } from '@concerto/protocol';
import { openApiDocument } from '@concerto/server';
import { transform } from 'esbuild';
import { describe, expect, test } from 'vitest';
import { type CommandSpec, parseArguments } from '../src/arguments.ts';
import { commands } from '../src/commands.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

type Block = { readonly at: string; readonly language: string; readonly text: string };

/** Every page that people read, with every block of it. */
const pages = [
  ...['README.md', 'CONTRIBUTING.md', 'editors/vscode/README.md', 'clients/python/README.md', 'docs/ARCHITECTURE.md'],
  ...['GLOSSARY.md', 'SECURITY.md', 'STYLE.md'].map((name) => `docs/${name}`),
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

describe('lines of JSON', () => {
  test.each(of('ndjson'))('%s', (_at, { text }) => {
    const lines = text.startsWith('→') ? text.split(/^(?=[→←])/m) : text.trim().split('\n');
    for (const line of lines) {
      // What is said beside it stands far to its right.
      const json = line.replace(/^[→←] /, '').replace(/\s{3,}\S.*$/s, (end) => (/^\s*["}\]]/.test(end) ? end : ''));
      const value: unknown = JSON.parse(json);
      if (line.startsWith('←')) expect(parseAgentLine(JSON.stringify(value))).not.toHaveProperty('problem');
      if (line.startsWith('→')) expect(AgentCommand.safeParse(value).error).toBeUndefined();
    }
  });
});

const { paths } = JSON.parse(JSON.stringify(openApiDocument('0'))) as { paths: Record<string, object> };

function expectCall(method: string, path: string): void {
  const known = Object.entries(paths).find(([template]) =>
    new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path),
  );
  expect({ path, methods: Object.keys(known?.[1] ?? {}) }).toMatchObject({
    path,
    methods: expect.arrayContaining([method.toLowerCase()]),
  });
}

test.each(of('http'))('%s is a call', (_at, { text }) => {
  const [, method = '', path = '', body = ''] = /^(\w+) (\S+) ([\s\S]*)$/.exec(text) ?? [];
  expectCall(method, path);
  expect(StartSession.safeParse(JSON.parse(body)).error).toBeUndefined();
});

describe('what is typed', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };

  const specOf = async (name: string): Promise<CommandSpec> => {
    const row = commands[name];
    if (row === undefined) throw new Error(`there is no concerto ${name}`);
    return (await row.load()).spec;
  };

  test.each(of('sh', 'console'))('%s', async (_at, { language, text }) => {
    for (const line of typedLines(language, text)) {
      for (const words of simpleCommands(line)) {
        const at = words.findIndex((word) => /^(concerto|npx)$/.test(word));
        if (words[0] === 'npm') expectScript(words, scripts);
        else if (words[0] === 'curl')
          expectCall(
            words[words.indexOf('-X') + 1 || -1] ?? (words.includes('--data-binary') ? 'post' : 'get'),
            pathOf(words),
          );
        else if (at === 0) await expectCommand(words.slice(words[0] === 'npx' ? 2 : 1), specOf);
      }
    }
  });
});

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

function expectScript([, verb = '', name = '']: readonly string[], scripts: Readonly<Record<string, string>>): void {
  if (verb === 'install' || verb === 'i') return;
  expect(scripts).toHaveProperty([verb === 'run' ? name : verb]);
}

function pathOf(words: readonly string[]): string {
  const url = words.find((word) => /^\$URL|^http/.test(word)) ?? '';
  return url
    .replace(/^\$URL|^https?:\/\/[^/]+/, '')
    .replaceAll(/\$\w+/g, 'x')
    .replace(/\?.*$/, '');
}

async function expectCommand(argv: readonly string[], specOf: (name: string) => Promise<CommandSpec>): Promise<void> {
  const [name = 'serve', ...rest] = argv;
  const spec = await specOf(name);
  const { positionals } = parseArguments(spec, rest);
  const verb = positionals[0];
  // A command with subcommands lists them in its help.
  if (verb !== undefined && /SUBCOMMAND/.test(spec.usage))
    expect(spec.details).toMatch(new RegExp(`(^|\\s)${verb}\\b`, 'm'));
}

describe('code of others', () => {
  test.each(of('js'))('%s can be read', async (_at, { text }) => {
    expect((await transform(text, { loader: 'js', format: 'esm' })).code).not.toBe('');
  });

  test.each(of('python'))('%s can be read', (_at, { text }) => {
    execFileSync('python3', ['-c', 'import ast, sys; ast.parse(sys.stdin.read())'], { input: text });
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
