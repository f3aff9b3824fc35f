import { expect, test } from 'vitest';
import { schemaShape } from './schema-shape.ts';

test.each([
  [{ type: 'string' }, 'String'],
  [{ type: 'integer' }, 'Int'],
  [{ type: 'number' }, 'Float'],
  [{ type: 'boolean' }, 'Bool'],
  [{ type: 'null' }, 'Nil'],
  [{ type: 'string', enum: ['a', 'b'] }, '"a" | "b"'],
  [{ const: 'a' }, '"a"'],
  [{ enum: [1, 2] }, 'Int'],
  [{ enum: [1, 'b'] }, 'Any'],
  [{ enum: [] }, 'Any'],
  [{ type: 'array', items: { type: 'array', items: { type: 'integer' } } }, 'Array<Array<Int>>'],
  [{ type: 'array' }, 'Array<Any>'],
  [{ type: 'object', additionalProperties: { type: 'number' } }, 'Map<String, Float>'],
  [{ type: 'object', properties: {} }, 'Map<String, Any>'],
  [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, 'Option<String>'],
  [{ type: ['integer', 'null'] }, 'Option<Int>'],
  [{ type: ['integer', 'string'] }, 'Int | String'],
  [{ oneOf: [{ type: 'string' }, {}] }, 'Any'],
  [{ $ref: '#/$defs/a~1b', $defs: { 'a/b': { type: 'boolean' } } }, 'Bool'],
  [{ $ref: '#/$defs/gone' }, 'Any'],
  [{ $ref: 'https://example.org/schema' }, 'Any'],
  [{ $ref: '#' }, 'Any'],
  [{}, 'Any'],
  [true, 'Any'],
])('%j is %s', (schema, type) => {
  expect(schemaShape(schema).type).toBe(type);
});

test('an object says its properties, all the way down', () => {
  const point = { type: 'object', properties: { x: { type: 'number' } }, required: ['x'] };
  expect(schemaShape({ type: 'object', properties: { points: { type: 'array', items: point } } })).toEqual({
    type: 'Map<String, Any>',
    fields: [
      {
        name: 'points',
        optional: true,
        shape: {
          type: 'Array<Map<String, Any>>',
          items: { type: 'Map<String, Any>', fields: [{ name: 'x', optional: false, shape: { type: 'Float' } }] },
        },
      },
    ],
  });
});
