import { expect, test } from 'vitest';
import { mcpSignature, schemaType } from './mcp-signature.ts';

test.each([
  [{ type: 'string' }, 'String'],
  [{ type: 'integer' }, 'Int'],
  [{ type: 'number' }, 'Float'],
  [{ type: 'boolean' }, 'Bool'],
  [{ type: 'null' }, 'Nil'],
  [{ type: 'string', enum: ['a', 'b'] }, '"a" | "b"'],
  [{ enum: [1, 2] }, 'Any'],
  [{ type: 'array', items: { type: 'array', items: { type: 'integer' } } }, 'Array<Array<Int>>'],
  [{ type: 'array' }, 'Array<Any>'],
  [{ type: 'object', additionalProperties: { type: 'number' } }, 'Map<String, Float>'],
  [{ type: 'object', properties: {} }, 'Map<String, Any>'],
  [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, 'Any'],
  [{}, 'Any'],
])('%j is %s', (schema, type) => {
  expect(schemaType(schema)).toBe(type);
});

test('a tool with parameters, some of which may be left out', () => {
  const parameters = {
    type: 'object',
    properties: { path: { type: 'string', description: 'Where' }, lines: { type: 'integer' } },
    required: ['path'],
  };
  expect(mcpSignature({ name: 'read', description: 'Reads', parameters, returns: undefined })).toEqual({
    name: 'read',
    description: 'Reads',
    params: [
      { name: 'path', type: 'String', optional: false, description: 'Where' },
      { name: 'lines', type: 'Int', optional: true, description: undefined },
    ],
    returns: 'Any',
    parameters,
  });
});
