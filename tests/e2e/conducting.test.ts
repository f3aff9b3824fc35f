import { ClientError, type ConcertoClient, concertoClient, type FollowedEvent } from '@concerto/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Conducted, startConducted } from '../support/conducted.ts';
import { steps } from '../support/puppets.ts';
import { runConcerto } from '../support/run-concerto.ts';

const withinMs = 30_000;
const aMachineUnderLoadMs = 120_000;

let conducted: Conducted;
let client: ConcertoClient;

beforeAll(async () => {
  conducted = await startConducted();
  const { url, token } = conducted.server;
  client = concertoClient({ url, token });
});

afterAll(async () => {
  await conducted?.close();
});

/** The first event of a session that fits, as the client tells it. */
async function until(id: string, fits: (event: FollowedEvent) => boolean): Promise<FollowedEvent> {
  for await (const event of client.follow(id, { signal: AbortSignal.timeout(withinMs) })) if (fits(event)) return event;
  throw new Error(`session ${id} ended, or nothing fits within ${withinMs} ms`);
}

const over = (event: FollowedEvent): boolean => event.type === 'finish';

async function statusIs(id: string, status: string): Promise<void> {
  await expect.poll(async () => (await client.get(id)).status, { timeout: withinMs }).toBe(status);
}

async function childrenOf(id: string, count: number): Promise<readonly string[]> {
  const list = async (): Promise<readonly string[]> =>
    (await client.list({ parent: id })).sessions
      // Those that were opened in the same millisecond are listed in any order.
      .toSorted((a, b) => a.agent.localeCompare(b.agent))
      .map((session) => session.id);
  await expect.poll(async () => (await list()).length, { timeout: withinMs }).toBe(count);
  return await list();
}

/** `concerto …` where no terminal is. */
async function concerto(
  ...args: string[]
): Promise<{ readonly code: number | null; readonly out: string; readonly err: string }> {
  const { url, token } = conducted.server;
  return await runConcerto([...args, '--url', url, '--token', token]).ended;
}

const until2 = (path: string): string => steps({ until: path }, { say: { type: 'result', text: 'done' } });

test('14.2 with the client: the tree, an answer before the handler, and the decision linked both ways', {
  timeout: aMachineUnderLoadMs,
}, async () => {
  const { id } = await client.start({ program: 'conduct' });
  const asked = await until(id, ({ type }) => type === 'queryConsent');
  const [child = ''] = await childrenOf(id, 1);
  expect(await client.get(id)).toMatchObject({ kind: 'program', children: 1, status: 'waitingForApproval' });
  expect(await client.get(child)).toMatchObject({ parent: id, root: id, agent: 'Coder' });
  const listed = (await client.list({ tree: true })).sessions.map((session) => session.id);
  expect(listed[listed.indexOf(id) + 1]).toBe(child);
  expect((await client.list()).sessions.map((session) => session.id)).not.toContain(child);
  // Every field of what the program asks.
  expect(asked).toMatchObject({ scope: { description: 'Edit auth.ts' }, changes: [{ path: 'auth.ts', added: 1 }] });

  const settled = await until(child, ({ type }) => type === 'requestSettled');
  if (settled.type !== 'requestSettled' || settled.because === undefined) throw new Error('it is not linked');
  expect(settled).toMatchObject({ by: `program:${id}`, response: 'RS256' });
  const { events } = await client.events(id, { after: settled.because.seq - 1, limit: 1 });
  expect(events).toMatchObject([{ title: 'answer', data: { session: child, request: settled.requestId } }]);

  // The agent's own request is answered by a person: the program's is withdrawn.
  const [open] = (await client.requests(child)).requests;
  await client.answer(child, open?.requestId ?? '', true);
  expect(await until(id, ({ type }) => type === 'requestSettled')).toMatchObject({ outcome: 'withdrawn' });
  await until(id, over);
  expect((await client.get(id)).result).toMatchObject({ text: 'signs with RS256, did: look at it' });
});

