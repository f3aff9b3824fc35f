import { afterAll, beforeAll, expect, test } from 'vitest';
import { Editor, shown, uriFor } from './editor.ts';
import { newProject } from './project.ts';

let editor: Editor;
beforeAll(async () => {
  editor = await Editor.start({ workspace: { didChangeWatchedFiles: { dynamicRegistration: true } } });
});
afterAll(async () => {
  await editor.stop();
});

const MANIFEST = '[project]\nname = "p"\nversion = "1"\nentry = "src/main.conc"\n';

test('an error has its code, range, help and the place that explains it', async () => {
  const path = newProject().write('a.conc', '');
  await editor.open(path, 'fn add(left: Int, right: Int) -> Int { left + right }\nfn main() { emit("x", add(1)); }\n');
  const [found] = await editor.diagnostics(path);
  expect(found).toMatchObject({ code: 'C0211', severity: 1, source: 'concerto' });
  expect(found?.message).toContain('help: missing: `right`');
  expect([shown(found!.range.start), shown(found!.range.end)]).toEqual(['1:22', '1:28']);
  expect(found?.relatedInformation?.[0]).toMatchObject({
    message: 'declared here',
    location: { uri: uriFor(path), range: { start: { line: 0, character: 3 } } },
  });
});

test('what is not used is faded', async () => {
  const path = newProject().write('a.conc', '');
  await editor.open(path, 'fn main() { let idle = 1; }\n');
  expect(await editor.diagnostics(path)).toMatchObject([{ code: 'C0300', severity: 2, tags: [1] }]);
});

test('ranges count UTF-16 units: emoji are two, a combining mark is one of its own', async () => {
  const path = newProject().write('a.conc', '');
  await editor.open(path, 'fn main() {\n    emit("😀 e\u0301 👩‍👩‍👧", nope);\n}\n');
  const text = editor.text(path);
  const [found] = await editor.diagnostics(path);
  const start = editor.document(path).offsetAt(found!.range.start);
  expect(text.slice(start, editor.document(path).offsetAt(found!.range.end))).toBe('nope');
});

test('lines may end in CRLF or CR', async () => {
  const path = newProject().write('a.conc', '');
  await editor.open(path, 'fn main() {\r\n    let a = 1;\r    emit("x", [a, nope]);\r\n}\r\n');
  const [found] = await editor.diagnostics(path);
  expect(shown(found!.range.start)).toBe('2:18');
});

test('each edit is followed, and only the last text is checked', async () => {
  const path = newProject().write('a.conc', '');
  await editor.open(path, 'fn main() { emit("x", nam); }\n');
  expect(await editor.diagnostics(path)).toHaveLength(1);
  const before = editor.published.length;
  // `let name = 1; ` typed letter by letter, then the `e` that was missing.
  let at = 'fn main() { '.length;
  for (const letter of 'let name = 1; ') await editor.edit(path, at, at++, letter);
  const missing = editor.text(path).indexOf('nam)') + 3;
  await editor.edit(path, missing, missing, 'e');
  expect(editor.text(path)).toBe('fn main() { let name = 1; emit("x", name); }\n');
  expect(await editor.diagnostics(path)).toEqual([]);
  const about = editor.published.slice(before).filter(({ uri }) => uri === uriFor(path));
  expect(about.length).toBeLessThan(5);
});

test('a module is checked with the program it belongs to, unsaved as it is', async () => {
  const { write } = newProject();
  write('Concerto.toml', MANIFEST);
  const main = write('src/main.conc', 'mod shapes;\nfn main() { emit("x", shapes::area(2)); }\n');
  const shapes = write('src/shapes.conc', 'pub fn area(side: Int) -> Int { side * super::factor() }\n');
  await editor.open(shapes, 'pub fn area(side: Int) -> Int { side * super::factor() }\n');
  expect(await editor.diagnostics(shapes)).toMatchObject([{ code: 'C0200' }]);
  await editor.open(main, 'mod shapes;\nfn factor() -> Int { 2 }\nfn main() { emit("x", shapes::area("two")); }\n');
  expect(await editor.diagnostics(main)).toMatchObject([{ code: 'C0205' }]);
  await editor.until(() => editor.lastAbout(shapes)?.length === 0);
  // What is wrong in a module that is closed is shown as well.
  await editor.close(shapes);
  write('src/shapes.conc', 'pub fn area(side: Int) -> Int { side + nothing }\n');
  await editor.connection.sendNotification('workspace/didChangeWatchedFiles', {
    changes: [{ uri: uriFor(shapes), type: 2 }],
  });
  await editor.until(() => editor.lastAbout(shapes)?.length === 1);
  // Closing the last one clears everything.
  await editor.close(main);
  await editor.until(() => editor.lastAbout(shapes)?.length === 0 && editor.lastAbout(main)?.length === 0);
});

