import { expect, test } from 'vitest';
import { ruleOfTool } from '../tool-rule.ts';
import { namesInRules, toolInput, toolName, toolNaming, whyUnruled } from './acp-tool-rules.ts';

const servers = { files: { transport: 'stdio' as const, command: 'mcp-files' } };

test.each([
  ['mcp__files__remove', 'the form of Claude'],
  ['mcp_files_remove', 'the form of Gemini CLI'],
  ['files_remove', 'the form of OpenCode'],
  ['files.remove', 'our own'],
])('%s is a tool of a server: %s', (name) => {
  const rule = (tool: string, deny: string[]) => ruleOfTool({ deny }, namesInRules(tool, servers));
  expect(rule(name, ['files.remove'])).toBe('deny');
  expect(rule(name.replace('remove', 'read'), ['files.remove'])).toBeUndefined();
  expect(ruleOfTool({ allow: ['files.*'] }, namesInRules(name, servers))).toBeUndefined();
});

test.each([
  ['gemini-cli', { toolCallId: 'run_shell_command__call_1_1', title: 'rm -r build' }, 'run_shell_command'],
  ['OpenCode', { toolCallId: 'call_1', title: 'bash' }, 'bash'],
  ['@agentclientprotocol/claude-agent-acp', { toolCallId: 'call_1', title: 'rm', name: 'Bash' }, 'Bash'],
  ['scripted', { toolCallId: 'a__b', title: 'Read' }, undefined],
])('%s tells the name of a tool in a place of its own', (agent, call, name) => {
  const naming = toolNaming({}, agent);
  // A later title is what the model wrote.
  expect(toolName({ ...call, title: 'Read' }, call, naming)).toBe(name);
});

test('an agent that never tells the names of its tools is refused rules, and is let be without them', () => {
  const naming = toolNaming({}, '@agentclientprotocol/codex-acp');
  expect(whyUnruled({ tools: { deny: ['shell'] } }, naming)).toContain('(shell) cannot be held');
  expect(whyUnruled({ tools: { allow: [] } }, naming)).toContain('cannot be held');
  expect(whyUnruled({ tools: {} }, naming)).toBeUndefined();
  expect(whyUnruled({ tools: { deny: ['shell'] } }, toolNaming({ tool_names: 'title' }, 'codex-acp'))).toBeUndefined();
});

test('the command of Gemini CLI is read from the title of its shell, and of nothing else', () => {
  const call = { toolCallId: 'run_shell_command__1', title: 'rm -r build', name: 'run_shell_command' };
  expect(toolInput(call, 'id')).toEqual({ command: 'rm -r build' });
  expect(toolInput({ ...call, rawInput: { command: 'ls' } }, 'id')).toEqual({ command: 'ls' });
  expect(toolInput({ ...call, name: 'mcp_files_remove' }, 'id')).toBeUndefined();
  expect(toolInput(call, 'name')).toBeUndefined();
});
