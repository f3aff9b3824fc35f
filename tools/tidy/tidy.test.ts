import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import * as z from 'zod';
import {
  fileLinesMax,
  functionLinesMax,
  impure,
  impureFiles,
  keepingFiles,
  longFiles,
  longFunctions,
  rooms,
  writesItself,
} from './rooms.ts';
import { functionsOf, importsOf, lineOf, readSources, root, type Source } from './sources.ts';

const Lock = z.object({
  packages: z.record(z.string(), z.object({ optionalDependencies: z.optional(z.record(z.string(), z.string())) })),
});

const sources = readSources();
const inRooms = sources.filter((source) => source.room !== undefined);
const production = inRooms.filter((source) => !source.test);
const inBundles = production.filter(({ room }) => room === 'packages/protocol' || room === 'packages/client');

test('every room stands in the import table', () => {
  expect(inRooms.filter((source) => rooms[source.room ?? ''] === undefined).map((source) => source.path)).toEqual([]);
});

test('imports follow the table', () => {
  expect(production.flatMap(forbiddenImports)).toEqual([]);
});

test('zod comes as `* as z`: a bundle then leaves out what is not used, all its languages among it', () => {
  expect(production.filter(({ text }) => text.includes("import { z } from 'zod'")).map(({ path }) => path)).toEqual([]);
});

test('what clients bundle is `zod/mini`, which has functions where zod has methods that no bundle can leave out', () => {
  const takesAll = inBundles.filter(({ text }) => /from 'zod'/.test(text));
  expect(takesAll.map(({ path }) => path)).toEqual([]);
});

test('every imported package is in the own package.json', () => {
  expect(production.flatMap(undeclaredImports)).toEqual([]);
});

