import { err } from '@concerto/base';
import { memoryEventLog } from '@concerto/log';
import { afterEach, describe, expect, test } from 'vitest';
import type { CatalogEntry } from '../src/index.ts';
import { programEntry } from './program-entry.ts';
import { openStage, type Stage, type StageOptions } from './session-stage.ts';

/** Asks for what its prompt says, one after the other, takes steers, and tells what it heard. */
const script = `
const lines = require('node:readline').createInterface({ input: process.stdin });
let left = [];
let heard = [];
console.log(JSON.stringify({ type: 'init_ack', version: '1', capabilities: ['steer', 'pause', 'resume'] }));
const next = () => {
  const ask = left.shift();
  if (ask === undefined) return console.log(JSON.stringify({ type: 'result', text: JSON.stringify(heard) }));
  console.log(JSON.stringify({ id: 'a' + left.length, description: 'May I?', type: 'approval', ...ask }));
};
lines.on('line', (line) => {
  const message = JSON.parse(line);
  const { type, id } = message;
  if (type === 'prompt') { left = JSON.parse(message.text); heard = []; next(); }
  if (type === 'steer') { heard.push(['steered', message.text]); console.log(JSON.stringify({ type: 'ack', in_reply_to: 'steer', in_reply_to_id: id })); }
  if (type === 'pause' || type === 'resume') console.log(JSON.stringify({ type: 'ack', in_reply_to: type, in_reply_to_id: id }));
  if (type === 'response') { heard.push([message.value ?? message.error, message.reason ?? null]); next(); }
});
`;

const guard = `
@supervisor
fn guard(session: Session) {
    listen session {
        "approval" => |a: Approval| {
            if a.tool == "Loop" { let mut n = 0; while true { n = n + 1; } }
            if a.tool == "Break" { throw "the guard broke"; }
            if a.tool == "Sleep" { std::time::sleep(600000); }
            if a.tool == "Read" { return "yes"; }
            if a.tool == "Rm" { return "no, not from here"; }
            nil
        },
        "question" => |q: Question| { if q.question == "Which?" { "red" } else { nil } },
    };
}
`;

const user = { actor: 'user:ann', key: undefined };
let stage: Stage;

afterEach(async () => {
  await stage.close();
});

function open(
  sources: Readonly<Record<string, string>>,
  more: Pick<CatalogEntry, 'askWithinMs' | 'supervisor' | 'rules'> = { supervisor: 'guard' },
  options: Partial<StageOptions> = {},
): () => void {
  const entries: CatalogEntry[] = [
    { ...more, kind: 'agent', name: 'asks', spec: { name: 'asks', command: process.execPath, args: ['-e', script] } },
    ...Object.entries(sources).map(([name, source]) => programEntry(name, source)),
  ];
  const again = (): void => {
    stage = openStage({ agents: [], ...options, entries: [...entries, ...(options.entries ?? [])] });
  };
  again();
  return again;
}

async function ask(more: object, ...asked: readonly object[]): Promise<string> {
  const started = await stage.start({ agent: 'asks', prompt: JSON.stringify(asked), ...more });
  if (!started.ok) throw new Error(started.error.message);
  return started.value.id;
}

async function heard(id: string): Promise<unknown> {
  const done = await stage.until(id, (event) => event.type === 'functionResult');
  const { content } = done as { content: { parts: { functionResponse: { response: { text: string } } }[] } };
  return JSON.parse(content.parts[0]?.functionResponse.response.text ?? 'null');
}

async function toPerson(id: string): Promise<Record<string, unknown>> {
  return await stage.until(id, (event) => event.type === 'requestRouted' && event.to === 'person');
}

async function answer(id: string, request: unknown, response: boolean): Promise<void> {
  await stage.sessions.answer({ session: id, request: String(request) }, { response }, user);
}