test('14.2 with the client: steer, which_child, pause and cancel of a tree, a full pool', {
  timeout: aMachineUnderLoadMs,
}, async () => {
  const gate = conducted.gate();
  const { id } = await client.start({ program: 'pair', prompt: until2(gate.path) });
  const [left = '', right = ''] = await childrenOf(id, 2);
  for (const child of [left, right]) await statusIs(child, 'running');
  const refused = await client.send(id, { content: 'who?' }).catch((cause: unknown) => cause);
  if (!(refused instanceof ClientError)) throw new Error('it was sent');
  expect(refused).toMatchObject({ code: 'which_child', status: 409, problem: { children: { length: 2 } } });
  await client.pause(id);
  for (const one of [left, right, id]) await statusIs(one, 'paused');
  await client.resume(id);
  for (const one of [left, right, id]) await statusIs(one, 'running');
  await client.cancel(left);
  await statusIs(left, 'cancelled');
  expect(await client.send(id, { content: 'go on', priority: 'immediate' })).toMatchObject({ session: right });
  await until(right, (event) => event.type === 'message' && event.message.how === 'steer');
  await gate.open();
  await until(id, over);
  const { result } = await client.get(id);
  expect(result).toMatchObject({
    text: expect.stringMatching(/^cancelled: agent \w+ was cancelled by user:owner.* done$/),
  });

  const { max } = await client.pool();
  await client.configurePool(1);
  const held = conducted.gate();
  const holder = await client.start({ agent: 'puppet', prompt: until2(held.path), once: true });
  const waiting = await client.start({ program: 'solo', prompt: 'plain' });
  const [queued = ''] = await childrenOf(waiting.id, 1);
  expect(await client.get(queued)).toMatchObject({ status: 'queued', waiting: { for: 'slot' } });
  expect(await until(waiting.id, ({ type }) => type === 'functionCallUpdate')).toMatchObject({
    status: 'Coder waits for a place in the pool',
  });
  await held.open();
  await until(holder.id, over);
  await until(waiting.id, over);
  await client.configurePool(max);

  const hung = await client.start({ program: 'solo', prompt: steps({ hang: true }) });
  const [orphan = ''] = await childrenOf(hung.id, 1);
  await statusIs(orphan, 'running');
  await client.cancel(hung.id);
  await statusIs(hung.id, 'cancelled');
  expect((await client.get(orphan)).status).toBe('cancelled');
});

test('14.2 at the terminal: what a program does, its tree and its code, and its agents steered, answered and ended', {
  timeout: aMachineUnderLoadMs,
}, async () => {
  const { id } = await client.start({ program: 'conduct' });
  await until(id, ({ type }) => type === 'queryConsent');
  const [child = ''] = await childrenOf(id, 1);
  const { version = '' } = await client.get(id);
  const shown = (await concerto('sessions', 'show', id)).out;
  expect(shown).toMatch(new RegExp(`^code +${version}$`, 'm'));
  expect(shown).toMatch(new RegExp(`^sessions it opened\\nID .*\\n${child} +waitingForApproval +Coder`, 'm'));
  expect((await concerto('sessions', 'show', child)).out).toMatch(new RegExp(`^opened by +${id}$`, 'm'));
  expect((await concerto('sessions', 'ls', '--tree')).out).toMatch(new RegExp(`^${id} .*\\n.*\\n└ ${child} `, 'm'));
  expect((await concerto('sessions', 'ls')).out).not.toContain(child);
  const below = (await concerto('sessions', 'ls', '--parent', id)).out;
  expect(below).toContain(child);
  expect(below).not.toMatch(new RegExp(`^${id}`, 'm'));
  expect((await concerto('sessions', 'answer', child, 'y')).code).toBe(0);
  await until(id, over);
  const { out } = await concerto('sessions', 'attach', id);
  for (const line of [
    /^ {2}reading the tree$/m,
    /^ {2}plan: \{"files":3,"risky":true\}$/m,
    new RegExp(`^ {2}Coder .* \\(${child}\\)$`, 'm'),
    /^ {2}Architect answered RS256, 312 tokens$/m,
    new RegExp(`^ {2}answered RS256 in ${child}$`, 'm'),
    /^! Edit auth.ts .*\n {2}edit auth.ts {2}\+1 -1$/m,
    /^ {2}→ withdrawn/m,
    /^ {2}coded, now reviewed$/m,
    /^ {2}Reviewer answered did: look at it$/m,
  ]) {
    expect(out).toMatch(line);
  }
  expect((await concerto('sessions', 'attach', child)).out).toMatch(
    new RegExp(`^\\? RS256 or HS256\\?\\n.*\\n {2}→ RS256 by program:${id}$`, 'm'),
  );
});

test('14.2 at the terminal: a message finds the one agent at work, or is told which there are', {
  timeout: aMachineUnderLoadMs,
}, async () => {
  const gate = conducted.gate();
  const { id } = await client.start({ program: 'pair', prompt: until2(gate.path) });
  const [left = '', right = ''] = await childrenOf(id, 2);
  for (const child of [left, right]) await statusIs(child, 'running');
  const refused = await concerto('sessions', 'send', id, 'who?');
  expect(refused.code).toBe(1);
  expect(refused.err).toContain('2 of its agents are at work');
  for (const [child, agent] of [
    [left, (await client.get(left)).agent],
    [right, (await client.get(right)).agent],
  ]) {
    expect(refused.err).toMatch(new RegExp(`^ {2}${child} {2}${agent} {2}running$`, 'm'));
  }
  expect((await concerto('sessions', 'pause', id)).code).toBe(0);
  for (const one of [left, right, id]) await statusIs(one, 'paused');
  expect((await concerto('sessions', 'resume', id)).code).toBe(0);
  expect((await concerto('sessions', 'cancel', left)).code).toBe(0);
  await statusIs(left, 'cancelled');
  expect((await concerto('sessions', 'steer', id, 'go on')).out).toMatch(new RegExp(` in ${right}$`, 'm'));
  await gate.open();
  await until(id, over);
});
