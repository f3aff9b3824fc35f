import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const twinGivesUpMs = 60_000;

/** How often each is drawn. */
const weights = {
  sqlite: {
    killServer: 8,
    termServer: 2,
    stopServer: 2,
    killAgent: 2,
    killKeeper: 1,
    stopKeeper: 1,
    fullStore: 1,
    spawnErrors: 1,
    cutReplies: 3,
    clockStep: 1,
    twin: 0.5,
  },
  redis: {
    killServer: 4,
    killRunner: 6,
    termRunner: 1,
    stopServer: 1,
    stopRunner: 2,
    killRedis: 3,
    stopRedis: 2,
    killAgent: 2,
    killKeeper: 1,
    stopKeeper: 1,
    fullStore: 1,
    readOnlyStore: 1,
    spawnErrors: 1,
    cutReplies: 3,
    cutStore: 3,
    clockStep: 1,
    rewind: 0.3,
    twin: 0.5,
  },
};

/** What befalls the same part comes one after the other; the rest goes on side by side. */
const parts = {
  ours: ['killServer', 'termServer', 'stopServer', 'killRunner', 'termRunner', 'stopRunner'],
  store: ['killRedis', 'stopRedis', 'fullStore', 'readOnlyStore', 'cutStore'],
  agents: ['killAgent', 'killKeeper', 'stopKeeper', 'spawnErrors'],
  wire: ['cutReplies'],
  clock: ['clockStep'],
};
const partOf = new Map(Object.entries(parts).flatMap(([part, names]) => names.map((name) => [name, part])));

/** Only what one machine with one keeper comes through without a loss. */
const survivable = { sqlite: { killServer: 1 }, redis: { killRunner: 2, killServer: 1 } };

export class Faults {
  counts = new Map();
  violations = [];
  #world;
  #random;
  #weights;
  #beforeRewind;
  #rewind;
  /** What is under way, by its part. */
  #busy = new Map();

  /** `rewind` is told when the store was put back to what it was; `beforeRewind` has its time before that. */
  constructor({ world, random, killsOnly, beforeRewind, rewind }) {
    this.#world = world;
    this.#random = random;
    this.#weights = (killsOnly ? survivable : weights)[world.store];
    this.#beforeRewind = beforeRewind;
    this.#rewind = rewind;
  }

  /** One of them; how it was, it is again some time later. */
  async next() {
    const name = this.#random.drawn(this.#weights);
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
    const part = partOf.get(name);
    // What has no part is judged by what the others do, and is alone.
    if (part === undefined) await this.over();
    await this.#busy.get(part);
    const done = this.#faults[name]();
    this.#busy.set(part, done);
    if (part === undefined) await done;
  }

