import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  AgentError,
  type AgentOutput,
  type AgentSpec,
  type ProcessIdentity,
  type StartOptions,
  startAgent,
} from '../src/index.ts';
import { newKeeper } from './keeper.ts';
import { kindOf, rawOf, reader, start } from './start.ts';

const data = 'iVBORw0KGgo=';
const png = { inlineData: { mimeType: 'image/png', data, title: 'cat.png' } };
const plain = { inlineData: { mimeType: 'text/plain', data: 'cGxhaW4gd29yZHM=' } };
const words = 'A file:\n\nplain words';
const acpFiles = [
  { type: 'text', text: 'look' },
  { type: 'image', mimeType: 'image/png', data },
  { type: 'text', text: words },
];
const claudeFiles = [
  { type: 'text', text: 'look' },
  { type: 'image', source: { type: 'base64', media_type: 'image/png', data } },
  { type: 'text', text: words },
];
const codexFiles = [
  { type: 'text', text: 'look', text_elements: [] },
  { type: 'image', url: `data:image/png;base64,${data}` },
  { type: 'text', text: words, text_elements: [] },
];

/** How each of the little programs is made to do what every agent does. */
const drivers = [
  {
    protocol: 'ndjson',
    params: { wire: 1 },
    hello: 'hello',
    permission: 'permission',
    wait: 'wait',
    exit: 'exit',
    files: [{ text: 'look' }, png, plain],
  },
  { protocol: 'acp', hello: 'hello', permission: 'permission', wait: 'wait', exit: 'exit', files: acpFiles },
  {
    protocol: 'claude',
    hello: 'say Hello there.',
    permission: 'use ls',
    wait: 'work',
    exit: 'die',
    files: claudeFiles,
  },
  { protocol: 'codex', hello: 'say Hello there.', permission: 'use ls', wait: 'work', exit: 'die', files: codexFiles },
] as const;

const keeper = newKeeper();
let lastName = 0;
const holders = [
  { holder: 'is our child', options: (): StartOptions => ({}) },
  { holder: 'is held by a keeper', options: (): StartOptions => ({ kept: keeper.begin(`agent-${++lastName}`, 1) }) },
];
const cases = holders.flatMap((holder) => drivers.map((driver) => ({ ...holder, ...driver })));

/** What every driver owes to the runtime, whatever its agent speaks and whoever holds it. */
describe.each(cases)('a driver of protocol "$protocol" whose agent $holder', ({ protocol, options, ...scenes }) => {
  const spec: Partial<AgentSpec> = { protocol, ...('params' in scenes ? { params: scenes.params } : {}) };
  const startOne = () => start(protocol, spec, options());

  async function untilEnd(output: ReturnType<typeof reader>): Promise<AgentOutput[]> {
    const items: AgentOutput[] = [];
    for (;;) {
      const item = await output.next();
      items.push(item);
      if (['result', 'error', 'ack', 'exit'].includes(kindOf(item))) return items;
    }
  }

  test('each prompt has one result, and every message is of our own wire', async () => {
    const agent = await startOne();
    const output = reader(agent);
    for (const id of ['p-1', 'p-2']) {
      await agent.prompt({ text: scenes.hello, id, session: 's-1' });
      const items = await untilEnd(output);
      expect(rawOf(items.at(-1) as AgentOutput)).toMatchObject({ type: 'result', text: 'Hello there.' });
      const messages = items.flatMap((item) => (item.kind === 'message' ? [item] : []));
      const renamed = messages.filter(({ message, raw }) => message.type !== 'custom' && message.type !== raw.type);
      expect(renamed).toEqual([]);
    }
  });

  test('files go along in the words of its wire', async () => {
    const agent = await startOne();
    const output = reader(agent);
    await agent.prompt({ text: 'look', parts: [{ text: 'look' }, png, plain] });
    const { text } = rawOf<{ text: string }>((await untilEnd(output)).at(-1) as AgentOutput);
    expect(JSON.parse(text)).toEqual(scenes.files);
  });

  test('an approval is answered by its id', async () => {
    const agent = await startOne();
    const output = reader(agent);
    await agent.prompt({ text: scenes.permission });
    const { id } = rawOf<{ id: string }>(await output.until('approval'));
    await agent.reply({ inReplyTo: 'approval', inReplyToId: id, value: 'yes' });
    expect(kindOf((await untilEnd(output)).at(-1) as AgentOutput)).toBe('result');
  });

  test('an interrupt is acknowledged, ends the turn without a word, and the next prompt works', async () => {
    const agent = await startOne();
    const output = reader(agent);
    await agent.prompt({ text: scenes.wait });
    await output.until('partial');
    await agent.request('interrupt', 'i-1');
    expect(rawOf((await untilEnd(output)).at(-1) as AgentOutput)).toMatchObject({ type: 'ack', in_reply_to_id: 'i-1' });
    await agent.prompt({ text: scenes.hello });
    expect((await untilEnd(output)).at(-1)).toMatchObject({ raw: { type: 'result', text: 'Hello there.' } });
  });

  test.skipIf(protocol === 'ndjson')('what can be switched is switched while it runs, told, or refused', async () => {
    const agent = await startOne();
    await agent.configure?.({ model: 'large' });
    await expect(agent.configure?.({ model: 'none' })).rejects.toThrow(/no (such )?model/);
    await agent.prompt({ text: scenes.hello });
    const said: AgentOutput[] = [];
    for await (const batch of agent.output) {
      said.push(...batch);
      if (batch.some((item) => kindOf(item) === 'result')) break;
    }
    const events = said.flatMap((item) => (item.kind === 'events' ? item.events : []));
    expect(events).toContainEqual(expect.objectContaining({ type: 'agentInfo', model: 'large' }));
  });

  test('a verb that it has not announced is refused', async () => {
    const agent = await startOne();
    await expect(agent.request('pause', 'p-1')).rejects.toMatchObject({ code: 'not-announced' });
  });

  test('when it dies, its exit is the last word, and what is asked of it then is refused', async () => {
    const agent = await startOne();
    const output = reader(agent);
    await agent.prompt({ text: scenes.exit });
    const items = await output.rest();
    expect(items.at(-1)).toMatchObject({ kind: 'exit', error: { code: 'exited' } });
    await expect(output.next()).rejects.toThrow('the output has ended');
    await expect(agent.prompt({ text: scenes.hello })).rejects.toBeInstanceOf(AgentError);
  });

  test('its end can be asked for twice, at work too, and leaves no process', async () => {
    const agent = await startOne();
    await agent.prompt({ text: scenes.wait });
    await Promise.all([agent.end({ atWork: true }), agent.end()]);
    expect(existsSync(`/proc/${agent.identity.pid}`)).toBe(false);
  });

  test('a start that is called off leaves no process', async () => {
    const calledOff = new AbortController();
    let started: ProcessIdentity | undefined;
    const file = `${import.meta.dirname}/agents/never-acknowledges.mjs`;
    const starting = startAgent(
      { name: 'slow', command: process.execPath, args: [file], ...spec },
      {
        ...options(),
        signal: calledOff.signal,
        endGraceMs: 200,
        onProcess: (identity) => {
          started = identity;
          setTimeout(() => calledOff.abort(), 50);
        },
      },
    );
    await expect(starting).rejects.toThrow(/abort/);
    expect(existsSync(`/proc/${started?.pid}`)).toBe(false);
  });
});
