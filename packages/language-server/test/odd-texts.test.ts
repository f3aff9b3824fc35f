import { afterAll, beforeAll, expect, test } from 'vitest';
import { CancellationTokenSource } from 'vscode-languageserver/node';
import { Editor } from './editor.ts';

let editor: Editor;
beforeAll(async () => {
  editor = await Editor.start();
});
afterAll(async () => {
  await editor.stop();
});

const TEXTS: readonly (readonly [string, string])[] = [
  ['nothing', ''],
  ['open parentheses', `fn main() { ${'('.repeat(50_000)}`],
  ['nested arrays', `fn main() { let x = ${'['.repeat(20_000)}${']'.repeat(20_000)}; }`],
  ['a long sum', `fn main() { let a = 1; emit("x", a${' + a'.repeat(20_000)}); }`],
  ['a long chain', `fn main() { let a = [1]; a${'.map(|x| x)'.repeat(5000)}; }`],
  ['many else', `fn main() { ${'if true { 1 } else '.repeat(5000)}{ 2 } }`],
  ['nested types', `fn f(a: ${'Array<'.repeat(5000)}Int${'>'.repeat(5000)}) {}`],
  ['nested templates', `fn main() { "${'${"'.repeat(3000)}`],
  ['nested modules', 'mod a { '.repeat(3000)],
  ['many alternatives', `fn f(a: Int) { match a { ${'1 | '.repeat(5000)}2 => 1 } }`],
  ['control characters', 'fn main() { \0\u0001\u2028 }'],
  ['a byte order mark', '\ufefffn main() { emit("x", nope); }'],
];

const REQUESTS = ['hover', 'completion', 'signatureHelp', 'definition', 'references', 'documentSymbol', 'formatting'];

test.each(TEXTS)('%s', async (name, text) => {
  const path = `/nowhere/${name.replaceAll(' ', '-')}.conc`;
  await editor.open(path, text);
  await editor.diagnostics(path);
  for (const request of [...REQUESTS, 'semanticTokens/full']) {
    for (const offset of [0, Math.floor(text.length / 2), text.length]) {
      await editor.ask(request, path, offset, { context: { includeDeclaration: true }, options: {} });
    }
  }
  await editor.close(path);
  expect(editor.logged).toEqual([]);
});

test('positions outside of the text are those at its edge', async () => {
  const path = '/nowhere/outside.conc';
  await editor.open(path, 'fn main() {}\n');
  const at = (line: number, character: number) =>
    editor.connection.sendRequest('textDocument/hover', {
      textDocument: { uri: editor.document(path).uri },
      position: { line, character },
    });
  expect(await at(99, 0)).toBeNull();
  expect(await at(0, 9999)).toBeNull();
});

test('what the editor has given up is not computed, and what follows is answered', async () => {
  const path = '/nowhere/cancelled.conc';
  // Large enough that a request takes longer than its cancelling.
  await editor.open(path, `fn main() { pri }\n${'fn f() -> Int { [1].map(|n| n + 1).len() }\n'.repeat(3000)}`);
  const position = { line: 0, character: 15 };
  const params = { textDocument: { uri: editor.document(path).uri }, position };
  const requests = Array.from({ length: 20 }, () => {
    const source = new CancellationTokenSource();
    const answer = editor.connection.sendRequest('textDocument/completion', params, source.token);
    return { source, answer };
  });
  for (const { source } of requests.slice(0, -1)) source.cancel();
  const settled = await Promise.allSettled(requests.map(({ answer }) => answer));
  const cancelled = settled.filter((each) => each.status === 'rejected');
  expect(cancelled.length).toBeGreaterThan(0);
  for (const { reason } of cancelled) expect(reason).toMatchObject({ code: -32800 });
  expect(settled.at(-1)).toMatchObject({ status: 'fulfilled' });
});
