import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { root } from '../root.mjs';
import { Part } from './part.mjs';
import { Proxy } from './proxy.mjs';

/** Machines are slow; one that is not up by then never will be. */
const startWithinMs = 300_000;
/** Ends with an error in a row, before it ever was ready. */
const failuresMax = 20;
const readyAnswerMs = 10_000;
const pollMs = 25;

async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address();
  probe.close();
  return port;
}

/** All that runs: a store, servers, runners, what stands between them, and what they started. */
export class World {
  token = 'chaos-chaos-chaos-chaos';
  parts = {};
  /** Agents that were killed, by the name that they gave themselves: what they still wanted to say is nobody's loss. */
  killed = new Set();
  keeperKills = 0;

  constructor({ folder, store, slots, steady }) {
    this.folder = folder;
    this.store = store;
    this.slots = slots;
    this.steady = steady;
    this.traces = join(folder, 'traces');
    this.clock = join(folder, 'clock');
  }

  async start() {
    mkdirSync(this.traces);
    writeFileSync(this.clock, '0');
    for (const [name, text] of Object.entries(this.project())) writeFileSync(join(this.folder, name), text);
    const port = await freePort();
    this.front = new Proxy(port);
    await this.front.start();
    this.url = `http://127.0.0.1:${this.front.port}`;
    if (this.store === 'redis') await this.#withRedis(port);
    else this.#withSqlite(port);
    for (const part of Object.values(this.parts)) part.start();
    await this.untilReady();
  }

