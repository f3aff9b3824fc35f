import type { LifecycleVerb } from '@concerto/protocol';
import { statusOf } from '@concerto/session';
import { Client } from './client.ts';
import { type CrashPlace, Doom } from './doom.ts';
import { type Fate, Weather } from './faulty-log.ts';
import { checkSession, checkSettled, must, recordsOf, stateOf } from './oracle.ts';
import { Random } from './random.ts';
import { type Process, World } from './world.ts';

const steps = 45;
/** As a supervisor of processes would. */
const restartMs = 5_000;

type Happening =
  | 'user'
  | 'moment'
  | 'while'
  | 'crash-server'
  | 'crash-runner'
  | 'sleep-runner'
  | 'stop-runner'
  | 'kill-agent'
  | 'store-away';

export const happenings: Readonly<Record<Happening, number>> = {
  user: 60,
  moment: 50,
  while: 6,
  'crash-server': 2,
  'crash-runner': 3,
  'sleep-runner': 3,
  'stop-runner': 2,
  'kill-agent': 2,
  'store-away': 2,
};

const wishes = {
  start: 14,
  send: 22,
  steer: 10,
  unsend: 6,
  edit: 3,
  promote: 4,
  reorder: 3,
  resend: 4,
  drop: 3,
  interrupt: 6,
  pause: 6,
  resume: 10,
  cancel: 2,
  answer: 18,
  configure: 1,
};

/** Servers and runners, each of which may die and come back. */
export class Cluster {
  server: Process | undefined;
  readonly runners: (Process | undefined)[];
  readonly #world: World;
  readonly #fate: Fate;

  constructor(world: World, fate: Fate, runners: number) {
    this.#world = world;
    this.#fate = fate;
    this.runners = Array.from({ length: runners }, () => undefined);
    this.raise();
  }

  /** Starts whatever is not running. Without runners of its own the server runs sessions itself. */
  raise(): void {
    if (this.server?.gate.alive !== true) this.server = this.#start(this.runners.length === 0);
    this.runners.forEach((runner, index) => {
      if (runner?.gate.alive !== true) this.runners[index] = this.#start(true);
    });
  }

  /** Whatever dies is missed after a while. */
  #start(runs: boolean): Process {
    const { clock } = this.#world;
    const started = this.#world.startProcess(this.#fate, runs);
    started.gate.onDeath(() => clock.at(clock.now() + restartMs, () => this.raise()));
    return started;
  }
}

/** One run: everything that happens, and when, follows from the seed. */
export async function simulate(seed: number): Promise<void> {
  const random = new Random(seed);
  const world = new World(random.fork());
  const weather = new Weather(random.fork());
  weather.crashes = random.pick([0, 0.001, 0.004]) ?? 0;
  weather.failures = random.pick([0, 0.002, 0.01]) ?? 0;
  weather.slowness = random.pick([0, 0.1, 0.5]) ?? 0;
  const cluster = new Cluster(world, weather, random.below(3));
  const client = new Client(world, () => (cluster.server?.gate.alive === true ? cluster.server.sessions : undefined));
  void client.start({ ifFull: 'queue', once: random.chance(0.2), agent: 0 });
  for (let step = 0; step < steps; step++) {
    await happen(random.weighted(happenings) ?? 'moment', { random, world, weather, cluster, client });
    if (random.chance(0.3)) cluster.raise();
  }
  weather.calm();
  await conclude(world, cluster, client);
}

export type Scene = {
  readonly random: Random;
  readonly world: World;
  readonly weather: Weather;
  readonly cluster: Cluster;
  readonly client: Client;
};

export async function happen(what: Happening, scene: Scene): Promise<void> {
  const { random, world, weather, cluster } = scene;
  switch (what) {
    case 'user':
      wish(scene);
      return await world.pass(random.pick([0, 1, 10]) ?? 0);
    case 'moment':
      return await world.pass(random.pick([1, 5, 20, 100, 300]) ?? 1);
    case 'while':
      return await world.pass(random.pick([1_000, 3_000, 6_000, 12_000, 25_000, 320_000]) ?? 1_000);
    case 'crash-server':
      return cluster.server?.gate.die();
    case 'crash-runner':
      return random.pick(cluster.runners)?.gate.die();
    case 'sleep-runner': {
      const sleeper = random.pick([...cluster.runners, cluster.server]);
      return sleeper?.gate.sleep(random.pick([500, 5_000, 11_000, 20_000]) ?? 500);
    }
    case 'stop-runner': {
      // SIGTERM: it hands its sessions over and goes.
      const leaving = random.pick([...cluster.runners, cluster.server]);
      void leaving?.runner?.stop('SIGTERM').then(() => leaving.gate.die());
      return;
    }
    case 'kill-agent':
      return world.killSomeAgent();
    case 'store-away': {
      const ms = random.pick([100, 1_000, 5_000, 15_000]) ?? 100;
      weather.away = true;
      world.clock.at(world.clock.now() + ms, () => {
        weather.away = false;
      });
      return await world.pass(random.pick([50, ms, ms + 2_000]) ?? ms);
    }
  }
}

