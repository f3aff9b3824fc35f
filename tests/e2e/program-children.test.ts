import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Api } from '../support/api.ts';
import { type PuppetServer, startPuppetServer, steps } from '../support/puppets.ts';

const puppet = join(dirname(dirname(fileURLToPath(import.meta.url))), 'support/puppet.mjs');
const words = (...flags: string[]): string => JSON.stringify([puppet, ...flags]);

const manifest = `
[connections.local]
provider = "mock"
[agents.worker]
command = "${process.execPath}"
args = ${words()}
input_format = "json"
[agents.able_worker]
command = "${process.execPath}"
args = ${words('--can=steer,interrupt,pause,resume,cancel')}
input_format = "json"
[agents.stubborn]
command = "${process.execPath}"
args = ${words('--deaf=cancel', '--stubborn')}
input_format = "json"
[programs.one]
entry = "one.conc"
[programs.bound]
entry = "bound.conc"
[programs.two]
entry = "two.conc"
[programs.model]
entry = "model.conc"
[programs.holds]
entry = "holds.conc"
`;

const one = `
agent Worker { connector: able_worker }

fn main() -> Result<String, String> {
    let steps = std::env::get("CONCERTO_PROMPT").unwrap();
    let done = listen Worker.execute(steps) {
        "question" => |q| { "the handler says \${q.hint}" },
        "approval" => |a| { await emit("approve", a) },
    };
    match done {
        Ok(result) => Ok(result.text),
        Err(error) => Ok("failed: \${error.kind}: \${error.message}"),
    }
}
`;

/** To an agent that does not end when it is told to. */
const bound = `
agent Worker { connector: stubborn }

fn main() -> Result<String, AgentError> { Worker.execute(std::env::get("CONCERTO_PROMPT").unwrap()) }
`;

/** Both at once, each with the same steps. */
const two = `
agent Left { connector: worker }
agent Right { connector: worker }

async fn left(steps: String) -> String { Left.execute(steps).unwrap() }
async fn right(steps: String) -> String { Right.execute(steps).unwrap() }

async fn main() -> Result<String, String> {
    let steps = std::env::get("CONCERTO_PROMPT").unwrap();
    let (a, b) = await (left(steps), right(steps));
    Ok("\${a} \${b}")
}
`;

const model = `
model Architect { provider: local, base: "mock" }
fn main() -> Result<String, String> {
    let answer = Architect.execute("RS256 or HS256?").unwrap();
    Ok(answer.text)
}
`;

/** Does to the session of its agent what people may do, while it works. */
const holds = `
agent Worker { connector: able_worker }

fn until(session: Session, status: String) {
    while session.status() != status { sleep("20ms"); }
    emit("stands", status);
}

fn main() -> Result<String, String> {
    let early = try { Worker.session().id() } catch AgentError(e) { e.message };
    emit("early", early);
    let steps = std::env::get("CONCERTO_PROMPT").unwrap();
    let done = listen Worker.execute(steps) {
        "progress" => |p: Progress| {
            let session = Worker.session();
            session.steer("look \${p.message}");
            session.pause();
            until(session, "paused");
            session.resume();
            until(session, "running");
            emit("used", session.usage());
            emit("is", session.id());
        },
    };
    match done { Ok(result) => Ok(result.text), Err(error) => Err(error.message) }
}
`;

let folder: string;
let puppets: PuppetServer;
let api: Api;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'concerto-children-'));
  for (const [name, source] of Object.entries({ one, bound, two, model, holds })) {
    await writeFile(join(folder, `${name}.conc`), source);
  }
  puppets = await startPuppetServer({ folder, manifest });
  api = puppets.api;
});

afterAll(async () => {
  await puppets?.close();
  await rm(folder, { recursive: true, force: true });
});

/** The program's session, and its first child once that has been prompted. */
async function startOne(prompt: string, program = 'one'): Promise<{ readonly id: string; readonly child: string }> {
  const { id } = await api.start({ program, prompt });
  const called = (await api.until(id, (event) => event.type === 'functionCall' && event.childSession)).at(-1);
  return { id, child: called.childSession };
}

async function resultOf(id: string): Promise<string> {
  const events = await api.until(id, (event) => event.type === 'finish');
  return events.find((event) => event.type === 'complete').result.outcomes.parts[0].text;
}

