import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  applyFixes,
  CURSOR_MARK,
  cannotRename,
  checkProgram,
  completeAt,
  indexProgram,
  loadProgram,
  parseSource,
  type Reference,
  referenceAt,
  referencesTo,
  renameSymbol,
} from '../src/index.ts';

const FILE = 'main.conc';

function analyse(text: string) {
  const { program, diagnostics } = loadProgram({
    entry: FILE,
    readFile: (path) => (path === FILE ? text : undefined),
    parse: parseSource,
  });
  const checked = checkProgram({ program });
  const index = indexProgram(program, checked);
  return { index, diagnostics: [...diagnostics, ...checked.diagnostics] };
}

function programsBelow(directory: string): string[] {
  return readdirSync(directory).flatMap((name) => {
    const path = join(directory, name);
    if (statSync(path).isDirectory()) return programsBelow(path);
    return name.endsWith('.conc') ? [path] : [];
  });
}

/** Programs without errors, with a few of the names in them, spread over each. */
const PROGRAMS = programsBelow(join(import.meta.dirname, 'programs')).flatMap((path) => {
  const text = readFileSync(path, 'utf8');
  const analysis = analyse(text);
  const isWhole = analysis.diagnostics.every(({ severity }) => severity !== 'error');
  return isWhole ? [{ path, text, ...analysis }] : [];
});

function someOf(references: readonly Reference[]): Reference[] {
  const step = Math.max(1, Math.floor(references.length / 4));
  return references.filter((_, at) => at % step === step - 1);
}

test('there are programs to try', () => {
  expect(PROGRAMS.length).toBeGreaterThan(100);
});

test('what is written in a program is offered where it is written', () => {
  const missing: string[] = [];
  for (const { path, text, index } of PROGRAMS) {
    const named = (index.references.get(FILE) ?? []).filter(
      // An alias is a new name, and keywords are not asked for.
      ({ isDeclaration, text: name, symbol }) => !isDeclaration && name === symbol.name && symbol.kind !== 'label',
    );
    for (const { span, text: name } of someOf(named)) {
      const marked = analyse(text.slice(0, span.start) + CURSOR_MARK + text.slice(span.end));
      const input = { index: marked.index, file: FILE, offset: span.start, manifest: undefined };
      const labels = completeAt(input).map(({ label }) => label);
      const isOffered = labels.some((label) => label.split(/::|:/)[0] === name);
      if (!isOffered && name !== 'self') missing.push(`${name} in ${path} at ${span.start}`);
    }
  }
  expect(missing).toEqual([]);
});

test('a renamed program says the same, and the new name is used where the old one was', () => {
  const broken: string[] = [];
  for (const { path, text, index, diagnostics } of PROGRAMS) {
    const declared = (index.references.get(FILE) ?? []).filter(
      (reference) => reference.isDeclaration && cannotRename(reference) === undefined && reference.text !== 'main',
    );
    for (const reference of someOf(declared)) {
      const fresh = reference.text.startsWith('_') ? '_quite_new' : 'quite_new';
      const edits = renameSymbol(index, reference, fresh);
      if (!edits.ok) throw new Error(edits.error);
      const after = analyse(applyFixes(text, [{ title: '', edits: edits.value }]).text);
      const uses = [...after.index.references.values()].flat().filter((each) => each.text === fresh).length;
      const same = uses === referencesTo(index, reference.symbol).filter((each) => each.text === reference.text).length;
      if (after.diagnostics.length !== diagnostics.length || !same) broken.push(`${reference.text} in ${path}`);
    }
  }
  expect(broken).toEqual([]);
});

test('every reference is where its name is written', () => {
  for (const { path, text, index } of PROGRAMS) {
    for (const { span, text: name } of index.references.get(FILE) ?? []) {
      const written = text.slice(span.start, span.end).replace(/^'/, '');
      expect(`${path} ${written}`).toBe(`${path} ${name}`);
      expect(referenceAt(index, FILE, span.start)).toBeDefined();
    }
  }
});

test('broken text has names too', () => {
  const texts = [
    'fn',
    'fn f(',
    'struct S { a: ',
    'fn main() { x.',
    'use a::',
    'impl T for',
    'listen A.',
    '"${',
    'match x { A::',
  ];
  for (const text of texts) {
    const { index } = analyse(`fn known() {}\n${text}`);
    expect(referenceAt(index, FILE, 4)?.symbol.kind).toBe('function');
    const marked = analyse(`fn known() {}\n${text}${CURSOR_MARK}`);
    completeAt({ index: marked.index, file: FILE, offset: 14 + text.length, manifest: undefined });
  }
});