  /** Everything that was begun is over. */
  async over() {
    await Promise.all(this.#busy.values());
  }

  #faults = {
    killServer: async () => this.#server().signal('SIGKILL'),
    termServer: async () => this.#server().signal('SIGTERM'),
    killRunner: async () => this.#runner().signal('SIGKILL'),
    termRunner: async () => this.#runner().signal('SIGTERM'),
    stopServer: () => this.#asleep(this.#server(), this.#random.between(200, 3_000)),
    // Shorter and longer than its lease.
    stopRunner: () => this.#asleep(this.#runner(), this.#random.chance(0.5) ? 2_000 : 12_000),
    killRedis: async () => this.#world.parts.redis.signal('SIGKILL'),
    stopRedis: () => this.#asleep(this.#world.parts.redis, this.#outageMs()),
    killAgent: async () => {
      const pid = this.#random.of(this.#world.agents());
      if (pid === undefined) return;
      this.#world.kills(pid);
      tryKill(pid, 'SIGKILL');
    },
    killKeeper: async () => {
      const pid = this.#world.keeperPid();
      if (pid === undefined) return;
      for (const agent of this.#world.agents()) this.#world.kills(agent);
      this.#world.keeperKills += 1;
      tryKill(pid, 'SIGKILL');
    },
    stopKeeper: async () => {
      const pid = this.#world.keeperPid();
      if (pid === undefined) return;
      tryKill(pid, 'SIGSTOP');
      await sleep(this.#random.between(200, 2_000));
      tryKill(pid, 'SIGCONT');
    },
    fullStore: () => (this.#world.store === 'redis' ? this.#redisFull() : this.#diskFull()),
    readOnlyStore: () => this.#configured('min-replicas-to-write', '3', '0'),
    // Without descriptors nothing can be started.
    spawnErrors: async () => {
      const pid = this.#world.keeperPid();
      if (pid === undefined) return;
      const open = existsSync(`/proc/${pid}/fd`) ? readdirSync(`/proc/${pid}/fd`).length : 40;
      limit(pid, `--nofile=${open}:`);
      await sleep(this.#random.between(300, 1_500));
      limit(pid, '--nofile=4096:');
    },
    cutReplies: async () => {
      const { front } = this.#world;
      front.manner = this.#random.of(['deaf', 'shut']);
      front.cut();
      await sleep(this.#random.between(100, 1_500));
      front.manner = 'pass';
    },
    cutStore: async () => {
      const { back } = this.#world;
      back.manner = this.#random.of(['pass', 'deaf', 'shut']);
      back.cut();
      await sleep(this.#random.between(50, 3_000));
      back.manner = 'pass';
    },
    clockStep: async () => {
      writeFileSync(this.#world.clock, String(this.#random.between(-90_000, 90_000)));
      await sleep(this.#random.between(500, 2_000));
    },
    rewind: () => this.#rewound(),
    twin: () => this.#twin(),
  };

  /** Mostly one that nobody notices; else longer than a lease. */
  #outageMs() {
    return this.#random.chance(0.7) ? this.#random.between(200, 2_000) : this.#random.between(6_000, 9_000);
  }

  #server() {
    return this.#world.parts.server;
  }

  #runner() {
    return this.#random.of(this.#world.runners());
  }

  async #asleep(part, ms) {
    part.signal('SIGSTOP');
    await sleep(ms);
    part.signal('SIGCONT');
  }

  async #diskFull() {
    const { pid } = this.#server();
    if (pid === undefined) return;
    limit(pid, '--fsize=65536:');
    await sleep(this.#random.between(300, 1_500));
    limit(pid, '--fsize=unlimited:');
  }

  async #redisFull() {
    await this.#configured('maxmemory', '1', '0');
  }

  async #configured(name, bad, good) {
    this.#redis('config', 'set', name, bad);
    await sleep(this.#random.between(300, 2_500));
    this.#redis('config', 'set', name, good);
  }

  #redis(...words) {
    spawnSync('redis-cli', ['-p', String(this.#world.redisPort), ...words], { stdio: 'ignore', timeout: 5_000 });
  }

  /** A copy is taken; later the store comes back as it was then. */
  async #rewound() {
    await this.#beforeRewind();
    const { redis } = this.#world.parts;
    const files = join(this.#world.redisFolder, 'appendonlydir');
    const copy = join(this.#world.folder, 'older-aof');
    await redis.down();
    rmSync(copy, { recursive: true, force: true });
    if (existsSync(files)) cpSync(files, copy, { recursive: true });
    redis.start();
    await sleep(this.#random.between(500, 3_000));
    await redis.down();
    if (existsSync(copy)) {
      rmSync(files, { recursive: true, force: true });
      cpSync(copy, files, { recursive: true });
    }
    this.#rewind();
    redis.start();
  }

  /** On SQLite a second server must be refused; on Redis it is welcome, and goes again. */
  async #twin() {
    const env = { ...process.env, ...this.#world.environment() };
    const cwd = this.#world.folder;
    // While the first is up: one that was just killed leaves its place to whoever comes.
    if (this.#world.store === 'sqlite') await this.#world.untilReady();
    const child = spawn(process.execPath, this.#world.twinArgs(0), { cwd, env, stdio: ['ignore', 'pipe', 'ignore'] });
    const forced = setTimeout(() => child.kill('SIGKILL'), twinGivesUpMs);
    let said = '';
    child.stdout.on('data', (chunk) => {
      said += chunk;
      if (!said.includes('listening on')) return;
      if (this.#world.store === 'sqlite') this.violations.push('a second server was let into the store');
      child.kill('SIGKILL');
    });
    await once(child, 'exit');
    clearTimeout(forced);
  }

  /** Whatever is still wrong is put right. */
  calm() {
    writeFileSync(this.#world.clock, '0');
    this.#world.front.manner = 'pass';
    if (this.#world.back !== undefined) this.#world.back.manner = 'pass';
    for (const part of Object.values(this.#world.parts)) part.signal('SIGCONT');
    const keeper = this.#world.keeperPid();
    if (keeper !== undefined) tryKill(keeper, 'SIGCONT');
  }
}

function tryKill(pid, signal) {
  try {
    process.kill(pid, signal);
  } catch {
    // It went by itself meanwhile.
  }
}

function limit(pid, what) {
  spawnSync('prlimit', ['--pid', String(pid), what], { stdio: 'ignore' });
}

/** What every agent wrote down of itself. */
export function readTraces(folder) {
  return readdirSync(folder).map((file) => {
    const entries = readFileSync(join(folder, file), 'utf8')
      .split('\n')
      .flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
    return { name: file.replace('.jsonl', ''), entries };
  });
}