test('a module without a manifest is found to belong to the file that has it as one', async () => {
  const { write } = newProject();
  write('app.conc', 'mod inner;\npub fn outer() -> Int { 1 }\nfn main() { emit("x", inner::get()); }\n');
  const inner = write('app/inner.conc', '');
  await editor.open(inner, 'pub fn get() -> Int { crate::outer() }\n');
  expect(await editor.diagnostics(inner)).toEqual([]);
});

test('a file joins a program when a `mod` for it is typed', async () => {
  const { write } = newProject();
  const main = write('main.conc', '');
  const part = write('part.conc', '');
  await editor.open(part, 'pub fn get() -> Int { crate::base() }\n');
  expect(await editor.diagnostics(part)).toHaveLength(1);
  await editor.open(main, 'pub fn base() -> Int { 1 }\nfn main() {}\n');
  await editor.edit(main, 0, 0, 'mod part;\n');
  await editor.until(() => editor.lastAbout(part)?.length === 0);
  expect(await editor.diagnostics(main)).toEqual([]);
  await editor.edit(main, 0, 'mod part;\n'.length, '');
  await editor.until(() => editor.lastAbout(part)?.length === 1);
});

test('Concerto.toml is checked as it is typed, and the program with it', async () => {
  const { write } = newProject();
  const manifest = write('Concerto.toml', MANIFEST);
  const main = write('src/main.conc', '');
  await editor.open(main, 'agent A { connector: worker }\nfn main() { emit("x", A.execute("hi")); }\n');
  expect(await editor.diagnostics(main)).toMatchObject([{ message: expect.stringContaining('no agent `worker`') }]);
  await editor.open(manifest, `${MANIFEST}[agents.worker]\ncomand = "x"\n`);
  const [found] = await editor.diagnostics(manifest);
  expect(found?.message).toContain('comand');
  expect(shown(found!.range.start)).toBe('5:0');
  await editor.replace(manifest, `${MANIFEST}[agents.worker]\ncommand = "x"\n`);
  expect(await editor.diagnostics(manifest)).toEqual([]);
  await editor.until(() => editor.lastAbout(main)?.length === 0);
});

test('other files are none of its business', async () => {
  const { write } = newProject();
  const [other, path] = [write('Cargo.toml', ''), write('a.conc', '')];
  await editor.open(other, '[package', 'toml');
  await editor.open(path, 'fn main() {}');
  await editor.diagnostics(path);
  expect(editor.lastAbout(other)).toBeUndefined();
  expect(await editor.symbols(other)).toEqual([]);
  expect(await editor.hover(other, 1)).toBe('');
});

test('a text that is in no file is checked on its own', async () => {
  await editor.open('untitled:Untitled-1', 'fn main() { emit("x", nope); }');
  expect(await editor.diagnostics('untitled:Untitled-1')).toHaveLength(1);
  await editor.close('untitled:Untitled-1');
});

test('opened again with the same version and another text, it is checked again', async () => {
  const path = newProject().write('a.conc', 'fn main() {}');
  await editor.open(path, 'fn main() { nope; }');
  expect(await editor.diagnostics(path)).not.toEqual([]);
  await editor.close(path);
  await editor.until(() => editor.lastAbout(path)?.length === 0);
  const seen = editor.published.length;
  await editor.open(path, 'fn main() { emit("x", other); }');
  await editor.until(() => editor.published.length > seen);
  expect(editor.lastAbout(path)).toMatchObject([{ message: expect.stringContaining('`other`') }]);
});

test('it asks the editor to watch programs and manifests', async () => {
  await editor.until(() => editor.asked.includes('client/registerCapability'));
  expect(editor.asked).toContain('client/registerCapability');
});

test('nothing went wrong in the server meanwhile', () => {
  expect(editor.logged).toEqual([]);
});
