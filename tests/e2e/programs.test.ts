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

let folder: string;
let server: StartedServer;
let api: Api;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'concerto-programs-'));
  await mkdir(join(folder, 'src'));
  await writeManifest(folder, programs);
  await writeFile(join(folder, 'src/supervise.conc'), supervise);
  await writeFile(join(folder, 'src/broken.conc'), 'fn main() { let x: Int = "text"; }\n');
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
