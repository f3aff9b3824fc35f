import { agentLaunch } from '@concerto/agents';
import { type Line, LineError } from '@concerto/protocol';
import { expect, test, vi } from 'vitest';
import { rawOf, reader, start } from './start.ts';

test('every line is heard as it came, whatever is made of it', async () => {
  const lines: Line[] = [];
  const agent = await start('garbage', {}, { onLine: (line) => lines.push(line) });
  await reader(agent).rest();
  expect(lines.map((line) => (line instanceof LineError ? line.code : line))).toEqual([
    '{"type":"progress","message":"a"}',
    '{"type":',
    '\0\u0001\u0002 ]]]',
    '[1,2]',
    '{"type":7}',
    'null',
    'invalid-utf8',
    'invalid-utf8',
    '{"type":"question"}',
    '{"type":"result","text":"still here"}',
  ]);
});

test.runIf(process.platform === 'linux')('what an agent leaves running is told, then ended', async () => {
  const told: (readonly number[])[] = [];
  const agent = await start('forks-a-grandchild', {}, { onLeftovers: (pids) => told.push(pids) });
  const output = reader(agent);
  const { pids } = rawOf<{ pids: number[] }>(await output.next());
  await output.rest();
  expect(told.map((found) => new Set(found))).toEqual([new Set(pids)]);
});

test('one that leaves nothing is told to leave nothing', async () => {
  const told: (readonly number[])[] = [];
  const agent = await start('ends-with-stdin', {}, { onLeftovers: (pids) => told.push(pids) });
  await agent.end();
  expect(told).toEqual([[]]);
});

test('what a start is made of can be asked for without starting', async () => {
  vi.stubEnv('TEST_SECRET', 'sesame-open');
  const launch = await agentLaunch({ name: 'it', command: 'sh', env: { KEY: '${TEST_SECRET}' } });
  expect(launch).toMatchObject({ workingDir: process.cwd(), secrets: ['sesame-open'] });
  expect(launch.program).toMatch(/\/sh$/);
  await expect(agentLaunch({ name: 'it', command: 'no-such-program' })).rejects.toThrow('was not found');
});
