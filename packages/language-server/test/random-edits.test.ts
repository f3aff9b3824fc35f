import { once } from 'node:events';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { text as streamText } from 'node:stream/consumers';
import { createSourceFile, positionAt } from '@concerto/language';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Editor, spawnServer } from './editor.ts';
import { newProject } from './project.ts';

const ROOT = join(import.meta.dirname, '../../..');

function programsBelow(directory: string): string[] {
  return readdirSync(directory).flatMap((name) => {
    const path = join(directory, name);
    if (statSync(path).isDirectory()) return name === 'node_modules' ? [] : programsBelow(path);
    return name.endsWith('.conc') ? [path] : [];
  });
}

/** What people type, finish and leave unfinished. */
const PIECES = [
  '.',
  '::',
  '(',
  ')',
  '{',
  '}',
  '"',
  '${',
  '|',
  '=>',
  ';',
  '\n',
  'fn ',
  'let x = ',
  'match ',
  'mod m;',
  'self',
  '😀',
  'e\u0301',
  '/*',
  '//',
  "'a",
  'listen ',
  '@',
  '<',
  '1',
  'name',
];

const edits = fc.array(
  fc.record({
    place: fc.double({ min: 0, max: 1, noNaN: true }),
    remove: fc.oneof(fc.constant(0), fc.nat(3), fc.nat(40)),
    insert: fc.oneof(fc.constantFrom(...PIECES), fc.constant('')),
    request: fc.nat(9),
  }),
  { minLength: 2, maxLength: 12 },
);

const REQUESTS = [
  'hover',
  'completion',
  'signatureHelp',
  'definition',
  'documentSymbol',
  'semanticTokens/full',
  'formatting',
  'documentHighlight',
  'references',
  'prepareRename',
];

/** An editor does not cut a surrogate pair in two, and half of one cannot be written to a file. */
function wholeCharacter(text: string, offset: number): number {
  const code = text.charCodeAt(offset);
  return code >= 0xdc00 && code <= 0xdfff ? offset - 1 : offset;
}

interface Found {
  readonly file: string;
  readonly code: string;
  readonly severity: string;
  readonly message: string;
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  readonly endColumn: number;
  readonly help?: string;
}

async function check(paths: readonly string[]): Promise<Found[]> {
  const child = spawnServer(['check', '--json', ...paths]);
  const [out] = await Promise.all([child.stdout === null ? '' : streamText(child.stdout), once(child, 'exit')]);
  return JSON.parse(out) as Found[];
}

const SEVERITIES = ['', 'error', 'warning', 'info'];

test('after any edits of real programs it answers, and says what `concerto check` says', {
  timeout: 300_000,
}, async () => {
  const project = newProject();
  const editor = await Editor.start();
  const sources = [
    ...programsBelow(join(ROOT, 'examples')),
    ...programsBelow(join(ROOT, 'packages/language/test/programs')),
  ].filter((_, at) => at % 3 === 0);
  const samples = fc.sample(edits, { numRuns: sources.length, seed: 7 });
  const paths: string[] = [];
  const said = new Map<string, unknown[]>();
  for (const [at, source] of sources.entries()) {
    const path = project.write(`${at}/main.conc`, '');
    await editor.open(path, readFileSync(source, 'utf8'));
    for (const { place, remove, insert, request } of samples[at] ?? []) {
      const { length } = editor.text(path);
      const start = wholeCharacter(editor.text(path), Math.floor(place * length));
      const end = wholeCharacter(editor.text(path), Math.min(start + remove, length));
      await editor.edit(path, start, end, insert);
      const offset = Math.min(start + insert.length, editor.text(path).length);
      const more = { context: { includeDeclaration: true }, options: { tabSize: 4, insertSpaces: true } };
      // A refusal to rename is an answer.
      await editor.ask(REQUESTS[request] ?? 'hover', path, offset, request === 1 ? {} : more).catch((error: Error) => {
        if (request !== 9) throw error;
      });
    }
    const text = editor.text(path);
    const file = createSourceFile(path, text);
    const found = await editor.diagnostics(path);
    const place = (position: (typeof found)[number]['range']['start']) =>
      positionAt(file, editor.document(path).offsetAt(position));
    said.set(
      path,
      found.map(({ code, severity, message, range }) => {
        const [start, end] = [place(range.start), place(range.end)];
        return JSON.stringify([
          code,
          SEVERITIES[severity ?? 0],
          message,
          start.line,
          start.column,
          end.line,
          end.column,
        ]);
      }),
    );
    project.write(`${at}/main.conc`, text);
    paths.push(path);
    await editor.close(path);
  }
  expect(editor.logged).toEqual([]);
  expect(await editor.stop()).toBe(0);
  const checked = new Map(paths.map((path) => [path, [] as string[]]));
  for (const { file, code, severity, message, help, ...place } of await check(paths)) {
    const { line, column, endLine, endColumn } = place;
    const whole = help === undefined ? message : `${message}\nhelp: ${help}`;
    checked.get(file)?.push(JSON.stringify([code, severity, whole, line, column, endLine, endColumn]));
  }
  expect(said).toEqual(checked);
});