test('the lock file has the packages of every platform: without them `npm ci` refuses it, and others install no tool', () => {
  const { packages } = Lock.parse(JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')));
  const paths = Object.keys(packages);
  const wanted = Object.values(packages).flatMap(({ optionalDependencies = {} }) => Object.keys(optionalDependencies));
  const isThere = (name: string): boolean => paths.some((path) => path.endsWith(`node_modules/${name}`));
  expect(wanted.filter((name) => !isThere(name))).toEqual([]);
});

test('pure rooms read no clock, make no ids, use no chance, do no input or output', () => {
  const offences = production
    .filter((source) => rooms[source.room ?? '']?.kind === 'pure' && impureFiles[source.path] === undefined)
    .flatMap((source) =>
      source.text
        .split('\n')
        .flatMap((line, index) =>
          impure.test(withoutComment(line)) ? [`${source.path}:${index + 1}: ${line.trim()}`] : [],
        ),
    );
  expect(offences).toEqual([]);
});

test('pure rooms keep nothing between two calls, but for what nobody can tell', () => {
  const keeps = production.filter(
    ({ room, text }) => rooms[room ?? '']?.kind === 'pure' && /^(export )?let /m.test(text),
  );
  expect(keeps.map(({ path }) => path)).toEqual(Object.keys(keepingFiles));
});

test(`files stay under ${fileLinesMax} lines`, () => {
  const long = production
    .map((source) => ({ source, lines: source.text.split('\n').length }))
    .filter(({ source, lines }) => lines > fileLinesMax && longFiles[source.path] === undefined)
    .map(({ source, lines }) => `${source.path}:${fileLinesMax}: the file has ${lines} lines`);
  expect(long).toEqual([]);
});

test(`functions stay under ${functionLinesMax} lines`, () => {
  const long = production.flatMap((source) =>
    functionsOf(source)
      .filter(({ name, lines }) => lines > functionLinesMax && longFunctions[`${source.path}#${name}`] === undefined)
      .map(({ name, line, lines }) => `${source.path}:${line}: ${name} has ${lines} lines`),
  );
  expect(long).toEqual([]);
});

test('no exception outlives its reason', () => {
  const files = Object.keys(longFiles).filter((path) => !existsSync(join(root, path)));
  const functions = Object.keys(longFunctions).filter((key) => {
    const [path = '', name] = key.split('#');
    const source = production.find((candidate) => candidate.path === path);
    return (
      source === undefined || !functionsOf(source).some((span) => span.name === name && span.lines > functionLinesMax)
    );
  });
  expect([...files, ...functions]).toEqual([]);
});

test('one named index a package, no barrels, no rooms without a rule', () => {
  const offences = production.flatMap((source) => [
    ...matches(source, /^export \* from/gm, 'export * hides the graph'),
    ...(/\/src\/.+\/index\.tsx?$/.test(source.path) ? [`${source.path}:1: only a package has an index`] : []),
    ...(/(^|\/)(utils?|helpers?|common|shared|manager)(\.|\/)/.test(source.path)
      ? [`${source.path}:1: name it for what it does`]
      : []),
    ...matches(source, /shell:\s*true/g, 'no shell between us and a child process'),
    ...matches(source, /\b(TODO|FIXME|XXX)\b/g, 'finish it, or write it in an issue'),
  ]);
  expect(offences).toEqual([]);
});

test('what a terminal is told goes through the one place that makes it harmless', () => {
  const writes = production
    .filter(({ path }) => path.startsWith('apps/cli/src/') && !path.startsWith('apps/cli/src/terminal/'))
    .flatMap((source) =>
      matches(source, /\bprocess\.(stdout|stderr)\.write\(|\bconsole\.\w+\(/g, 'use terminal/print.ts'),
    );
  const itself = Object.keys(writesItself);
  expect(writes.filter((offence) => !itself.some((path) => offence.startsWith(`${path}:`)))).toEqual([]);
  expect(itself.filter((path) => !writes.some((offence) => offence.startsWith(`${path}:`)))).toEqual([]);
});

test('tests replace no module', () => {
  expect(
    sources.flatMap((source) =>
      source.path.startsWith('tools/') ? [] : matches(source, /\bvi\.mock\(/g, 'use the real part'),
    ),
  ).toEqual([]);
});

function forbiddenImports(source: Source): string[] {
  const room = rooms[source.room ?? ''];
  if (room === undefined) return [];
  return importsOf(source).flatMap(({ specifier, line }) => {
    const at = `${source.path}:${line}: imports ${specifier}`;
    if (specifier.startsWith('.')) return leavesRoom(source, specifier) ? [`${at}, a file of another room`] : [];
    if (specifier.startsWith('node:')) return room.kind === 'node' ? [] : [`${at} in a ${room.kind} room`];
    const own = /^@concerto\/([^/]+)/.exec(specifier)?.[1];
    if (own !== undefined) return room.rooms.includes(own) ? [] : [`${at}, which the table does not allow`];
    return room.packages.some((allowed) => matchesPackage(allowed, packageOf(specifier)))
      ? []
      : [`${at}, which the table does not allow`];
  });
}

function undeclaredImports(source: Source): string[] {
  const manifest: unknown = JSON.parse(readFileSync(join(root, source.room ?? '', 'package.json'), 'utf8'));
  const declared = new Set(
    ['dependencies', 'devDependencies', 'optionalDependencies'].flatMap((field) =>
      Object.keys(memberOf(manifest, field)),
    ),
  );
  return importsOf(source)
    .filter(
      ({ specifier }) =>
        !specifier.startsWith('.') && !specifier.startsWith('node:') && !declared.has(packageOf(specifier)),
    )
    .map(({ specifier, line }) => `${source.path}:${line}: ${specifier} is not in ${source.room}/package.json`);
}

function memberOf(value: unknown, field: string): object {
  const member: unknown = value !== null && typeof value === 'object' ? Reflect.get(value, field) : undefined;
  return member !== null && typeof member === 'object' ? member : {};
}

function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

function matchesPackage(allowed: string, name: string): boolean {
  return allowed.endsWith('*') ? name.startsWith(allowed.slice(0, -1)) : name === allowed;
}

function leavesRoom(source: Source, specifier: string): boolean {
  const target = join(source.path, '..', specifier).replaceAll('\\', '/');
  return !target.startsWith(`${source.room}/`);
}

function matches(source: Source, pattern: RegExp, why: string): string[] {
  return [...source.text.matchAll(pattern)].map(
    (match) => `${source.path}:${lineOf(source.text, match.index)}: ${match[0]}: ${why}`,
  );
}

function withoutComment(line: string): string {
  return line.replace(/^\s*(\/\/|\*|\/\*).*$/, '').replace(/\s\/\/.*$/, '');
}