  /** The files that all of it works with. */
  project() {
    return { 'Concerto.toml': this.#manifest(), 'guard.conc': guard };
  }

  async untilReady() {
    const until = Date.now() + startWithinMs;
    while (!(await this.isReady())) {
      if (this.parts.server.failures > failuresMax)
        throw new Error(`the server cannot start: see ${this.folder}/server.log`);
      if (Date.now() > until) throw new Error(`the server was not ready within ${startWithinMs} ms`);
      await sleep(pollMs);
    }
    this.parts.server.failures = 0;
  }

  async isReady() {
    return await fetch(`${this.url}/readyz`, { signal: AbortSignal.timeout(readyAnswerMs) }).then(
      (response) => response.ok,
      () => false,
    );
  }

  runners() {
    return [this.parts.runner1, this.parts.runner2].filter((part) => part !== undefined);
  }

  keeperFolder() {
    if (this.store === 'sqlite') return join(this.folder, 'keeper');
    const keepers = join(this.folder, 'state/concerto/keepers');
    const [only] = exists(() => readdirSync(keepers)) ?? [];
    return only === undefined ? undefined : join(keepers, only);
  }

  keeperPid() {
    const note = exists(() => JSON.parse(readFileSync(join(this.keeperFolder(), 'keeper.json'), 'utf8')));
    return note === undefined || !isAlive(note.pid) ? undefined : note.pid;
  }

  /** Every agent of ours that lives: they are known by where they write. */
  agents() {
    const found = spawnSync('pgrep', ['-f', this.folder], { encoding: 'utf8' }).stdout.split('\n');
    const own = new Set([process.pid, this.keeperPid(), ...Object.values(this.parts).map(({ pid }) => pid)]);
    return found.map(Number).filter((pid) => pid > 0 && !own.has(pid) && isAgent(pid));
  }

  /** What becomes of it from now on is no fault of ours. */
  kills(pid) {
    const words = exists(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8')) ?? '';
    this.killed.add(/([0-9a-f]{12})\0*$/.exec(words)?.[1]);
  }

  async stop() {
    for (const part of Object.values(this.parts).reverse()) await part.down('SIGTERM');
    this.front.stop();
    this.back?.stop();
  }

  /** At our own end, however it comes: nothing of ours stays. */
  abandon() {
    for (const pid of [...Object.values(this.parts).map((part) => part.pid), this.keeperPid(), ...this.agents()]) {
      if (pid !== undefined) exists(() => process.kill(pid, 'SIGKILL'));
    }
  }

  /** How a second server on the same store would be started. */
  twinArgs(port) {
    return [...this.#concerto(), 'serve', '--port', String(port), '--token', this.token, '--store', this.storeUrl];
  }

  environment() {
    const preload = `--import=${pathToFileURL(join(root, 'tools/chaos/stepped-clock.mjs')).href}`;
    return {
      XDG_STATE_HOME: join(this.folder, 'state'),
      CHAOS_CLOCK: this.clock,
      NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} ${preload}`.trim(),
    };
  }

  #concerto() {
    return [join(root, 'apps/cli/bin/concerto.js')];
  }

  #ours(name, args) {
    const env = this.environment();
    return new Part(name, this.folder, { command: process.execPath, args: [...this.#concerto(), ...args], env });
  }

  #withSqlite(port) {
    this.storeUrl = `sqlite:${join(this.folder, 'store.db')}`;
    const args = ['serve', '--trust', '--port', String(port), '--token', this.token, '--store', this.storeUrl];
    this.parts.server = this.#ours('server', args);
  }

  async #withRedis(port) {
    this.redisPort = await freePort();
    this.redisFolder = join(this.folder, 'redis');
    mkdirSync(this.redisFolder);
    this.back = new Proxy(this.redisPort);
    await this.back.start();
    this.storeUrl = `redis://127.0.0.1:${this.back.port}`;
    const settings = `--port ${this.redisPort} --bind 127.0.0.1 --appendonly yes --appendfsync always --loglevel warning`;
    this.parts.redis = new Part('redis', this.folder, {
      command: 'redis-server',
      args: [...settings.split(' '), '--dir', this.redisFolder, '--save', ''],
    });
    const serve = ['serve', '--trust', '--no-runner', '--port', String(port), '--token', this.token];
    this.parts.server = this.#ours('server', [...serve, '--store', this.storeUrl]);
    for (const name of ['runner1', 'runner2']) {
      this.parts[name] = this.#ours(name, ['runner', '--trust', '--store', this.storeUrl]);
    }
  }

  #manifest() {
    const node = JSON.stringify(process.execPath);
    const agent = (name, protocol, ...args) =>
      `[agents.${name}]\ncommand = ${node}\nargs = ${JSON.stringify(args)}\n${protocol === '' ? '' : `protocol = "${protocol}"\n`}`;
    const fake = (name) => agent(name, name, join(root, `packages/agents/test/agents/${name}.mjs`), this.folder);
    const chaos = [join(root, 'tests/agents/chaos-agent.mjs'), this.traces, ...(this.steady ? ['steady'] : [])];
    return [
      `[project]\nname = "chaos"\nversion = "0.1.0"\nentry = "guard.conc"\n`,
      `[pool]\nmax_sessions = ${this.slots}\n`,
      `[connections.local]\nprovider = "mock"\ndefault_model = "mock"\n`,
      `[assistants.mock]\nconnection = "local"\n`,
      `[programs.guard]\nentry = "guard.conc"\n`,
      agent('chaos', '', ...chaos),
      ...['claude', 'codex', 'acp'].map(fake),
      `[agents.absent]\ncommand = "no-such-program-anywhere"\n`,
    ].join('\n');
  }
}

const guard = `
agent Worker { connector: chaos }

fn main() -> Result<String, String> {
    let done = listen Worker.execute("work") {
        "question" => |q| { "the program says so" },
        "approval" => |a| { "yes" },
    };
    match done {
        Ok(result) => Ok("done"),
        Err(error) => Ok("lost: \${error.message}"),
    }
}
`;

function exists(read) {
  try {
    return read();
  } catch {
    return undefined;
  }
}

function isAlive(pid) {
  return exists(() => process.kill(pid, 0)) === true;
}

function isAgent(pid) {
  const words = exists(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8')) ?? '';
  return /(chaos|killed)-agent\.mjs|agents\/(claude|codex|acp)\.mjs/.test(words) && !words.includes('bwrap');
}
