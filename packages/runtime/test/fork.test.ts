import { join } from 'node:path';
import { readManifest } from '@concerto/language';
import { type ForkSession, readStoredEvent, SessionFold, type SessionView } from '@concerto/protocol';
import { afterEach, describe, expect, test } from 'vitest';
import { systemClock } from '../src/index.ts';
import { type AssistantStage, openAssistantStage } from './assistant-stage.ts';
import { programEntry } from './program-entry.ts';
import { openStage, type Stage } from './session-stage.ts';

const user = { actor: 'user:ann', key: undefined };
let stage: Stage;

afterEach(() => stage.close());

type Event = Record<string, unknown>;

async function eventsOf(session: string): Promise<readonly Event[]> {
  const { entries } = await stage.log.read({ session, stream: 'events', after: 0, limit: 10_000 });
  return entries.map(({ data }) => JSON.parse(data));
}

/** As every client puts it together. */
async function viewOf(session: string): Promise<SessionView> {
  const fold = new SessionFold();
  const { entries } = await stage.log.read({ session, stream: 'events', after: 0, limit: 10_000 });
  for (const { data } of entries) {
    const event = readStoredEvent(data);
    if (event !== undefined) fold.take(event);
  }
  return fold.view;
}

async function forked(session: string, request: ForkSession = {}): Promise<string> {
  const fork = await stage.sessions.fork(session, request, user);
  if (!fork.ok) throw new Error(fork.error.message);
  expect(fork.value).toMatchObject({ forkOf: { session }, title: expect.stringMatching(/^Fork of /) });
  return fork.value.id;
}

async function refusalOf(session: string, request: ForkSession = {}): Promise<string> {
  const fork = await stage.sessions.fork(session, request, user);
  if (fork.ok) throw new Error('it was forked');
  expect(fork.error.code).toBe('cannot_fork');
  return fork.error.message;
}

async function ends(session: string, turns: number): Promise<void> {
  let ended = 0;
  await stage.until(session, ({ type }) => {
    if (type === 'turnComplete') ended += 1;
    return ended === turns;
  });
}

function lastHeard({ model }: AssistantStage): unknown {
  const messages = model.requests.at(-1)?.body.messages;
  return Array.isArray(messages) ? messages.map(({ content }: { content: unknown }) => content) : messages;
}

describe('an assistant', () => {
  test('goes on from the turns that were over by an event; the session itself goes on as if nothing had been', async () => {
    const assistant = await openAssistantStage(['One.', 'Two.', 'Deux.', 'Three.']);
    stage = assistant;
    const id = await assistant.begin('Say one', { budget: { turns: 5 } });
    await ends(id, 1);
    await assistant.say(id, 'Say two');
    await ends(id, 2);
    const second = (await eventsOf(id)).filter(({ type }) => type === 'start').at(-1);
    // In the middle of the second turn: only the first was over.
    const fork = await forked(id, { at: Number(second?.seq) + 1, prompt: 'In French' });
    await ends(fork, 2);
    expect(lastHeard(assistant)).toEqual(['Say one', 'One.', 'In French']);
    const { turns, requests: _requests } = { ...(await viewOf(fork)), requests: [] };
    expect(turns.map(({ number, result }) => [number, result !== undefined])).toEqual([
      [1, true],
      [2, true],
    ]);
    const session = await stage.sessions.get(fork);
    // What it costs, and how many turns that is, is its own.
    expect(session).toMatchObject({ turn: 2, usage: { inputTokens: 100 }, budget: { spent: { turns: 1 } } });
    expect(session?.forkOf?.at).toBe(Number(second?.seq) - 1);
    await assistant.say(id, 'Say three');
    await ends(id, 3);
    expect(lastHeard(assistant)).toEqual(['Say one', 'One.', 'Say two', 'Two.', 'Say three']);
  });

  test('without a prompt it waits for one; a fork can be forked; the same wish again is the same session', async () => {
    const assistant = await openAssistantStage(['One.', 'Two.']);
    stage = assistant;
    const id = await assistant.begin('Say one', { once: true });
    await stage.until(id, ({ type }) => type === 'finish');
    const caller = { actor: 'user:ann', key: 'k'.repeat(40) };
    const [first, again] = [await stage.sessions.fork(id, {}, caller), await stage.sessions.fork(id, {}, caller)];
    expect(again.ok && first.ok && again.value.id === first.value.id).toBe(true);
    expect(await stage.sessions.fork(id, { at: 1 }, caller)).toMatchObject({ error: { code: 'id_in_use' } });
    const fork = first.ok ? first.value.id : '';
    await assistant.reached(fork, 'idle');
    const second = await forked(fork);
    await assistant.reached(second, 'idle');
    await assistant.say(second, 'Say two');
    await ends(second, 2);
    expect(lastHeard(assistant)).toEqual(['Say one', 'One.', 'Say two']);
    // It goes on after its source is gone.
    expect(await stage.sessions.delete(id, user)).toMatchObject({ ok: true });
    expect((await viewOf(fork)).turns).toHaveLength(1);
    const audit = await stage.sessions.audit(second);
    expect(audit?.entries[0]).toMatchObject({ actor: 'user:ann' });
  });

  test('where no turn was over, or no such event is, there is nothing to go on from', async () => {
    const assistant = await openAssistantStage(['One.']);
    stage = assistant;
    const id = await assistant.begin('Say one');
    await ends(id, 1);
    expect(await refusalOf(id, { at: 1 })).toBe('no turn of it was over by event 1: there is nothing to go on from');
    expect(await refusalOf(id, { at: 10_000 })).toMatch(/^`at`: its events end with number \d+$/);
    expect(await stage.sessions.fork('nobody', {}, user)).toMatchObject({ error: { code: 'no_such_session' } });
  });
});

