import { expect, test } from 'vitest';
import { mcpSignature } from './mcp-signature.ts';

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
      { name: 'path', shape: { type: 'String' }, optional: false },
      { name: 'lines', shape: { type: 'Int' }, optional: true },
    ],
    returns: undefined,
    parameters,
  });
});

test('a tool that says what it gives, and takes nothing', () => {
  const returns = { type: 'object', properties: { content: { type: 'string' } }, required: ['content'] };
  expect(mcpSignature({ name: 'read', description: '', parameters: { type: 'object' }, returns })).toMatchObject({
    params: [],
    returns: { type: 'Map<String, Any>', fields: [{ name: 'content', optional: false, shape: { type: 'String' } }] },
  });
});
