import { expect, test } from 'vitest';
import { MANIFEST_DOCS } from './manifest-docs.ts';
import { type JsonSchema, manifestJsonSchema } from './manifest-json-schema.ts';

/** Every key that can be written, as `agents.*.command`; within lists and other forms of a value too. */
function keysOf(schema: JsonSchema, path: readonly string[] = []): readonly string[] {
  const { properties = {}, additionalProperties, items, anyOf = [] } = schema;
  const tables = typeof additionalProperties === 'object' && additionalProperties.properties !== undefined;
  const inner = [...Object.entries(properties), ...(tables ? [['*', additionalProperties] as const] : [])];
  return [
    ...inner.flatMap(([key, within]) => [[...path, key].join('.'), ...keysOf(within, [...path, key])]),
    ...(items === undefined ? [] : keysOf(items, [...path, '[]'])),
    ...anyOf.flatMap((form) => keysOf(form, path)),
  ];
}

/** The words that are in the schema itself, at their places. */
function describedIn(schema: JsonSchema, path: readonly string[] = []): readonly string[] {
  const { properties = {}, additionalProperties, items, anyOf = [], description } = schema;
  return [
    ...(description === undefined ? [] : [path.join('.')]),
    ...Object.entries(properties).flatMap(([key, within]) => describedIn(within, [...path, key])),
    ...(typeof additionalProperties === 'object' ? describedIn(additionalProperties, [...path, '*']) : []),
    ...(items === undefined ? [] : describedIn(items, [...path, '[]'])),
    ...anyOf.flatMap((form) => describedIn(form, path)),
  ];
}

test('every key has words for editors, and there are no words for a key that is none', () => {
  expect(Object.keys(MANIFEST_DOCS).toSorted()).toEqual(keysOf(manifestJsonSchema()).toSorted());
  expect(describedIn(manifestJsonSchema()).toSorted()).toEqual(Object.keys(MANIFEST_DOCS).toSorted());
});
