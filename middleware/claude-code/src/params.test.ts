import { expect, test } from 'vitest';
import { commandLine, Params, toolRule } from './params.ts';

test('params become the command line; what is not given is left to the program', () => {
  const params = Params.parse({ work_dir: 'src', model: 'opus', allowed_tools: ['read', 'write', 'Bash(git log:*)'] });
  const line = commandLine(params).join(' ');
  expect(line).toContain('--model opus');
  expect(line).toContain('--allowedTools Read,Write,Bash(git log:*)');
  expect(line).toContain('--permission-prompt-tool stdio');
  expect(commandLine({ allowed_tools: [] }).join(' ')).not.toMatch(/--model|--allowedTools|--resume/);
  expect(commandLine({}, 's-1').join(' ')).toContain('--resume s-1');
});

test('tools are written as people write them', () => {
  expect(['read', 'WEBFETCH', 'bash(ls *)', 'mcp__db__query'].map(toolRule)).toEqual([
    'Read',
    'WebFetch',
    'Bash(ls *)',
    'mcp__db__query',
  ]);
});

test('a param that there is not is refused', () => {
  expect(Params.safeParse({ workdir: '.' }).success).toBe(false);
});
