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