async function started(name: string): Promise<string> {
  const session = await stage.start({ program: name });
  if (!session.ok) throw new Error(session.error.message);
  return session.value.id;
}

async function answered(session: string, response: string, requests = 1): Promise<Event> {
  let seen = 0;
  const asked = await stage.until(session, ({ type }) => type === 'waitForInput' && ++seen === requests);
  const target = { session, request: String(asked.requestId) };
  expect(await stage.sessions.answer(target, { response }, user)).toMatchObject({ ok: true });
  return asked;
}

describe('a program', () => {
  const asks = programEntry(
    'asks',
    `async fn main() -> Result<String, String> {
    emit("progress", "before");
    let first = await emit("ask", "Who?");
    emit("progress", "after \${first}");
    let second = await emit("ask", "And?");
    Ok("\${first} \${second}")
}
`,
  );

  const still = { ...systemClock, now: () => 1_800_000_000_000 };
  test.each([
    ['as time goes', systemClock],
    ['at one instant', still],
  ])(
    'is given what it was given up to there, and is asked anew what was not answered then: %s',
    async (_how, clock) => {
      stage = openStage({ agents: [], entries: [asks], clock });
      const id = await started('asks');
      await answered(id, 'Ada');
      const second = await answered(id, 'Bob', 2);
      await stage.until(id, ({ type }) => type === 'finish');
      const fork = await forked(id, { at: Number(second.seq) });
      // The question that was copied is settled; the next is the fork's own.
      const open = await stage.until(
        fork,
        ({ type, requestId }) =>
          type === 'waitForInput' && requestId !== second.requestId && String(requestId).length > 0,
      );
      expect(open).toMatchObject({ prompt: { parts: [{ text: 'Who?' }] } });
      await expect
        .poll(async () => (await stage.sessions.requests(fork))?.requests.map(({ event }) => JSON.stringify(event)), {
          timeout: 20_000,
        })
        .toEqual([expect.stringContaining('And?')]);
      const [request] = (await stage.sessions.requests(fork))?.requests ?? [];
      const target = { session: fork, request: String(request?.requestId) };
      expect(await stage.sessions.answer(target, { response: 'Eve' }, user)).toMatchObject({ ok: true });
      await stage.until(fork, ({ type }) => type === 'finish');
      expect(await stage.sessions.get(fork)).toMatchObject({ status: 'completed', result: { text: 'Ada Eve' } });
      const said = (await eventsOf(fork)).filter((event) => event.title === 'progress');
      expect(said.map(({ data }) => data)).toEqual([{ message: 'before' }, { message: 'after Ada' }]);
      const { turns } = await viewOf(fork);
      expect(turns.map(({ state }) => state)).toEqual(['interrupted', 'done']);
      expect(await stage.sessions.get(id)).toMatchObject({ result: { text: 'Ada Bob' } });
      expect(await refusalOf(id)).toBe('the program had come to its end by then: name an earlier `at`');
      expect(await refusalOf(id, { at: Number(second.seq), prompt: 'x' })).toMatch(/goes on with what it was started/);
    },
  );

  test('a call of an agent that was under way is made anew, by an agent of its own', async () => {
    const script = `
const lines = require('node:readline').createInterface({ input: process.stdin });
const say = (message) => console.log(JSON.stringify(message));
lines.on('line', (line) => {
  const { type, text, value } = line.startsWith('{') ? JSON.parse(line) : { type: 'prompt', text: line };
  if (type === 'prompt' && text === 'ask') say({ type: 'question', id: 'q', question: 'Which?' });
  else if (type === 'prompt') say({ type: 'result', text: 'did ' + text });
  if (type === 'response') say({ type: 'result', text: 'heard ' + value });
});
`;
    const command = JSON.stringify(process.execPath);
    const { manifest } = readManifest(
      `[agents.asks]\ncommand = ${command}\nargs = ["-e", ${JSON.stringify(script)}]\n`,
    );
    const calls = programEntry(
      'calls',
      `agent Worker { connector: asks }
fn main() -> Result<String, AgentError> {
    let first = Worker.execute("one")?;
    emit("progress", first);
    let second = Worker.execute("ask")?;
    Ok("\${first}, \${second}")
}
`,
      { manifest },
    );
    stage = openStage({ agents: [], entries: [calls] });
    const id = await started('calls');
    let childCalls = 0;
    const call = await stage.until(id, (event) => event.childSession !== undefined && ++childCalls === 2);
    const worker = String(call.childSession);
    await stage.until(worker, ({ type }) => type === 'waitForInput');
    const fork = await forked(id);
    expect((await stage.sessions.get(fork))?.forkOf?.at).toBeLessThan(Number(call.seq));
    const own = await stage.until(fork, ({ childSession, seq }) => childSession !== undefined && Number(seq) > 10);
    expect(own.childSession).not.toBe(worker);
    await answered(String(own.childSession), 'red');
    await answered(worker, 'blue');
    for (const [session, color] of [
      [fork, 'red'],
      [id, 'blue'],
    ] as const) {
      await stage.until(session, ({ type }) => type === 'finish');
      expect(await stage.sessions.get(session)).toMatchObject({ result: { text: `did one, heard ${color}` } });
    }
    expect((await eventsOf(fork)).filter(({ title }) => title === 'progress')).toHaveLength(1);
  });
});

