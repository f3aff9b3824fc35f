import { expect, test } from 'vitest';
import { McpFailure } from './mcp-failure.ts';
import { readMcpSettings } from './mcp-settings.ts';

const place = { environment: { PATH: '/bin', TOKEN: 'very-secret', OTHER: 'x' }, directory: '/project' };

test('a command with its arguments in one line', () => {
  const { reach } = readMcpSettings('x', { command: `npx -y "my server" --dir './a b'` }, place);
  expect(reach).toMatchObject({ command: 'npx', args: ['-y', 'my server', '--dir', './a b'], directory: '/project' });
});

test('with `args` the command is taken as it is', () => {
  const { reach } = readMcpSettings('x', { command: '/opt/my tools/run', args: ['a b'] }, place);
  expect(reach).toMatchObject({ command: '/opt/my tools/run', args: ['a b'] });
});

test('paths start where the manifest is', () => {
  const { reach } = readMcpSettings('x', { command: './server', args: ['.'], working_dir: 'sub' }, place);
  expect(reach).toMatchObject({ command: '/project/sub/server', directory: '/project/sub' });
});

test('the environment is a list of what is needed, and secrets by name', () => {
  const spec = readMcpSettings('x', { command: 'run', env: { KEY: '${TOKEN}' } }, place);
  expect(spec.reach).toMatchObject({ env: { PATH: '/bin', KEY: 'very-secret' } });
  expect(JSON.stringify(spec.reach)).not.toContain('OTHER');
  expect(spec.secrets).toEqual(['very-secret']);
});

test.each([
  [{}, /`command`/],
  [{ transport: 'http' }, /`url`/],
  [{ transport: 'sse', url: 'not an address' }, /`url`/],
  [{ transport: 'pigeon' }, /transport/],
  [{ command: 'run', env: { A: '${NOT_SET}' } }, /NOT_SET/],
])('%j is refused', (settings, message) => {
  expect(() => readMcpSettings('x', settings, place)).toThrow(McpFailure);
  expect(() => readMcpSettings('x', settings, place)).toThrow(message);
});

test('an address alone means HTTP', () => {
  expect(readMcpSettings('x', { url: 'http://127.0.0.1:1/mcp' }, place).reach.kind).toBe('http');
});
