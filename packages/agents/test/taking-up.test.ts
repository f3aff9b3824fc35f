import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { type AgentConnection, type AgentOutput, type AgentSpec, type Placed, startAgent } from '../src/index.ts';
import { brokenKeeper, newKeeper } from './keeper.ts';
import { kindOf, rawOf, reader, start } from './start.ts';

const drivers = [
  { protocol: 'ndjson', params: { wire: 1 }, hello: 'hello', permission: 'permission', wait: 'wait' },
  { protocol: 'acp', hello: 'hello', permission: 'permission', wait: 'wait' },
  { protocol: 'claude', hello: 'say Hello there.', permission: 'use ls', wait: 'work' },
  { protocol: 'codex', hello: 'say Hello there.', permission: 'use ls', wait: 'work' },
] as const;

const keeper = newKeeper();
let names = 0;

/** All that it says until then, each with its place. */
async function untilKind(connection: AgentConnection, output: ReturnType<typeof reader>, kind: string) {
  const items: (AgentOutput & Placed)[] = [];
  for (;;) {
    const item = await output.next();
    items.push(item);
    if (kindOf(item) === kind) return items;
    if (item.kind === 'exit') throw new Error(`${connection.spec.name} has ended: ${item.error.message}`);
  }
}

async function takeUp(name: string, epoch: number): Promise<AgentConnection> {
  const kept = await keeper.attach(name, epoch);
  if (kept === undefined) throw new Error('it is not held');
  // What the manifest says now does not count.
  return await startAgent({ name: 'other', command: '/not/this' }, { kept });
}

function comparable(items: readonly (AgentOutput & Placed)[]): unknown[] {
  return items.map((item) => JSON.parse(JSON.stringify(item)));
}

describe.each(drivers)('an agent of protocol "$protocol" that another owner takes up', ({ protocol, ...scenes }) => {
  const spec: Partial<AgentSpec> = { protocol, ...('params' in scenes ? { params: scenes.params } : {}) };

  async function begin(): Promise<{ readonly name: string; readonly agent: AgentConnection }> {
    const name = `agent-${++names}`;
    return { name, agent: await start(protocol, spec, { kept: keeper.begin(name, 1) }) };
  }

  test('with an open approval: all is said again in its place, and the answer reaches it once', async () => {
    const { name, agent } = await begin();
    const output = reader(agent);
    agent.kept?.mark('first');
    await agent.prompt({ text: scenes.hello });
    const before = await untilKind(agent, output, 'result');
    agent.kept?.mark('second');
    await agent.prompt({ text: scenes.permission });
    before.push(...(await untilKind(agent, output, 'approval')));
    agent.kept?.detach();
    const next = await takeUp(name, 2);
    expect(next.identity).toEqual(agent.identity);
    expect([...(next.kept?.marks ?? [])]).toEqual(['first', 'second']);
    expect([...next.capabilities]).toEqual([...agent.capabilities]);
    const again = reader(next);
    const repeated = [...(await untilKind(next, again, 'result')), ...(await untilKind(next, again, 'approval'))];
    expect(comparable(repeated)).toEqual(comparable(before));
    const asked = repeated.at(-1);
    expect(asked?.at).toBeDefined();
    const { id } = rawOf<{ id: string }>(asked as AgentOutput);
    await next.reply({ inReplyTo: 'approval', inReplyToId: id, value: 'yes' });
    const rest = await untilKind(next, again, 'result');
    next.kept?.detach();
    // And a third owner, who finds the turn done and the agent ready for the next.
    const third = await takeUp(name, 3);
    const all = reader(third);
    const told = [...(await untilKind(third, all, 'result')), ...(await untilKind(third, all, 'result'))];
    expect(comparable(told)).toEqual(comparable([...before, ...rest]));
    await third.prompt({ text: scenes.hello });
    expect(rawOf((await untilKind(third, all, 'result')).at(-1) as AgentOutput)).toMatchObject({
      text: 'Hello there.',
    });
    await third.end({ atWork: true });
  });

  test('at work: it goes on, and can be interrupted', async () => {
    const { name, agent } = await begin();
    const output = reader(agent);
    await agent.prompt({ text: scenes.wait });
    await untilKind(agent, output, 'partial');
    agent.kept?.detach();
    await sleep(100);
    const next = await takeUp(name, 2);
    const again = reader(next);
    await untilKind(next, again, 'partial');
    await next.request('interrupt', 'i-1');
    expect(rawOf((await untilKind(next, again, 'ack')).at(-1) as AgentOutput)).toMatchObject({ in_reply_to_id: 'i-1' });
    await next.prompt({ text: scenes.hello });
    expect(rawOf((await untilKind(next, again, 'result')).at(-1) as AgentOutput)).toMatchObject({
      text: 'Hello there.',
    });
    await next.end({ atWork: true });
  });

  test.each(['before', 'while'])(
    'and gives up %s it does: it is ended, and that is waited for no longer than it takes',
    async (when) => {
      const { name, agent } = await begin();
      const output = reader(agent);
      await agent.prompt({ text: scenes.wait });
      await untilKind(agent, output, 'partial');
      agent.kept?.detach();
      const kept = await keeper.attach(name, 2);
      if (kept === undefined) throw new Error('it is not held');
      const givenUp = new AbortController();
      if (when === 'before') givenUp.abort();
      const onProcess = async (): Promise<void> => givenUp.abort();
      const started = startAgent({ name: 'other', command: '/not/this' }, { kept, signal: givenUp.signal, onProcess });
      await expect(started).rejects.toThrow('aborted');
      const held = (await keeper.list()).find(({ agent: other }) => other === name);
      expect(held?.running ?? false).toBe(false);
    },
  );

  test('whose keeper is killed: it has ended, and the reason says so', async () => {
    const own = newKeeper();
    const agent = await start(protocol, spec, { kept: own.begin('a', 1) });
    const output = reader(agent);
    const [held] = await own.list();
    expect(held).toMatchObject({ agent: 'a', pid: agent.identity.pid, owned: true, running: true });
    const { ppid } = await import('node:fs').then(({ readFileSync }) => {
      const stat = readFileSync(`/proc/${agent.identity.pid}/stat`, 'utf8');
      return { ppid: Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) };
    });
    process.kill(ppid, 'SIGKILL');
    const items = await output.rest();
    expect(items.at(-1)).toMatchObject({
      kind: 'exit',
      error: { code: 'exited', message: expect.stringContaining('the keeper that held it has ended') },
    });
  });
});

test.each([
  ['refuses-params', 'init-refused', 20_000],
  ['never-acknowledges', 'init-timeout', 700],
] as const)('one that could not be started (%s) is kept no longer', async (behaviour, code, initTimeoutMs) => {
  const name = `agent-${++names}`;
  const starting = start(behaviour, { params: { a: 1 } }, { kept: keeper.begin(name, 1), initTimeoutMs });
  await expect(starting).rejects.toMatchObject({ code });
  await expect.poll(async () => (await keeper.list()).map(({ agent }) => agent)).not.toContain(name);
});

test('where no keeper can be started an agent is our own child, and that is said once', async () => {
  const said: string[] = [];
  const broken = brokenKeeper((message) => said.push(message));
  for (const name of ['first', 'second']) {
    const agent = await start('ndjson', { params: { wire: 1 } }, { kept: broken.begin(name, 1) });
    expect(agent.kept).toBeUndefined();
    const output = reader(agent);
    await agent.prompt({ text: 'hello' });
    await untilKind(agent, output, 'result');
    await agent.end();
  }
  expect(said).toEqual([expect.stringMatching(/^agents will end with this process: the keeper of .* did not start/)]);
});