/** A user wants something; nobody waits for the answer. */
function wish({ random, client }: Scene): void {
  const what = random.weighted(wishes) ?? 'send';
  const pick = random.below(1_000);
  if (what === 'configure') return void client.configure(1 + (pick % 4));
  const session = random.pick(client.sessions);
  if (what === 'start' || session === undefined) {
    return void client.start({
      ifFull: random.chance(0.6) ? 'queue' : 'reject',
      once: random.chance(0.2),
      agent: pick,
    });
  }
  switch (what) {
    case 'send':
    case 'steer':
      return void client.send(session, what === 'steer' ? 'immediate' : 'queued');
    case 'unsend':
    case 'edit':
    case 'promote':
    case 'resend':
    case 'drop':
      return void client.change(what, session, pick);
    case 'reorder':
      return void client.reorder(session);
    case 'answer':
      return void client.answer(session);
    default:
      return void client.control(session, what);
  }
}

/** Calm, and time enough: everything settles. Then all is cancelled, and nothing is left behind. */
export async function conclude(world: World, cluster: Cluster, client: Client): Promise<void> {
  world.calm = true;
  cluster.raise();
  await world.pass(120_000);
  // A slot that became free in the last moment has let somebody in, who must be given the time of a turn.
  for (let again = 0; again < 5 && !(await allRest(world, client)); again++) await world.pass(20_000);
  must(client.outstanding === 0, 'every question of a client is answered');
  const pool = await cluster.server?.sessions.pool();
  if (pool === undefined || cluster.server === undefined) throw new Error('no server');
  for (const session of client.sessions) {
    checkSettled(await checkSession(world, client, session), pool);
    const audit = await cluster.server.sessions.audit(session, { after: 0, limit: 1_000_000 });
    const records = await recordsOf(world, session);
    must(audit?.entries.length === records.length, 'the audit is complete');
  }
  for (const session of client.sessions) void client.control(session, 'cancel');
  await world.pass(60_000);
  for (const session of client.sessions) {
    const { end } = await checkSession(world, client, session);
    must(end !== undefined, `${session} can be cancelled`);
  }
  const left = await cluster.server.sessions.pool();
  must(left.active === 0 && left.waiting === 0, `slots leak: ${JSON.stringify(left)}`);
  must(world.livingAgents === 0, `${world.livingAgents} agents outlive their sessions`);
  const bugs = world.complaints.filter((line) => !line.includes('LogError'));
  must(bugs.length === 0, `an operator was told of bugs: ${bugs.join('\n')}`);
}

async function allRest(world: World, client: Client): Promise<boolean> {
  for (const session of client.sessions) {
    const state = await stateOf(world, session);
    if (state === undefined || state.kind === 'program') continue;
    if (['starting', 'running'].includes(statusOf(state))) return false;
  }
  return true;
}

const story: readonly ('send' | 'steer' | 'answer' | LifecycleVerb)[] = [
  'send',
  'answer',
  'steer',
  'pause',
  'send',
  'resume',
  'answer',
  'interrupt',
  'send',
  'answer',
];

/** The same story each time, and the one process that serves and runs it dies at the given place. Returns its calls. */
export async function crashAt(seed: number, place: CrashPlace | undefined): Promise<readonly string[]> {
  const world = new World(new Random(seed));
  const doom = new Doom(place);
  const cluster = new Cluster(world, doom, 0);
  const client = new Client(world, () => (cluster.server?.gate.alive === true ? cluster.server.sessions : undefined));
  void client.start({ ifFull: 'reject', once: false, agent: 0 });
  await world.pass(400);
  for (const what of story) {
    const session = client.sessions[0];
    if (session !== undefined) {
      if (what === 'send' || what === 'steer') void client.send(session, what === 'send' ? 'queued' : 'immediate');
      else if (what === 'answer') void client.answer(session);
      else void client.control(session, what);
    }
    await world.pass(250);
    cluster.raise();
    await world.pass(50);
  }
  const calls = [...doom.calls];
  await conclude(world, cluster, client);
  return calls;
}