describe('a supervisor answers for a session', () => {
  test('what it says reaches the agent with its reason, linked both ways; what it does not know it passes', async () => {
    open({ guard });
    const question = { type: 'question', question: 'Which?' };
    const id = await ask({}, { tool: 'Read' }, { tool: 'Rm' }, question, { tool: 'Other' });
    const person = await toPerson(id);
    expect(person).toMatchObject({ reason: 'supervisor:guard passed' });
    expect(await stage.sessions.get(id)).toMatchObject({
      supervisor: 'guard',
      answerers: ['rules', 'supervisor:guard', 'person'],
      children: 1,
    });
    await answer(id, person.requestId, true);
    expect(await heard(id)).toEqual([
      ['yes', null],
      ['no', 'not from here'],
      ['red', null],
      ['yes', null],
    ]);
    const settled = await stage.until(id, (event) => event.type === 'requestSettled' && event.response === false);
    expect(settled).toMatchObject({ by: 'supervisor:guard', reason: 'not from here' });
    const { because } = settled as { because: { session: string; seq: number } };
    const shown = await stage.until(because.session, (event) => event.seq === because.seq);
    expect(shown).toMatchObject({ title: 'answer', data: { session: id, request: settled.requestId } });
    expect(await stage.sessions.get(because.session)).toMatchObject({ kind: 'program', parent: id, supervises: id });
  });

  test('rules come first, and a person may be quicker', async () => {
    open({ guard }, { supervisor: 'guard', rules: [{ tool: 'Read', decide: 'deny', reason: 'a rule' }] });
    const id = await ask({}, { tool: 'Read' }, { tool: 'Sleep' });
    const routed = await stage.until(id, (event) => event.type === 'requestRouted' && event.to === 'supervisor:guard');
    await answer(id, routed.requestId, true);
    expect(await heard(id)).toEqual([
      ['no', 'a rule'],
      ['yes', null],
    ]);
  });

  test('its failure, its time and an endless loop pass on, and everybody sees that', async () => {
    open({ guard }, { supervisor: 'guard', askWithinMs: 400 });
    const slow = await ask({}, { tool: 'Sleep' });
    expect((await toPerson(slow)).reason).toBe('supervisor:guard did not answer within 0.4 seconds');
    const looping = await ask({}, { tool: 'Loop' });
    expect((await toPerson(looping)).reason).toBe('supervisor:guard did not answer within 0.4 seconds');
    const broken = await ask({}, { tool: 'Break' }, { tool: 'Read' });
    const person = await toPerson(broken);
    expect(person.reason).toBe('supervisor:guard could not say: the guard broke');
    await answer(broken, person.requestId, true);
    // It goes on with the next.
    expect(await heard(broken)).toEqual([
      ['yes', null],
      ['yes', null],
    ]);
  });

  test('one that is over, or never was, is passed by, and everybody sees why', async () => {
    const bad = '@supervisor fn bad(_session: Session) -> Result<Nil, String> { Err("out of order") }';
    open({ bad }, { supervisor: 'bad' });
    const id = await ask({}, { tool: 'Read' }, { tool: 'Read' });
    const person = await toPerson(id);
    expect(person.reason).toMatch(/^supervisor:bad failed: .*out of order/);
    expect(await stage.until(id, (event) => event.title === 'log')).toMatchObject({
      data: { level: 'error', message: expect.stringContaining('out of order') },
    });
    expect(stage.complaints.join()).toContain('out of order');
    await answer(id, person.requestId, true);
    const next = await stage.until(
      id,
      ({ type, to, requestId }) => type === 'requestRouted' && to === 'person' && requestId !== person.requestId,
    );
    expect(next.reason).toMatch(/^supervisor:bad failed/);
  });

  test('one that the manifest names and that has none is passed by; named at a start, in a template or later it is refused', async () => {
    const broken: CatalogEntry = { kind: 'program', name: 'broken', load: () => err('main.conc has errors') };
    const two = '@supervisor fn a(_s: Session) {}\n@supervisor fn b(_s: Session) {}';
    open({ none: 'fn main() {}', two, guard }, { supervisor: 'none' }, { entries: [broken] });
    const no = await ask({}, { tool: 'Read' });
    expect((await toPerson(no)).reason).toContain('it has no function with `@supervisor`');
    for (const [supervisor, code, message] of [
      ['none', 'no_supervisor', 'program "none" cannot supervise: it has no function with `@supervisor`'],
      ['two', 'no_supervisor', 'program "two" cannot supervise: its supervisors are a, b'],
      ['broken', 'broken_program', 'program "broken" cannot supervise: main.conc has errors'],
    ] as const) {
      const error = { code, message };
      expect(await stage.sessions.supervise(no, { supervisor }, user)).toEqual({
        ok: false,
        error: { ...error, details: {} },
      });
      expect(await stage.start({ agent: 'asks', prompt: '[]', supervisor })).toMatchObject({ ok: false, error });
      const template = { name: 't', agent: 'asks', supervisor };
      expect(await stage.sessions.createTemplate(template, user)).toMatchObject({ ok: false, error });
    }
    expect((await stage.sessions.get(no))?.supervisor).toBe('none');
    expect(await stage.sessions.supervise(no, { supervisor: 'guard' }, user)).toMatchObject({ ok: true });
  });

  test('the first one, given while a person is asked, answers what waits; what it passes comes back to the person', async () => {
    open({ guard }, { askWithinMs: 30_000 });
    const id = await ask({}, { tool: 'Read' }, { tool: 'Other' });
    await stage.until(id, (event) => event.type === 'queryConsent');
    expect(await stage.sessions.supervise(id, { supervisor: 'guard' }, user)).toMatchObject({ ok: true });
    const { requestId } = await toPerson(id);
    await answer(id, requestId, false);
    expect(await heard(id)).toEqual([
      ['yes', null],
      ['no', null],
    ]);
  });

  test('it can be replaced and taken away while the session runs; one program serves many sessions', async () => {
    const strict = '@supervisor fn no(s: Session) { listen s { "approval" => |a| { "no, strict" } }; }';
    open({ guard, strict });
    const id = await ask({}, { tool: 'Sleep' }, { tool: 'Other' });
    await stage.until(id, (event) => event.type === 'requestRouted' && event.to === 'supervisor:guard');
    const other = await ask({}, { tool: 'Read' });
    expect(await heard(other)).toEqual([['yes', null]]);
    expect(await stage.sessions.supervise(id, { supervisor: 'nobody' }, user)).toMatchObject({
      error: { code: 'no_such_program' },
    });
    expect(await stage.sessions.supervise(id, { supervisor: 'strict' }, user)).toMatchObject({
      value: { supervisor: 'strict' },
    });
    expect(await heard(id)).toEqual([
      ['no', 'strict'],
      ['no', 'strict'],
    ]);
    expect(await stage.sessions.supervise(id, { supervisor: null }, user)).toMatchObject({ ok: true });
    expect((await stage.sessions.get(id))?.supervisor).toBeUndefined();
    const { sessions } = await stage.sessions.list({ limit: 10, parent: id, tree: false });
    await expect
      .poll(async () =>
        (await Promise.all(sessions.map(({ id: child }) => stage.sessions.get(child)))).map((s) => s?.status),
      )
      .not.toContain('running');
  });

  test('of the start, of a template, or none', async () => {
    open({ guard }, {});
    const without = await ask({}, { tool: 'Read' });
    expect((await stage.sessions.get(without))?.answerers).toEqual(['rules', 'person']);
    const own = await ask({ supervisor: 'guard' }, { tool: 'Read' });
    expect(await heard(own)).toEqual([['yes', null]]);
    const template = { name: 't', agent: 'asks', supervisor: 'guard' };
    expect(await stage.sessions.createTemplate(template, user)).toMatchObject({ ok: true });
    const started = await stage.start({ template: 't', prompt: '[]' });
    expect(started).toMatchObject({ value: { supervisor: 'guard' } });
    const none = await stage.start({ template: 't', prompt: '[]', supervisor: null });
    expect(none.ok && none.value.supervisor).toBe(undefined);
    expect(await stage.start({ agent: 'asks', prompt: '[]', supervisor: 'nobody' })).toMatchObject({
      error: { code: 'no_such_program' },
    });
  });

  test('it sees the whole session, and may steer and pause it', async () => {
    const eye = `
@supervisor
fn eye(session: Session) {
    let mut seen = [];
    listen session {
        "approval" => |a| { session.steer("mind the \${a.tool}"); "yes" },
        "turn" => |t| { seen.push(t.outcome); },
        "usage" => |u| { seen.push("used"); },
        "status" => |s| { if s.status == "idle" { emit("seen", session.usage()); } },
    };
}
`;
    open({ eye }, { supervisor: 'eye' });
    const id = await ask({}, { tool: 'step' }, { tool: 'step' });
    expect(JSON.stringify(await heard(id))).toContain('mind the step');
    const { sessions } = await stage.sessions.list({ limit: 10, parent: id, tree: false });
    expect(await stage.until(sessions[0]?.id ?? '', (event) => event.title === 'seen')).toMatchObject({
      data: { input_tokens: 0 },
    });
  });

  test('it hears the end of a program that it answers for, as that of an agent', async () => {
    const told = `
@supervisor
fn guard(session: Session) {
    listen session { "approval" => |a: Approval| { nil } };
    emit("after", "the end");
}
`;
    open({ guard: told, works: 'fn main() -> String { std::time::sleep(500); "done" }' });
    const started = await stage.start({ program: 'works', supervisor: 'guard' });
    if (!started.ok) throw new Error(started.error.message);
    const { id } = started.value;
    await stage.until(id, ({ type }) => type === 'finish');
    const [supervisor] = (await stage.sessions.list({ limit: 10, parent: id, tree: false })).sessions;
    const of = supervisor?.id ?? '';
    await stage.until(of, ({ type }) => type === 'finish');
    expect(await stage.sessions.get(of)).toMatchObject({ supervises: id, status: 'completed' });
    expect(await stage.until(of, ({ title }) => title === 'after')).toMatchObject({ data: { value: 'the end' } });
  });

  test('after a restart the same run goes on: what it knows it still knows', async () => {
    const counting = `
@supervisor
fn counting(session: Session) {
    let mut n = 0;
    listen session {
        "approval" => |a| { n = n + 1; if n == 2 { "yes" } else { "no, \${n}" } },
    };
}
`;
    const log = memoryEventLog({ now: Date.now });
    const again = open({ counting }, { supervisor: 'counting' }, { log });
    const id = await ask({}, { tool: 'a' });
    expect(await heard(id)).toEqual([['no', '1']]);
    await stage.stop();
    again();
    await stage.sessions.send(id, { content: JSON.stringify([{ tool: 'b' }]) }, { ...user, key: 'second' });
    await stage.until(id, (event) => event.type === 'requestSettled' && event.response === true);
  });
});
