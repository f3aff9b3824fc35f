import { ok } from '@concerto/base';
import { buildProgram, readManifest } from '@concerto/language';
import type { CatalogEntry } from '@concerto/runtime';
import { type SessionState, statusOf } from '@concerto/session';
import { Client } from './client.ts';
import { type CrashPlace, Doom } from './doom.ts';
import { Weather } from './faulty-log.ts';
import { must, recordsOf, stateOf } from './oracle.ts';
import { Random } from './random.ts';
import { Cluster, conclude, happen, happenings } from './simulate.ts';
import { World } from './world.ts';

const steps = 45;
/** How often people look. */
const momentMs = 1_000;
/** So long it may take until everything has come to its end. */
const patienceMs = 300_000;

const manifest = `[project]
name = "p"
version = "1"
entry = "main.conc"
[connections.local]
provider = "mock"
[agents.alpha]
command = "alpha"
[agents.beta]
command = "beta"
`;

/** Two agents, of which it answers for one, a model, a person and a sleep. */
const source = `
agent Alpha { connector: alpha }
agent Beta { connector: beta }
model Architect { provider: local, base: "m" }

async fn main() -> Result<String, String> {
    let plan = Architect.execute("plan").unwrap().text;
    emit("planned", plan);
    let first = match (listen Alpha.execute("first") {
        "question" => |q| { Architect.execute(q.question).unwrap().text },
        "approval" => |a| { "yes" },
    }) {
        Ok(result) => "done",
        Err(error) => "lost",
    };
    emit("first", first);
    let who = await emit("ask", "Who?");
    std::time::sleep(12000);
    let second = match Beta.execute("second") { Ok(result) => "done", Err(error) => "lost" };
    emit("second", second);
    Ok("\${who}")
}
`;

function conductor(): CatalogEntry {
  const { manifest: read } = readManifest(manifest);
  const { module, diagnostics } = buildProgram({ entry: 'main.conc', readFile: () => source, manifest: read });
  if (module === undefined) throw new Error(diagnostics.map(({ message }) => message).join('\n'));
  return { kind: 'program', name: 'conductor', load: () => ok({ module, projectDirectory: '/', mockModels: true }) };
}

const entry = conductor();

/** How the world of a run is made; near and one by one unless it says otherwise. */
export type Setting = { readonly joins?: boolean; readonly far?: boolean };

type Simulated = {
  /** At each of them the world could have ended. */
  readonly calls: number;
  /** All that is on record of each session. */
  readonly known: World['known'];
};

/** One run with programs, their agents, and people who do to both what they may; all of it follows from the seed. */
export async function simulatePrograms(seed: number, setting: Setting): Promise<Simulated> {
  const random = new Random(seed);
  const world = new World(random.fork(), { programs: [entry], ...setting });
  const weather = new Weather(random.fork());
  weather.crashes = random.pick([0, 0.001, 0.004]) ?? 0;
  weather.failures = random.pick([0, 0.002, 0.01]) ?? 0;
  weather.slowness = random.pick([0, 0.1, 0.5]) ?? 0;
  const cluster = new Cluster(world, weather, random.below(3));
  const client = new Client(world, () => (cluster.server?.gate.alive === true ? cluster.server.sessions : undefined));
  void client.startProgram('conductor');
  for (let step = 0; step < steps; step++) {
    if (random.chance(0.05)) void client.startProgram('conductor');
    await meetChildren(world, client);
    await happen(random.weighted(happenings) ?? 'moment', { random, world, weather, cluster, client });
    if (random.chance(0.3)) cluster.raise();
  }
  weather.calm();
  await letEnd(world, cluster, client);
  await checkPrograms(world, client);
  await conclude(world, cluster, client);
  return { calls: weather.calls, known: world.known };
}

