import { ok } from '@concerto/base';
import { buildProgram, readManifest } from '@concerto/language';
import type { CatalogEntry } from '@concerto/runtime';
import { fold } from '@concerto/session';
import { Client } from './client.ts';
import { Weather } from './faulty-log.ts';
import { must, recordsOf } from './oracle.ts';
import { Random } from './random.ts';
import { Cluster, conclude, Doom, happen, happenings } from './simulate.ts';
import { World } from './world.ts';

const steps = 45;

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

/** One run with programs, their agents, and people who do to both what they may; all of it follows from the seed. */
export async function simulatePrograms(seed: number): Promise<number> {
  const random = new Random(seed);
  const world = new World(random.fork(), [entry]);
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
  await meetChildren(world, client);
  await conclude(world, cluster, client);
  await checkEmits(world, client);
  return weather.calls;
}

/** The same story each time: the one process that serves and runs it dies at the given call. */
export async function crashProgramAt(call: number, kind: 'crash-before' | 'crash-after'): Promise<number> {
  const world = new World(new Random(7), [entry]);
  const doom = new Doom(call, kind);
  const cluster = new Cluster(world, doom, 0);
  const client = new Client(world, () => (cluster.server?.gate.alive === true ? cluster.server.sessions : undefined));
  void client.startProgram('conductor');
  for (let moment = 0; moment < 40; moment++) {
    await world.pass(500);
    cluster.raise();
    await meetChildren(world, client);
    for (const session of client.sessions) void client.answer(session);
  }
  const { calls } = doom;
  await conclude(world, cluster, client);
  await checkEmits(world, client);
  return calls;
}

/** People see the sessions that programs open, and do to them whatever they may. */
async function meetChildren(world: World, client: Client): Promise<void> {
  for (const session of client.sessions) {
    const state = fold(await recordsOf(world.log, session));
    for (const child of state?.children ?? []) {
      const isOpened = (await recordsOf(world.log, child)).length > 0;
      if (isOpened && !client.sessions.includes(child)) client.sessions.push(child);
    }
  }
}

/** What a program said it said once, whoever ran it. */
async function checkEmits(world: World, client: Client): Promise<void> {
  for (const session of client.sessions) {
    const records = await recordsOf(world.log, session);
    const state = fold(records);
    if (state?.kind !== 'program') continue;
    const turns = records.filter(({ type }) => type === 'turn-started').length;
    const { entries } = await world.log.read({ session, stream: 'events', after: 0, limit: 100_000 });
    for (const title of ['planned', 'first', 'second']) {
      const times = entries.filter(({ data }) => data.includes(`"title":"${title}"`)).length;
      must(times <= turns, `${session} said ${title} ${times} times in ${turns} turns`);
    }
  }
}