test('an agent of a program is a session of its own, decided in the one and said in the other', async () => {
  const question = { type: 'question', id: 'q', question: 'Which?', hint: 'a field of its own' };
  const { id, child } = await startOne(steps({ ask: question }, { tell: 'answer' }));
  const answer = JSON.parse(await resultOf(id));
  expect(answer).toMatchObject({ in_reply_to: 'question', value: 'the handler says a field of its own' });
  const theirs = await api.until(child, (event) => event.type === 'finish');
  const settled = theirs.find((event) => event.type === 'requestSettled');
  expect(settled).toMatchObject({ outcome: 'answered', by: `program:${id}`, because: { session: id } });
  const ours = (await api.get(`/api/sessions/${id}/events?limit=1000`)).body.events ?? [];
  const events = ours.length > 0 ? ours : await api.until(id, (event) => event.type === 'finish');
  const because = events.find((event: any) => event.seq === settled.because.seq);
  expect(because).toMatchObject({ title: 'answer', data: { request: settled.requestId, session: child } });
  const call = events.find((event: any) => event.childSession === child);
  expect(events.filter((event: any) => event.type === 'functionResult' && event.callId === call.callId)).toHaveLength(
    1,
  );
  expect((await api.get(`/api/sessions/${child}`)).body).toMatchObject({
    kind: 'agent',
    agent: 'Worker',
    parent: id,
    root: id,
    status: 'completed',
  });
  expect((await api.get(`/api/sessions/${id}`)).body).toMatchObject({ children: 1, status: 'completed' });
});

test('lists show roots; children by their parent, and trees', async () => {
  const { id, child } = await startOne('plain');
  await resultOf(id);
  const ids = async (query: string): Promise<string[]> =>
    (await api.get(`/api/sessions?limit=200${query}`)).body.sessions.map((session: { id: string }) => session.id);
  expect(await ids('')).toContain(id);
  expect(await ids('')).not.toContain(child);
  expect(await ids(`&parent=${id}`)).toEqual([child]);
  const tree = await ids('&tree=true');
  expect(tree[tree.indexOf(id) + 1]).toBe(child);
});

test('an agent that exits is an error of the call, with its exit code and its last words', async () => {
  const { id } = await startOne(steps({ stderr: 'out of paint\n' }, { exit: 3 }));
  expect(await resultOf(id)).toMatch(/^failed: exited: agent exited without result \(.*3.*\).*out of paint/s);
});

test('a person may answer before the handler does; it is told, and its answer dropped', async () => {
  const approval = { type: 'approval', id: 'a', description: 'Delete it?', changes: [{ path: 'x' }] };
  const { id, child } = await startOne(steps({ ask: approval }, { tell: 'answer' }));
  const asked = (await api.until(child, (event) => event.type === 'queryConsent')).at(-1);
  const ours = (await api.until(id, (event) => event.type === 'queryConsent')).at(-1);
  expect(ours.scope).toMatchObject({ description: 'Delete it?', changes: [{ path: 'x' }] });
  expect((await api.post(`/api/sessions/${child}/requests/${asked.requestId}`, { response: true })).status).toBe(200);
  expect(JSON.parse(await resultOf(id))).toMatchObject({ in_reply_to: 'approval', value: 'yes' });
  const events = await api.until(id, (event) => event.type === 'finish');
  expect(events.find((event) => event.title === 'listen:overtaken').data).toMatchObject({ id: 'a', by: 'user:owner' });
  // What the handler had asked is not asked any more.
  expect(events.find((event) => event.type === 'requestSettled')).toMatchObject({ requestId: ours.requestId });
});

test('a message to the program goes to its one agent at work; with none or several it says which there are', async () => {
  const gate = puppets.gate();
  const { id, child } = await startOne(steps({ until: gate.path }, { say: { type: 'result', text: 'done' } }));
  await api.untilStatus(child, 'running');
  const sent = await api.post(`/api/sessions/${id}/messages`, { content: 'look left', priority: 'immediate' });
  expect(sent).toMatchObject({ status: 202, body: { session: child } });
  const heard = await api.until(child, (event) => event.type === 'subagentAddJson' && event.title === 'heard');
  expect(heard.at(-1).data.what).toMatchObject({ type: 'steer', text: 'look left' });
  const twoGate = puppets.gate();
  const pair = await api.start({ program: 'two', prompt: steps({ until: twoGate.path }, { say: { type: 'result' } }) });
  const called = new Set<string>();
  await api.until(
    pair.id,
    (event) => event.type === 'functionCall' && event.childSession && called.add(event.childSession).size === 2,
  );
  const refused = await api.post(`/api/sessions/${pair.id}/messages`, { content: 'who?' });
  expect(refused).toMatchObject({ status: 409, body: { code: 'which_child' } });
  expect(refused.body.children).toHaveLength(2);
  await Promise.all([gate.open(), twoGate.open()]);
  expect(await resultOf(id)).toBe('done');
  await resultOf(pair.id);
});