/** The same story each time, and the one process that serves and runs it dies at the given place. Returns its calls. */
export async function crashProgramAt(
  seed: number,
  joins: boolean,
  place: CrashPlace | undefined,
): Promise<readonly string[]> {
  const world = new World(new Random(seed), { programs: [entry], joins });
  const doom = new Doom(place);
  const cluster = new Cluster(world, doom, 0);
  const client = new Client(world, () => (cluster.server?.gate.alive === true ? cluster.server.sessions : undefined));
  void client.startProgram('conductor');
  await letEnd(world, cluster, client);
  const calls = [...doom.calls];
  await checkPrograms(world, client);
  for (const session of await programsOf(world, client)) {
    must(statusOf(session) === 'completed', `${session.id} is ${statusOf(session)}, and nobody has touched it`);
  }
  await conclude(world, cluster, client);
  return calls;
}

/** People answer whatever is asked and hold nothing: every program comes to its end, whatever has happened to it before. */
async function letEnd(world: World, cluster: Cluster, client: Client): Promise<void> {
  for (let passed = 0; passed < patienceMs; passed += momentMs) {
    await world.pass(momentMs);
    cluster.raise();
    await meetChildren(world, client);
    for (const session of client.sessions) {
      const state = await stateOf(world, session);
      if (state === undefined || state.end !== undefined) continue;
      void client.answer(session);
      if (statusOf(state) === 'paused') void client.control(session, 'resume');
    }
    const programs = await programsOf(world, client);
    if (programs.length > 0 && programs.every(isOver)) return;
  }
}

/** One that was interrupted, or whose prompt was taken back, runs when somebody says something to it. */
function isOver(state: SessionState): boolean {
  return state.end !== undefined || ['idle', 'interrupted'].includes(statusOf(state));
}

async function programsOf(world: World, client: Client): Promise<readonly SessionState[]> {
  const states = await Promise.all(client.sessions.map((session) => stateOf(world, session)));
  return states.flatMap((state) => (state?.kind === 'program' ? [state] : []));
}

/** People see the sessions that programs open, and do to them whatever they may. */
async function meetChildren(world: World, client: Client): Promise<void> {
  for (const session of client.sessions) {
    const state = await stateOf(world, session);
    for (const child of state?.children ?? []) {
      if (client.sessions.includes(child)) continue;
      if ((await stateOf(world, child)) !== undefined) client.sessions.push(child);
    }
  }
}

/** A program has come to its end; what it said, asked and had done, it did once in each run, whoever ran it. */
async function checkPrograms(world: World, client: Client): Promise<void> {
  for (const state of await programsOf(world, client)) {
    const { id, turn } = state;
    must(isOver(state), `${id} is ${statusOf(state)}, with everybody well and everything answered`);
    const isComplete = statusOf(state) === 'completed';
    const { entries } = await world.log.read({ session: id, stream: 'events', after: 0, limit: 100_000 });
    const events = entries.map(({ data }): Record<string, unknown> => JSON.parse(data));
    const did = (what: string, fits: (event: Record<string, unknown>) => boolean): void => {
      const times = events.filter(fits).length;
      must(times <= turn.number && (times > 0 || !isComplete), `${id}: ${what} ${times} times in ${turn.number} runs`);
    };
    for (const title of ['planned', 'first', 'second']) did(`said ${title}`, (event) => event.title === title);
    did('asked who', ({ type }) => type === 'waitForInput');
    did('asked for a plan', ({ args }) => JSON.stringify(args) === '{"prompt":"plan"}');
    const prompts = await promptsOf(world, state);
    for (const prompt of ['first', 'second']) {
      const times = prompts.filter((one) => one === prompt).length;
      const isLost = events.some((event) => event.title === prompt && JSON.stringify(event.data).includes('lost'));
      must(times <= turn.number && (times > 0 || isLost || !isComplete), `${id}: prompted ${prompt} ${times} times`);
    }
    if (isComplete) must(JSON.stringify(state.result).includes('true'), `${id} gave ${JSON.stringify(state.result)}`);
  }
}

/** What a program has said to its agents, all of them. */
async function promptsOf(world: World, { children }: SessionState): Promise<readonly string[]> {
  const records = await Promise.all([...children].map((child) => recordsOf(world, child)));
  return records
    .flat()
    .flatMap((record) => (record.type === 'message-enqueued' && record.source === 'program' ? [record.content] : []));
}
