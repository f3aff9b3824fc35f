import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AgentEvent, SessionEvent } from '@concerto/protocol';
import { createConfig, lint } from '@redocly/openapi-core';
import { expect, test } from 'vitest';
import { openApiDocument } from '../src/openapi.ts';

type Schemas = Readonly<Record<string, object>>;

const document = openApiDocument('1.2.3');
const schemas: Schemas = Reflect.get(Reflect.get(document, 'components'), 'schemas');

function refsIn(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === '$ref' && typeof inner === 'string' ? [inner] : refsIn(inner),
  );
}

test('the document passes the recommended rules of Redocly', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'concerto-openapi-'));
  try {
    const ref = join(folder, 'openapi.json');
    writeFileSync(ref, JSON.stringify(document));
    const problems = await lint({ ref, config: await createConfig({ extends: ['recommended'] }) });
    expect(problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('every event is a schema of its own, and what it refers to is there', () => {
  const types = [...AgentEvent.def.options, ...SessionEvent.def.options].flatMap(
    (option) => option.shape.type.def.values,
  );
  for (const type of types) {
    const name = `${type.charAt(0).toUpperCase()}${type.slice(1)}Event`;
    expect(schemas[name]).toMatchObject({ properties: { type: { const: type }, seq: {}, at: {} } });
  }
  const missing = refsIn(document).filter((ref) => schemas[ref.replace('#/components/schemas/', '')] === undefined);
  expect(missing).toEqual([]);
});

test('no schema refers to itself: generators make types of it that do not compile', () => {
  const reachable = (name: string, seen = new Set<string>()): ReadonlySet<string> => {
    for (const ref of refsIn(schemas[name])) {
      const other = ref.replace('#/components/schemas/', '');
      if (seen.has(other)) continue;
      seen.add(other);
      reachable(other, seen);
    }
    return seen;
  };
  expect(Object.keys(schemas).filter((name) => reachable(name).has(name))).toEqual([]);
});

const root = join(import.meta.dirname, '../../..');

/** What a program says when it fails; nothing when it does not. */
async function complaintsOf(folder: string, program: string, ...args: readonly string[]): Promise<string> {
  return await new Promise((resolve) => {
    execFile(process.execPath, [join(root, program), ...args], { cwd: folder }, (error, stdout, stderr) => {
      resolve(error === null ? '' : `${error.message}\n${stdout}${stderr}`);
    });
  });
}

/** What somebody would write with both: an event by its name, and a call with its body and its answer. */
const used = `
import { postSessions, type ContentEvent } from './hey-api/index';
import type { components, paths } from './openapi-typescript';

export const content: components['schemas']['ContentEvent'] & ContentEvent = {
  type: 'content',
  content: { parts: [{ text: 'x' }] },
  seq: 1,
  at: '',
};
type Answers = paths['/api/sessions/{id}/events']['get']['responses'];
export const statuses: readonly (keyof Answers)[] = [200, '4XX'];
export const started = postSessions({ body: { agent: 'a', prompt: 'x' } });
// @ts-expect-error -- what is no event is no event here
export const wrong: ContentEvent = { type: 'content' };
`;

const compilerOptions = {
  strict: true,
  noEmit: true,
  module: 'esnext',
  moduleResolution: 'bundler',
  target: 'es2022',
  lib: ['es2023', 'dom', 'dom.iterable'],
  types: [],
};

test('what openapi-typescript and @hey-api/openapi-ts make of it compiles', { timeout: 180_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'concerto-openapi-'));
  try {
    writeFileSync(join(folder, 'openapi.json'), JSON.stringify(document));
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.ts', 'hey-api'] }));
    writeFileSync(join(folder, 'used.ts'), used);
    const modules = 'tools/generators/node_modules';
    const made = await Promise.all([
      complaintsOf(folder, `${modules}/openapi-typescript/bin/cli.js`, 'openapi.json', '-o', 'openapi-typescript.ts'),
      complaintsOf(folder, `${modules}/@hey-api/openapi-ts/bin/run.js`, '-i', 'openapi.json', '-o', 'hey-api'),
    ]);
    expect(made).toEqual(['', '']);
    expect(await complaintsOf(folder, 'node_modules/typescript/bin/tsc', '-p', '.')).toBe('');
  } finally {
    rmSync(folder, { recursive: true });
  }
});
