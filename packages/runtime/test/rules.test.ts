import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readManifest } from '@concerto/language';
import { replaceableLog } from '@concerto/log/testing';
import type { PutRules, Rule } from '@concerto/protocol';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type CatalogEntry, catalogOf, RuleBook } from '../src/index.ts';
import { programEntry } from './program-entry.ts';
import { openStage, type Stage } from './session-stage.ts';

/** Asks for what its prompt says, one approval a line, and tells what it heard. */
const script = `
const lines = require('node:readline').createInterface({ input: process.stdin });
let left = [];
let heard = [];
const next = () => {
  const ask = left.shift();
  if (ask === undefined) return console.log(JSON.stringify({ type: 'result', text: JSON.stringify(heard) }));
  console.log(JSON.stringify({ id: 'a' + left.length, description: 'May I?', type: 'approval', ...ask }));
};
lines.on('line', (line) => {
  const message = JSON.parse(line);
  if (message.type === 'prompt') { left = JSON.parse(message.text); heard = []; next(); }
  if (message.type === 'response') { heard.push([message.value ?? message.error, message.reason ?? null]); next(); }
});
`;

let stage: Stage;
let folder: string;
const user = { actor: 'user', key: undefined };

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'concerto-rules-'));
});

afterEach(async () => {
  await stage.close();
  await rm(folder, { recursive: true });
});

function open(rules: readonly Rule[], more: Pick<CatalogEntry, 'answerWithinMs' | 'onTimeout'> = {}): void {
  const spec = { name: 'asks', command: process.execPath, args: ['-e', script], workingDir: folder };
  stage = openStage({ agents: [], entries: [{ kind: 'agent', name: 'asks', spec, rules, ...more }] });
}

async function ask(...asked: readonly object[]): Promise<string> {
  const started = await stage.start({ agent: 'asks', prompt: JSON.stringify(asked) });
  return started.ok ? started.value.id : '';
}

async function heard(id: string): Promise<unknown> {
  const done = await stage.until(id, (event) => event.type === 'functionResult');
  const { content } = done as { content: { parts: { functionResponse: { response: { text: string } } }[] } };
  return JSON.parse(content.parts[0]?.functionResponse.response.text ?? 'null');
}

/** What waits for a person, other than one that is over. */
async function requestOf(id: string, other?: string): Promise<string> {
  const asked = await stage.until(id, (event) => event.type === 'queryConsent' && event.requestId !== other);
  return String(asked.requestId);
}

