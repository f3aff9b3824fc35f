import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CodeLens, FoldingRange, InlayHint } from 'vscode-languageserver/node';
import { cursorIn, Editor, uriFor } from './editor.ts';
import { newProject } from './project.ts';

let editor: Editor;
beforeAll(async () => {
  editor = await Editor.start();
});
afterAll(async () => {
  await editor.stop();
});

async function program(text: string): Promise<string> {
  const path = newProject().write('a.conc', '');
  await editor.open(path, text);
  return path;
}

const about = (path: string) => ({ textDocument: { uri: uriFor(path) } });

test('blocks, declarations and lists of several lines can be folded', async () => {
  const path = await program(
    'struct P {\n    x: Int,\n}\n\nfn main() {\n    if true {\n        emit("a", [\n            1,\n        ]);\n    }\n}\n',
  );
  const folds = await editor.connection.sendRequest<FoldingRange[]>('textDocument/foldingRange', about(path));
  expect(folds).toEqual([
    { startLine: 0, endLine: 1 },
    { startLine: 4, endLine: 9 },
    { startLine: 5, endLine: 8 },
    { startLine: 6, endLine: 7 },
  ]);
});

test('types that nobody wrote are shown behind the names', async () => {
  const path = await program(
    'fn main() {\n    let a = [1];\n    let b: Int = 2;\n    let (c, d) = ("x", 1.5);\n    for e in a { emit("e", e + b); }\n    emit("f", a.map(|g| g + 1));\n    emit("c", [c, "${d}"]);\n}\n',
  );
  const range = { start: { line: 0, character: 0 }, end: { line: 99, character: 0 } };
  const hints = await editor.connection.sendRequest<InlayHint[]>('textDocument/inlayHint', { ...about(path), range });
  expect(hints.map(({ position, label }) => [position.line, label])).toEqual([
    [1, ': Array<Int>'],
    [3, ': String'],
    [3, ': Float'],
    [4, ': Int'],
    [5, ': Int'],
  ]);
  const line = { start: { line: 1, character: 0 }, end: { line: 1, character: 20 } };
  expect(await editor.connection.sendRequest('textDocument/inlayHint', { ...about(path), range: line })).toHaveLength(
    1,
  );
});

test('main and tests can be run from where they stand', async () => {
  const path = await program(
    '@test("adds up")\nfn a() { }\n@test\nfn b() { }\nfn main() { }\nmod m { @test fn c() { } }\n',
  );
  const lenses = await editor.connection.sendRequest<CodeLens[]>('textDocument/codeLens', about(path));
  expect(lenses.map(({ command, range }) => [range.start.line, command?.command, command?.arguments])).toEqual([
    [1, 'concerto.test', [uriFor(path), 'adds up']],
    [3, 'concerto.test', [uriFor(path), 'b']],
    [4, 'concerto.run', [uriFor(path)]],
    [5, 'concerto.test', [uriFor(path), 'c']],
  ]);
});

describe('Concerto.toml', () => {
  async function manifest(marked: string): Promise<{ path: string; offset: number }> {
    const path = newProject().write('Concerto.toml', '');
    const { text, offset } = cursorIn(marked);
    await editor.open(path, text, 'toml');
    return { path, offset };
  }

  async function labels(marked: string): Promise<string[]> {
    const { path, offset } = await manifest(marked);
    return (await editor.complete(path, offset)).map(({ label }) => label);
  }

  test('tables in a header', async () => {
    expect(await labels('[¦')).toEqual(expect.arrayContaining(['project', 'agents', 'connections', 'server']));
    expect(await labels('[connections.a.¦')).toEqual(expect.arrayContaining(['retry', 'rate_limit']));
  });

  test('keys of the table that are not there yet, required ones first', async () => {
    const found = await labels('[project]\nname = "p"\n¦');
    expect(found).toEqual(expect.arrayContaining(['version', 'entry']));
    expect(found).not.toContain('name');
    expect(await labels('[agents.coder]\ncom¦')).toContain('command');
  });

  test('values of a key', async () => {
    const { path, offset } = await manifest('[agents.coder]\nprotocol = ¦');
    const items = await editor.complete(path, offset);
    expect(items.map(({ insertText }) => insertText)).toEqual(['"ndjson"', '"acp"', '"claude"', '"codex"']);
  });

  test('what a key is for', async () => {
    const { path, offset } = await manifest('[agents.coder]\ninit_ti¦meout = 5\n');
    expect(await editor.hover(path, offset)).toContain('Seconds that it may take to start.');
    const other = await manifest('[nonsense]\nfoo¦ = 5\n');
    expect(await editor.hover(other.path, other.offset)).toBe('');
  });
});
