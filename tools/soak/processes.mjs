// Redis, one server and two runners as processes of their own, each of which may be killed and comes back.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { root } from '../root.mjs';

const startWithinMs = 60_000;

async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address();
  probe.close();
  return port;
}

export async function startAll(folder, token) {
  const redisPort = await freePort();
  const port = await freePort();
  mkdirSync(join(folder, 'redis'));
  const received = join(folder, 'received.txt');
  writeFileSync(received, '');
  writeFileSync(join(folder, 'Concerto.toml'), manifest(received));
  const store = `redis://127.0.0.1:${redisPort}`;
  const concerto = [join(root, 'apps/cli/bin/concerto.js')];
  const redisArgs = `--port ${redisPort} --bind 127.0.0.1 --appendonly yes --appendfsync always --loglevel warning`;
  const parts = {
    redis: new Part('redis', 'redis-server', [...redisArgs.split(' '), '--dir', join(folder, 'redis'), '--save', '']),
    server: new Part('server', process.execPath, [
      ...concerto,
      ...`serve --no-runner --port ${port} --store ${store} --token ${token}`.split(' '),
    ]),
    runner1: new Part('runner1', process.execPath, [...concerto, 'runner', '--store', store]),
    runner2: new Part('runner2', process.execPath, [...concerto, 'runner', '--store', store]),
  };
  for (const part of Object.values(parts)) part.start(folder);
  const url = `http://127.0.0.1:${port}`;
  const until = Date.now() + startWithinMs;
  while (!(await isReady(url))) {
    if (Date.now() > until) throw new Error(`the server was not ready within ${startWithinMs} ms`);
    await sleep(200);
  }
  return { url, received, parts, stop: () => Promise.all(Object.values(parts).map((part) => part.stop())) };
}

async function isReady(url) {
  return await fetch(`${url}/readyz`).then(
    (response) => response.ok,
    () => false,
  );
}

function manifest(received) {
  const agent = join(root, 'tests/agents/soak.mjs');
  return [
    '[pool]\nmax_sessions = 6',
    `[agents.soak]\ncommand = ${JSON.stringify(process.execPath)}\nargs = [${JSON.stringify(agent)}, ${JSON.stringify(received)}]\n`,
  ].join('\n');
}

/** A process that is kept up. */
class Part {
  kills = 0;
  #child;
  #stopping = false;

  constructor(name, command, args) {
    this.name = name;
    this.command = command;
    this.args = args;
  }

  start(folder) {
    const child = spawn(this.command, this.args, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
    this.#child = child;
    this.said = '';
    child.stderr.on('data', (chunk) => {
      this.said = (this.said + chunk).slice(-4_000);
    });
    child.once('exit', () => {
      if (!this.#stopping) setTimeout(() => this.#stopping || this.start(folder), 300);
    });
  }

  kill(signal = 'SIGKILL') {
    this.kills += 1;
    this.#child.kill(signal);
  }

  async stop() {
    this.#stopping = true;
    const child = this.#child;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGCONT');
    child.kill('SIGTERM');
    const forced = setTimeout(() => child.kill('SIGKILL'), 15_000);
    await gone;
    clearTimeout(forced);
  }
}