describe('rules answer', () => {
  test('what they decide reaches the agent with the reason, and everybody sees which rule it was', async () => {
    open([
      { tool: 'Read', decide: 'allow' },
      { tool: 'Bash', command: 'rm *', decide: 'deny', reason: 'not from here' },
    ]);
    const id = await ask({ tool: 'Read' }, { tool: 'Bash', command: 'ls && rm -rf b' });
    expect(await heard(id)).toEqual([
      ['yes', null],
      ['no', 'not from here'],
    ]);
    const settled = await stage.until(id, (event) => event.type === 'requestSettled' && event.response === false);
    expect(settled).toMatchObject({ by: 'rule:agents.asks.2', reason: 'not from here', outcome: 'answered' });
    expect(await stage.until(id, (event) => event.type === 'requestRouted')).toMatchObject({ to: 'rules' });
    const { entries } = (await stage.sessions.audit(id)) ?? { entries: [] };
    expect(entries.find(({ what }) => what === 'request-answered')).toMatchObject({
      detail: { by: 'rule:agents.asks.1' },
      deliveredAt: expect.any(String),
    });
  });

  test('a session’s own rules come first, under their names; a rule that is remembered comes after them', async () => {
    open([{ tool: 'Bash', decide: 'allow' }]);
    const asked = [{ tool: 'Bash', command: 'git push' }, { tool: 'Read' }, { tool: 'Edit', paths: ['a'] }];
    const rules: readonly Rule[] = [
      { command: 'git push*', decide: 'deny', reason: 'not this time' },
      { tool: 'Read', decide: 'allow' },
    ];
    const started = await stage.start({
      agent: 'asks',
      prompt: JSON.stringify([...asked, asked[2]]),
      rules: [...rules],
    });
    const id = started.ok ? started.value.id : '';
    const isEdit = (event: Record<string, unknown>): boolean => (event.scope as Rule | undefined)?.tool === 'Edit';
    const request = String((await stage.until(id, isEdit)).requestId);
    await stage.sessions.answer({ session: id, request }, { response: true, remember: 'session' }, user);
    expect(await heard(id)).toEqual([
      ['no', 'not this time'],
      ['yes', null],
      ['yes', null],
      ['yes', null],
    ]);
    for (const by of ['rule:session.1', 'rule:session.2', 'rule:session.3'])
      await stage.until(id, (event) => event.type === 'requestSettled' && event.by === by);
    const { entries } = (await stage.sessions.audit(id)) ?? { entries: [] };
    expect(entries.filter(({ what }) => what === 'rule-added')).toHaveLength(3);
  });

  test('a session’s own rule that leaves it to a model names one that there is', async () => {
    open([]);
    const rules: Rule[] = [{ decide: 'model:Nobody' }];
    expect(await stage.start({ agent: 'asks', prompt: '[]', rules })).toMatchObject({
      ok: false,
      error: { code: 'invalid_rules', message: expect.stringContaining('[assistants.Nobody]') },
    });
  });

  test('a link out of the folder is followed where the agent runs', async () => {
    await mkdir(join(folder, 'src'));
    await writeFile(join(folder, 'src/a.ts'), '');
    await symlink('/etc', join(folder, 'src/etc'));
    open([
      { tool: 'Edit', path: 'src/**', decide: 'allow' },
      { decide: 'deny', reason: 'outside' },
    ]);
    const id = await ask(
      { tool: 'Edit', paths: ['src/a.ts'] },
      { tool: 'Edit', paths: ['src/new/deep.ts'] },
      { tool: 'Edit', paths: ['src/etc/passwd'] },
    );
    expect(await heard(id)).toEqual([
      ['yes', null],
      ['yes', null],
      ['no', 'outside'],
    ]);
  });

  test('what none decides is asked of a person, whose no has a reason; remembered for the session it is not asked again', async () => {
    open([]);
    const same = { tool: 'Bash', command: 'npm publish' };
    const id = await ask(same, same, { tool: 'Bash', command: 'npm publish --tag x' });
    const request = await requestOf(id);
    expect(await stage.sessions.get(id)).toMatchObject({ waiting: { asked: 'person', next: [] } });
    const target = { session: id, request };
    const answer = { response: false, reason: 'not today', remember: 'session' } as const;
    expect(await stage.sessions.answer(target, answer, user)).toMatchObject({ ok: true });
    const second = await stage.until(id, (event) => event.type === 'requestSettled' && event.by === 'rule:session.1');
    await stage.until(id, (event) => event.type === 'requestRouted' && event.to === 'person');
    const [third] = (await stage.sessions.requests(id))?.requests.map(({ requestId }) => requestId) ?? [];
    expect([request, second.requestId]).not.toContain(third);
    await stage.sessions.answer({ session: id, request: third ?? '' }, { response: true }, user);
    expect(await heard(id)).toEqual([
      ['no', 'not today'],
      ['no', 'not today'],
      ['yes', null],
    ]);
    expect((await stage.sessions.rules.list()).rules).toEqual([]);
  });

  test('always: a rule of the store, with who and from where; it can be taken back, and the next request follows', async () => {
    open([]);
    const id = await ask({ tool: 'Bash', command: 'npm test' }, { tool: 'Bash', command: 'npm test' });
    const request = await requestOf(id);
    await stage.sessions.answer({ session: id, request }, { response: true, remember: 'always' }, user);
    expect(await heard(id)).toEqual([
      ['yes', null],
      ['yes', null],
    ]);
    const { rules, version } = await stage.sessions.rules.list();
    expect(rules).toMatchObject([
      {
        agent: 'asks',
        tool: 'Bash',
        command: 'npm test',
        decide: 'allow',
        source: 'store',
        addedBy: 'user',
        from: { session: id, requestId: request },
      },
    ]);
    expect(rules[0]?.id).toMatch(/^rule:store\./);
    expect(await stage.sessions.rules.put({ rules: [], version: 0 }, 'user')).toMatchObject({
      error: { code: 'stale_rules', details: { version } },
    });
    expect(await stage.sessions.rules.put({ rules: [], version }, 'user')).toMatchObject({ value: { rules: [] } });
    const again = await ask({ tool: 'Bash', command: 'npm test' });
    expect(await requestOf(again)).not.toBe('');
  });

  test('always, of an agent of a program: a rule for the agent that its connector names, whatever the program calls it', async () => {
    const args = ['-e', script];
    const { manifest } = readManifest(
      `[agents.asks]\ncommand = ${JSON.stringify(process.execPath)}\nargs = ${JSON.stringify(args)}\ninput_format = "json"\n`,
    );
    const source = `agent Worker { connector: asks }
fn main() -> Result<String, AgentError> { Worker.execute(std::env::get("CONCERTO_PROMPT")?) }`;
    const spec = { name: 'asks', command: process.execPath, args, workingDir: folder };
    stage = openStage({
      agents: [],
      entries: [
        { kind: 'agent', name: 'asks', spec },
        // Not the one that the program calls so.
        { kind: 'agent', name: 'Worker', spec: { ...spec, name: 'Worker' } },
        programEntry('conducts', source, { manifest }),
      ],
    });
    const prompt = JSON.stringify([{ tool: 'Bash', command: 'npm test' }]);
    const calls = async (): Promise<string> => {
      const started = await stage.start({ program: 'conducts', prompt });
      const id = started.ok ? started.value.id : '';
      return String((await stage.until(id, ({ childSession }) => childSession !== undefined)).childSession);
    };
    const child = await calls();
    const target = { session: child, request: await requestOf(child) };
    expect((await stage.sessions.answer(target, { response: true, remember: 'always' }, user)).ok).toBe(true);
    expect((await stage.sessions.rules.list()).rules).toMatchObject([{ agent: 'asks', tool: 'Bash' }]);
    const again = await calls();
    expect(await heard(again)).toEqual([['yes', null]]);
    // The same rules say the same of what was asked.
    const { rules } = await stage.sessions.rules.list();
    const tried = await stage.sessions.trials.try({
      rules: rules.map(({ source: _source, ...rule }) => rule),
      session: again,
    });
    expect(tried).toMatchObject({ ok: true, value: { requests: [{ agent: 'Worker', outcome: 'same' }] } });
  });

  test('what cannot be known again is not remembered, and stays open', async () => {
    open([]);
    const id = await ask({});
    const target = { session: id, request: await requestOf(id) };
    expect(await stage.sessions.answer(target, { response: true, remember: 'always' }, user)).toMatchObject({
      error: { code: 'cannot_remember' },
    });
    expect(await stage.sessions.answer(target, { response: true }, user)).toMatchObject({ ok: true });
  });

  test('a time for people: what nobody answers is denied then', async () => {
    open([{ tool: 'X', decide: 'ask' }], { answerWithinMs: 300, onTimeout: 'deny' });
    const id = await ask({ tool: 'X' });
    const routed = await stage.until(id, (event) => event.type === 'requestRouted');
    expect(routed).toMatchObject({
      to: 'person',
      reason: 'rule:agents.asks.1 asks a person',
      expiresAt: expect.any(String),
    });
    expect(await heard(id)).toEqual([['no', 'nobody answered within 0.3 seconds']]);
  });

  test('which rule would decide can be tried, with what else would match', async () => {
    open([
      { tool: 'Bash', command: 'npm *', decide: 'allow' },
      { risk: 'high', decide: 'deny' },
    ]);
    const request = { tool: 'Bash', command: 'npm install x' };
    expect(await stage.sessions.rules.try({ agent: 'asks', request })).toEqual({
      decision: 'allow',
      rule: 'rule:agents.asks.1',
      risk: 'high',
      others: [{ rule: 'rule:agents.asks.2', decision: 'deny' }],
    });
    const hidden = await stage.sessions.rules.try({ agent: 'asks', request: { tool: 'Bash', command: 'npm $(x)' } });
    expect(hidden).toMatchObject({ decision: 'deny', unparsed: expect.any(String) });
    expect(await stage.sessions.rules.try({ agent: 'other', request })).toMatchObject({ decision: 'pass' });
  });
});

