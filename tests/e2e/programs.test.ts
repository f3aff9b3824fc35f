import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Api, apiOf } from '../support/api.ts';
import { type StartedServer, startServer } from '../support/start-server.ts';
import { writeManifest } from '../support/test-agents.ts';

const programs = `
[project]
name = "programs"
version = "0.1.0"
entry = "src/supervise.conc"
[connections.local]
provider = "mock"
[programs.supervise]
entry = "src/supervise.conc"
[programs.broken]
entry = "src/broken.conc"
[programs.several]
entry = "src/several.conc"
[programs.says]
entry = "src/says.conc"
[agents.pair]
command = "${process.execPath}"
args = ["pair.mjs"]
`;

/** Asks two things at once and tells in which order it heard. */
const pair = `
import { createInterface } from 'node:readline';
const heard = [];
const say = (message) => console.log(JSON.stringify(message));
createInterface({ input: process.stdin }).on('line', (line) => {
  const answer = line.startsWith('{') ? JSON.parse(line) : { type: 'prompt' };
  if (answer.type === 'prompt') for (const id of ['left', 'right']) say({ type: 'question', id, question: id + '?' });
  else if (heard.push(answer.in_reply_to_id + ' ' + answer.value) === 2) say({ type: 'result', text: heard.join(', ') });
});
`;

/** Both questions are open at once. */
const several = `
agent Pair { connector: pair }

fn main() -> Result<String, AgentError> {
    let done = listen Pair.execute("go") {
        "question" (parallel: true) => |q| { await emit("ask", q.question) },
    }?;
    Ok(done.text)
}
`;

/** A model answers the agent's question; a person is asked before anything is deleted. */
const supervise = `
agent Asker { connector: ask }
agent Cleaner { connector: approve }
model Architect { provider: local, base: "mock" }

fn main() -> Result<String, String> {
    let painted = listen Asker.execute("paint") {
        "question" => |q| {
            let answer = Architect.execute("Answer: \${q.question}")?;
            answer.text
        },
    };
    emit("painted", painted.unwrap().text);
    let cleaned = listen Cleaner.execute("clean") {
        "approval" => |request| { await emit("approve", request) },
    };
    Ok(cleaned.unwrap().text)
}
`;

/** Its words, and everything that it asks about. */
const says = `
struct Change { path: String, patch: String }
struct Edit { description: String, tool: String, changes: Array<Change>, id: String }
struct Team { team: String }
struct Naming { question: String, hint: String, owner: Team }
async fn main() -> Result<String, String> {
    emit("progress", "half way");
    let yes = await emit("approve", Edit {
        description: "Edit a.txt", tool: "Edit", id: "theirs",
        changes: [Change { path: "a.txt", patch: "@@ -1 +1 @@" }],
    });
    let name = await emit("ask", Naming { question: "Which name?", hint: "short", owner: Team { team: "web" } });
    Ok("\${yes} \${name}")
}
`;

let folder: string;
let server: StartedServer;
let api: Api;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'concerto-programs-'));
  await mkdir(join(folder, 'src'));
  await writeManifest(folder, programs);
  await writeFile(join(folder, 'src/supervise.conc'), supervise);
  await writeFile(join(folder, 'src/broken.conc'), 'fn main() { let x: Int = "text"; }\n');
  await writeFile(join(folder, 'src/several.conc'), several);
  await writeFile(join(folder, 'src/says.conc'), says);
  await writeFile(join(folder, 'pair.mjs'), pair);
  server = await startServer({ folder });
  api = apiOf(server);
});

afterAll(async () => {
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
});

test('a program supervises agents in a session: a model answers, a person approves, the result is the program’s', async () => {
  const { id } = await api.start({ program: 'supervise' });
  const asked = (await api.until(id, (event) => event.type === 'queryConsent')).at(-1);
  expect(asked.scope).toMatchObject({ description: 'Delete 3 files', risk_level: 'medium' });
  await api.post(`/api/sessions/${id}/requests/${asked.requestId}`, { response: true });
  const events = await api.until(id, (event) => event.type === 'finish');
  const painted = events.find((event) => event.type === 'subagentAddJson' && event.title === 'painted');
  expect(painted.data.value).toMatch(/^painted \[mock response to: Answer: Which color\?/);
  expect(events.find((event) => event.type === 'complete').result.outcomes.parts).toEqual([{ text: 'deleted' }]);
});

test('what parallel handlers ask is open at once, and answered in any order', async () => {
  const { id } = await api.start({ program: 'several' });
  const asked = new Set<string>();
  await api.until(id, (event) => event.type === 'waitForInput' && asked.add(event.requestId).size === 2);
  const [first, second] = asked;
  for (const [request, response] of [
    [second, 'two'],
    [first, 'one'],
  ]) {
    expect((await api.post(`/api/sessions/${id}/requests/${request}`, { response })).status).toBe(200);
  }
  const all = await api.until(id, (event) => event.type === 'complete');
  expect(all.at(-1).result.outcomes.parts).toEqual([{ text: 'right two, left one' }]);
});

test('a program with errors fails its session and says where to look; a cancelled one ends its agents', async () => {
  const broken = await api.start({ program: 'broken' });
  const events = await api.until(broken.id, (event) => event.type === 'finish');
  expect(events.find((event) => event.type === 'error').message).toContain('concerto check');
  const { id } = await api.start({ program: 'supervise' });
  await api.until(id, (event) => event.type === 'queryConsent');
  expect((await api.post(`/api/sessions/${id}/cancel`)).status).toBe(202);
  expect((await api.until(id, (event) => event.type === 'finish')).slice(-2)).toMatchObject([
    { type: 'error', message: 'cancelled' },
    { type: 'finish' },
  ]);
});

test('what a program emits is seen, and what it asks carries every field of its payload', async () => {
  const { id } = await api.start({ program: 'says' });
  const consent = (await api.until(id, (event) => event.type === 'queryConsent')).at(-1);
  expect(consent.scope).toEqual({
    description: 'Edit a.txt',
    tool: 'Edit',
    channel: 'approve',
    changes: [{ path: 'a.txt', patch: '@@ -1 +1 @@' }],
    risk_level: 'medium',
  });
  await api.post(`/api/sessions/${id}/requests/${consent.requestId}`, { response: true });
  const question = (await api.until(id, (event) => event.type === 'waitForInput')).at(-1);
  expect(question.prompt.parts).toEqual([{ text: 'Which name?' }, { json: { hint: 'short', owner: { team: 'web' } } }]);
  await api.post(`/api/sessions/${id}/requests/${question.requestId}`, { response: 'Ada' });
  const events = await api.until(id, (event) => event.type === 'finish');
  expect(events.find((event) => event.type === 'functionCallUpdate')).toMatchObject({ status: 'half way' });
  expect(events.find((event) => event.type === 'complete').result.outcomes.parts).toEqual([{ text: 'yes Ada' }]);
});