test('cancelling an agent is an error of the call, with who did it; cancelling the program ends its agents', async () => {
  const first = await startOne(steps({ hang: true }));
  await api.untilStatus(first.child, 'running');
  expect((await api.post(`/api/sessions/${first.child}/cancel`)).status).toBe(202);
  expect(await resultOf(first.id)).toMatch(/^failed: cancelled: agent Worker was cancelled by user:owner/);
  const second = await startOne(steps({ hang: true }));
  await api.untilStatus(second.child, 'running');
  expect((await api.post(`/api/sessions/${second.id}/cancel`)).status).toBe(202);
  await api.untilStatus(second.id, 'cancelled');
  expect((await api.get(`/api/sessions/${second.child}`)).body.status).toBe('cancelled');
});

test('a cancelled program is over after its agents, also after one that must be killed', {
  timeout: 60_000,
}, async () => {
  const { id, child } = await startOne(steps({ hang: true }), 'bound');
  await api.untilStatus(child, 'running');
  expect((await api.post(`/api/sessions/${id}/cancel`)).status).toBe(202);
  await api.untilStatus(id, 'cancelled');
  const { body } = await api.get(`/api/sessions/${child}`);
  expect(body.status).toBe('cancelled');
});

test('a pause of the program pauses its agents, and both go on', async () => {
  const gate = puppets.gate();
  const { id, child } = await startOne(steps({ until: gate.path }, { say: { type: 'result', text: 'went on' } }));
  await api.untilStatus(child, 'running');
  expect((await api.post(`/api/sessions/${id}/pause`)).status).toBe(202);
  await api.untilStatus(id, 'paused');
  expect((await api.get(`/api/sessions/${child}`)).body.status).toBe('paused');
  await gate.open();
  expect((await api.post(`/api/sessions/${id}/resume`)).status).toBe(202);
  expect(await resultOf(id)).toBe('went on');
});

test('a program holds no place of the pool; its agent waits for one, and says so', async () => {
  const gate = puppets.gate();
  const { body: pool } = await api.get('/api/pool');
  await api.call('PUT', '/api/pool', { max: 1 });
  const holder = await api.start({
    agent: 'puppet',
    prompt: steps({ until: gate.path }, { say: { type: 'result' } }),
    once: true,
  });
  const { id } = await api.start({ program: 'one', prompt: 'plain' });
  const waits = (await api.until(id, (event) => event.type === 'functionCallUpdate')).at(-1);
  expect(waits.status).toBe('Worker waits for a place in the pool');
  const { sessions } = (await api.get(`/api/sessions?parent=${id}`)).body;
  expect(sessions).toMatchObject([{ status: 'queued', waiting: { for: 'slot' } }]);
  await gate.open();
  await api.untilStatus(holder.id, 'completed');
  expect(await resultOf(id)).toBe('did: plain');
  await api.call('PUT', '/api/pool', { max: pool.max });
});

test('what a model was asked, and what it answered at which cost, stands in the program’s session', async () => {
  const { id } = await api.start({ program: 'model' });
  const events = await api.until(id, (event) => event.type === 'finish');
  const call = events.find((event) => event.type === 'functionCall' && event.name === 'Architect');
  expect(call.args.prompt).toBe('RS256 or HS256?');
  const result = events.find((event) => event.type === 'functionResult' && event.callId === call.callId);
  expect(result.content.parts[0].functionResponse.response).toMatchObject({ text: expect.stringContaining('mock') });
  expect(result.outcome).toBe('ok');
  const usage = events.find((event) => event.type === 'usage');
  expect(usage).toMatchObject({ callId: call.callId, model: expect.any(String) });
  expect(usage.outputTokens).toBeGreaterThan(0);
});

test('a program steers, holds and asks the session of its agent', async () => {
  const gate = puppets.gate();
  const prompt = steps(
    { say: { type: 'usage', input_tokens: 30, output_tokens: 12 } },
    { say: { type: 'progress', message: 'left' } },
    { until: gate.path },
    { say: { type: 'result', text: 'done' } },
  );
  const { id } = await api.start({ program: 'holds', prompt });
  const events = await api.until(id, (event) => event.title === 'is');
  const told = (title: string): unknown[] =>
    events.filter((event) => event.title === title).map(({ data }) => data.value ?? data);
  expect(told('early')).toEqual(['agent Worker has no session yet: call it first']);
  expect(told('stands')).toEqual(['paused', 'running']);
  expect(told('used')).toEqual([{ input_tokens: 30, output_tokens: 12 }]);
  const [child] = (await api.get(`/api/sessions?parent=${id}`)).body.sessions;
  expect(told('is')).toEqual([child.id]);
  const theirs = await api.until(child.id, (event) => event.title === 'heard');
  expect(theirs.at(-1).data.what).toMatchObject({ type: 'steer', text: 'look left' });
  const { entries } = (await api.get(`/api/sessions/${child.id}/audit`)).body;
  expect(entries).toContainEqual(expect.objectContaining({ what: 'control-requested', actor: `program:${id}` }));
  await gate.open();
  expect(await resultOf(id)).toBe('done');
});
