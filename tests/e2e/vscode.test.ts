import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import JSZip from 'jszip';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import oniguruma from 'vscode-oniguruma';
import textmate from 'vscode-textmate';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = join(root, 'editors', 'vscode');

describe('the grammar', () => {
  let grammar: textmate.IGrammar;
  beforeAll(async () => {
    const wasm = readFileSync(createRequire(import.meta.url).resolve('vscode-oniguruma/release/onig.wasm'));
    await oniguruma.loadWASM({ data: wasm });
    const path = join(folder, 'syntaxes', 'concerto.tmLanguage.json');
    const registry = new textmate.Registry({
      onigLib: Promise.resolve({
        createOnigScanner: (sources) => new oniguruma.OnigScanner(sources),
        createOnigString: (text) => new oniguruma.OnigString(text),
      }),
      loadGrammar: async () => textmate.parseRawGrammar(readFileSync(path, 'utf8'), path),
    });
    const loaded = await registry.loadGrammar('source.concerto');
    if (loaded === null) throw new Error('no grammar');
    grammar = loaded;
  });

  /** The innermost scope of each piece of a text, without its last part; white space is left out. */
  function scopes(text: string): string[] {
    let state = textmate.INITIAL;
    return text.split('\n').flatMap((line) => {
      const { tokens, ruleStack } = grammar.tokenizeLine(line, state);
      state = ruleStack;
      return tokens.flatMap(({ startIndex, endIndex, scopes: all }) => {
        const piece = line.slice(startIndex, endIndex).trim();
        return piece === '' ? [] : [`${piece} ${(all.at(-1) ?? '').replace(/\.concerto$/, '')}`];
      });
    });
  }

  test.each([
    ['fn main() { }', ['fn keyword.declaration.function', 'main entity.name.function']],
    ['pub async fn f', ['pub storage.modifier', 'async keyword.control', 'fn keyword.declaration.function']],
    ['agent Coder', ['agent keyword.declaration', 'Coder entity.name.type']],
    ['@test("a")', ['@ punctuation.definition.decorator', 'test entity.name.function.decorator']],
    [
      'let x: Int = 1_000;',
      ['let keyword.declaration', 'x variable.other', 'Int support.type', '1_000 constant.numeric.integer'],
    ],
    ['1.5e3 nil', ['1.5e3 constant.numeric.float', 'nil constant.language']],
    [
      'a?.b.c(1) ?? d',
      [
        '? keyword.operator.optional',
        'b variable.other.property',
        'c entity.name.function.method',
        '?? keyword.operator.optional',
      ],
    ],
    ['// no "text"', ['// no "text" comment.line.double-slash']],
    ['/// doc', ['/// doc comment.line.documentation']],
    ['/* a /* b */ c */ x', ['x variable.other']],
    ["'outer: loop", ["'outer entity.name.label", 'loop keyword.control']],
  ])('%s', (text, expected) => {
    expect(scopes(text)).toEqual(expect.arrayContaining(expected));
  });

  test('what stands in a text is code again, and the text goes on behind it', () => {
    expect(scopes('"a ${b + {"c": 1}["c"]} \\n d" e')).toEqual(
      expect.arrayContaining([
        'a string.quoted.double',
        '${ punctuation.section.interpolation.begin',
        'b variable.other',
        '} punctuation.section.interpolation.end',
        '\\n constant.character.escape',
        'd string.quoted.double',
        'e variable.other',
      ]),
    );
  });

  test('a text of several lines, a raw one, and one that is never closed end where they do', () => {
    expect(scopes('"""a\nb ${c}\n""" d')).toEqual(expect.arrayContaining(['c variable.other', 'd variable.other']));
    expect(scopes('r#"a " \\n"# b')).toEqual(expect.arrayContaining(['b variable.other']));
    expect(scopes('"open\nlet')).toEqual(expect.arrayContaining(['let keyword.declaration']));
  });
});

describe('the packed extension', () => {
  const folderOfPack = mkdtempSync(join(tmpdir(), 'concerto-vsix-'));
  const file = join(folderOfPack, 'concerto.vsix');
  let zip: JSZip;
  beforeAll(async () => {
    execFileSync(process.execPath, [join(root, 'tools', 'pack-vscode.mjs'), file]);
    zip = await JSZip.loadAsync(readFileSync(file));
  });
  afterAll(() => rmSync(folderOfPack, { recursive: true, force: true }));

  const textOf = (name: string): Promise<string> => zip.file(`extension/${name}`)?.async('text') ?? Promise.resolve('');

  test('has every file that its manifest names', async () => {
    const { main, contributes } = JSON.parse(await textOf('package.json'));
    const named: string[] = [
      main,
      ...contributes.languages.map(({ configuration }: { configuration: string }) => configuration),
      ...[...contributes.grammars, ...contributes.snippets].map(({ path }: { path: string }) => path),
      ...contributes.tomlValidation.map(({ url }: { url: string }) => url),
    ];
    for (const name of named) expect((await textOf(name.replace(/^\.\//, ''))).length).toBeGreaterThan(10);
    expect(JSON.parse(await textOf('concerto-schema.json')).properties).toHaveProperty('agents');
    expect(zip.file('extension.vsixmanifest')).not.toBeNull();
    expect(zip.file('[Content_Types].xml')).not.toBeNull();
  });

  test('can be loaded with nothing but the editor’s own module, and registers what it contributes', async () => {
    writeFileSync(join(folderOfPack, 'extension.cjs'), await textOf('extension.js'));
    // An editor is not to be had here: every name of its module is a class that does nothing.
    writeFileSync(
      join(folderOfPack, 'host.cjs'),
      `const Module = require('node:module');
const registered = [];
const names = { commands: { registerCommand: (name) => { registered.push(name); return {}; } }, version: '1.99.0' };
const vscode = new Proxy(names, { get: (all, name) => all[name] ?? (all[name] = new Proxy(class {}, { get: (own, key) => own[key] ?? (() => ({})) })) });
const load = Module._load;
Module._load = (name, ...rest) => (name === 'vscode' ? vscode : load(name, ...rest));
const { activate, deactivate } = require('./extension.cjs');
const done = () => { console.log(JSON.stringify({ registered, deactivate: typeof deactivate })); process.exit(0); };
Promise.resolve(activate({ subscriptions: [] })).then(done, done);
`,
    );
    const out = execFileSync(process.execPath, ['host.cjs'], { cwd: folderOfPack, encoding: 'utf8' });
    const { contributes } = JSON.parse(await textOf('package.json'));
    const commands = contributes.commands.map(({ command }: { command: string }) => command);
    expect(JSON.parse(out)).toEqual({ registered: commands, deactivate: 'function' });
  });
});
