import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { builtConcerto, root } from '../support/built-concerto.ts';

const guides = join(root, 'docs/guide');

type Block = { readonly file: string; readonly language: string; readonly text: string };

const blocks = readdirSync(guides)
  .filter((file) => file.endsWith('.md'))
  .flatMap((file): Block[] => {
    const text = readFileSync(join(guides, file), 'utf8');
    return [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, language = '', block = '']) => ({
      file,
      language,
      text: block,
    }));
  });
const programs = blocks.filter(({ language }) => language === 'concerto');

const manifest = `[project]
name = "guide"
version = "0.1.0"
entry = "src/language-1.conc"
[connections.main]
provider = "mock"
[connections.openai]
provider = "mock"
[mcp.Files]
transport = "stdio"
command = "mcp-files"
[agents.coder]
transport = "stdio"
command = "coder"
`;

describe('the programs in the guides', () => {
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'concerto-docs-'));
    await mkdir(join(folder, 'src'));
    await writeFile(join(folder, 'Concerto.toml'), manifest);
    for (const [index, { file, text }] of programs.entries()) {
      await writeFile(join(folder, 'src', `${file.replace('.md', '')}-${index + 1}.conc`), text);
    }
  });

  afterAll(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  test('are there', () => {
    expect(programs.map(({ file }) => file)).toEqual(expect.arrayContaining(['language.md', 'middleware.md']));
  });

  test('check without a problem', { timeout: 120_000 }, async () => {
    const { stdout } = await builtConcerto(['check', '--json', 'src'], folder);
    expect(JSON.parse(stdout)).toEqual([]);
  });

  test('and their tests pass', { timeout: 120_000 }, async () => {
    const tested = await builtConcerto(['test', 'src'], folder);
    expect(tested).toMatchObject({ code: 0, stdout: expect.stringMatching(/^[1-9]\d* passed, 0 failed$/m) });
  });
});

/** Code of other languages is shown, not written: it is what an example runs. */
test('the agents that middleware.md shows are those of the examples', () => {
  const shown = blocks.filter(({ file, language }) => file === 'middleware.md' && /^(ts|python|sh)$/.test(language));
  expect(shown).toHaveLength(3);
  const sources = ['ts', 'python', 'shell'].flatMap((name) => {
    const folder = join(root, 'examples', `middleware-${name}`, 'agents');
    return readdirSync(folder).map((file) => readFileSync(join(folder, file), 'utf8'));
  });
  for (const { text } of shown) expect(sources.some((source) => source.includes(text))).toBe(true);
});
