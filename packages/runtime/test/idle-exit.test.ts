import { expect, onTestFinished, test } from 'vitest';
import { openStage, type Stage } from './session-stage.ts';

/** Ends some time after it has handed over its result, which it does not announce. */
const agentThatEnds = (how: string): string => `
require('node:readline').createInterface({ input: process.stdin }).on('line', () => {
  console.log(JSON.stringify({ type: 'result', text: 'process ' + process.pid }));
  setTimeout(() => { ${how} }, 300);
}).on('close', () => process.exit(7));
`;

const specOf = (name: string, how: string) => ({ name, command: process.execPath, args: ['-e', agentThatEnds(how)] });

const agents = [
  specOf('dies', "console.error('no more memory'); process.exitCode = 5; process.exit()"),
  specOf('killed', "process.kill(process.pid, 'SIGSEGV')"),
  specOf('leaves', 'process.exit(0)'),
  specOf('stays', ''),
  { name: 'prints', command: 'sh', args: ['-c', 'read line; echo half of it; echo out of disk >&2; exit 5'] },
];

function open(): Stage {
  const stage = openStage({ agents });
  onTestFinished(() => stage.close());
  return stage;
}

async function turnOf(stage: Stage, agent: string): Promise<string> {
  const started = await stage.start({ agent, prompt: 'go' });
  const id = started.ok ? started.value.id : '';
  expect(await stage.until(id, ({ type }) => type === 'turnComplete')).toMatchObject({ outcome: 'done' });
  return id;
}

const isError = ({ type }: Record<string, unknown>): boolean => type === 'subagentError';

async function errorsOf(stage: Stage, id: string): Promise<number> {
  const { entries } = await stage.log.read({ session: id, stream: 'events', after: 0, limit: 1000 });
  return entries.map(({ data }) => JSON.parse(data)).filter(isError).length;
}

const processLost = async (stage: Stage, id: string): Promise<void> => {
  await expect.poll(async () => (await stage.store.state(id))?.agentProcess.kind, { timeout: 10_000 }).toBe('none');
};

test.each([
  ['dies', 'ended with code 5; the end of its stderr:\nno more memory'],
  ['killed', 'ended with signal SIGSEGV'],
  ['prints', 'ended with code 5; the end of its stderr:\nout of disk'],
])('an idle agent that %s is told at once, and the next message starts a new process', async (agent, how) => {
  const stage = open();
  const id = await turnOf(stage, agent);
  const { error } = await stage.until(id, isError);
  expect(error).toMatchObject({
    $error: expect.stringContaining(`the next message starts a new process: agent "${agent}" ${how}`),
  });
  await processLost(stage, id);
  expect(await stage.sessions.get(id)).toMatchObject({ status: 'idle', turn: 1 });
  await stage.sessions.send(id, { content: 'again', priority: 'queued' }, { actor: 'user', key: undefined });
  const again = await stage.until(id, ({ type, callId }) => type === 'functionResult' && callId === 'turn-2');
  expect(again.outcome).not.toBe('failed');
});

test('one that leaves with code 0, is parked or goes with its server says nothing of that', async () => {
  const stage = open();
  const left = await turnOf(stage, 'leaves');
  await processLost(stage, left);
  const [parked, stopped] = [await turnOf(stage, 'stays'), await turnOf(stage, 'stays')];
  await stage.store.execute(parked, { type: 'make-room', for: stopped, at: Date.now(), actor: 'pool' });
  await processLost(stage, parked);
  await stage.stop();
  for (const id of [left, parked, stopped]) expect(await errorsOf(stage, id)).toBe(0);
});