describe('an agent', () => {
  const wire = (name: string, protocol: 'claude' | 'codex' | 'ndjson') => {
    const file = join(import.meta.dirname, '..', '..', 'agents', 'test', 'agents', `${name}.mjs`);
    return { name, protocol, command: process.execPath, args: [file] };
  };

  test.each([
    ['claude', { resume: 'c-1', 'fork-session': true, 'resume-session-at': 'u-1' }, 'c-fork'],
    ['codex', { threadId: 't-1', lastTurnId: 'turn-1' }, 't-fork'],
  ] as const)('%s begins a conversation of its own at the place where it stood', async (name, told, own) => {
    stage = openStage({ agents: [wire(name, name)] });
    const start = await stage.start({ agent: name, prompt: 'say one' });
    if (!start.ok) throw new Error(start.error.message);
    const { id } = start.value;
    await ends(id, 1);
    const at = (await eventsOf(id)).at(-1)?.seq;
    await stage.sessions.send(id, { content: 'say two' }, user);
    await ends(id, 2);
    const fork = await forked(id, { at: Number(at), prompt: 'show' });
    await ends(fork, 2);
    const shown = JSON.parse(String(Reflect.get(Object((await stage.sessions.get(fork))?.result), 'text')));
    expect(shown.options ?? shown.started).toMatchObject(told);
    const names = (await eventsOf(fork)).filter(({ title }) => title === 'conversation');
    expect(names.map(({ data }) => data)).toEqual([{ id: own }]);
    expect((await viewOf(fork)).turns).toHaveLength(2);
  });

  test('one of our own wire keeps its conversation itself', async () => {
    stage = openStage({ agents: [wire('ndjson', 'ndjson')] });
    const start = await stage.start({ agent: 'ndjson', prompt: 'say one' });
    if (!start.ok) throw new Error(start.error.message);
    expect(await refusalOf(start.value.id)).toMatch(/^agent "ndjson" cannot be forked: an agent of our own wire keeps/);
  });
});
