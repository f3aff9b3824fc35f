import { expect, test } from 'vitest';
import { MANIFEST_DOCS } from './manifest-docs.ts';
import { type JsonSchema, manifestJsonSchema } from './manifest-json-schema.ts';

/** Every key that can be written, as `agents.*.command`. */
function keysOf(
  { properties = {}, additionalProperties }: JsonSchema,
  path: readonly string[] = [],
): readonly string[] {
  const named = Object.entries(properties);
  const tables = typeof additionalProperties === 'object' && additionalProperties.properties !== undefined;
  const inner = tables ? [...named, ['*', additionalProperties] as const] : named;
  return inner.flatMap(([key, schema]) => [[...path, key].join('.'), ...keysOf(schema, [...path, key])]);
}

test('every key has words for editors, and there are no words for a key that is none', () => {
  expect(Object.keys(MANIFEST_DOCS).toSorted()).toEqual(keysOf(manifestJsonSchema()).toSorted());
});
