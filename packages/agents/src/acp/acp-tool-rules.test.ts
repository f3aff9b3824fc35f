import { expect, test } from 'vitest';
import { isForbidden } from './acp-tool-rules.ts';

const servers = { files: { transport: 'stdio' as const, command: 'mcp-files' } };

test.each([
  ['mcp__files__remove', 'the form of Claude'],
  ['mcp_files_remove', 'the form of Gemini CLI'],
  ['files_remove', 'the form of OpenCode'],
  ['files.remove', 'our own'],
])('%s is a tool of a server: %s', (name) => {
  const params = { mcp_servers: servers, tools: { deny: ['files.remove'] } };
  expect(isForbidden({ toolCallId: '1', name }, params)).toBe(true);
  expect(isForbidden({ toolCallId: `${name}__7` }, params)).toBe(true);
  expect(isForbidden({ toolCallId: '1', title: name }, params)).toBe(true);
  expect(isForbidden({ toolCallId: '1', name: name.replace('remove', 'read') }, params)).toBe(false);
  expect(isForbidden({ toolCallId: '1', name }, { mcp_servers: servers, tools: { allow: ['files.*'] } })).toBe(false);
});

test('a title allows nothing: a model can choose it', () => {
  const params = { tools: { allow: ['Read'] } };
  expect(isForbidden({ toolCallId: '1', title: 'Read', kind: 'execute' }, params)).toBe(true);
  expect(isForbidden({ toolCallId: '1', title: 'rm -r build', name: 'Read' }, params)).toBe(false);
});

test('without rules nothing is forbidden', () => {
  expect(isForbidden({ toolCallId: '1', title: 'anything' }, {})).toBe(false);
});