test('a version of a store that came back with less may mean other rules', async () => {
  const { log, replace } = replaceableLog();
  const book = (): RuleBook => new RuleBook({ log, catalog: catalogOf([]), mintId: (prefix) => prefix });
  const [here, elsewhere] = [book(), book()];
  const decides = async (): Promise<string> =>
    (await here.try({ agent: 'asks', request: { tool: 'Bash', command: 'ls' } })).decision;
  await here.put({ rules: [{ decide: 'allow', tool: 'Bash' }], version: 0 }, 'user:ann');
  expect(await decides()).toBe('allow');
  replace();
  await elsewhere.put({ rules: [{ decide: 'deny', tool: 'Bash' }], version: 0 }, 'user:ann');
  expect(await decides()).toBe('deny');
  expect((await here.list()).rules).toMatchObject([{ decide: 'deny' }]);
});

test('a rule of a newer version allows nothing here, denies what the rest of it fits, and stays as it is', async () => {
  const { log } = replaceableLog();
  const book = new RuleBook({ log, catalog: catalogOf([]), mintId: (prefix) => prefix });
  const stored = [
    { id: 'one', decide: 'allow', tool: 'Bash', within: 'office hours' },
    { id: 'two', decide: 'deny', tool: 'Read', within: 'office hours' },
    { id: 'three', decide: 'allow', tool: 'Edit' },
  ];
  const written = async (): Promise<unknown> => {
    const { entries } = await log.read({ session: '@rules', stream: 'domain', after: 0, limit: 10 });
    return JSON.parse(entries.at(-1)?.data ?? '').rules;
  };
  const data = JSON.stringify({ type: 'rules-put', rules: stored });
  await log.append({ session: '@rules', streams: [{ stream: 'domain', entries: [{ type: 'rules-put', data }] }] });
  const decides = async (tool: string): Promise<string> =>
    (await book.try({ agent: 'asks', request: { tool } })).decision;
  expect([await decides('Bash'), await decides('Read'), await decides('Edit')]).toEqual(['pass', 'deny', 'allow']);
  const { rules, version } = await book.list();
  expect(rules.map(({ warning }) => warning)).toEqual([
    expect.stringContaining('within is not known here'),
    expect.stringContaining('within is not known here'),
    undefined,
  ]);
  const others = stored.slice(0, 2).map(({ within: _within, ...rule }) => rule);
  expect(await book.put({ rules: [...others] as PutRules['rules'], version }, 'user:ann')).toMatchObject({ ok: true });
  await book.remember(
    { decide: 'allow', tool: 'Grep' },
    { agent: 'asks', addedBy: 'user:ann', from: { session: 's', requestId: 'r' } },
  );
  expect(await written()).toMatchObject([stored[0], stored[1], { tool: 'Grep' }]);
});
