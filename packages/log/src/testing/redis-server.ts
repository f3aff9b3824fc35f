import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from 'redis';

export type RedisServer = {
  readonly url: string;
  readonly port: number;
  /** Where it keeps what it was told. */
  readonly folder: string;
  /** Ends it as an operator would. */
  stop(): Promise<void>;
  kill(signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): Promise<void>;
  /** Starts it again on the same port with what it kept. */
  start(): Promise<void>;
  /** Ends it and removes what it kept. */
  dispose(): Promise<void>;
};

export type RedisServerOptions = { readonly settings?: readonly string[] };

/** For measurements, which may do without; tests never skip what they need. */
export function hasRedisServer(): boolean {
  return spawnSync('redis-server', ['--version']).status === 0;
}

const missing =
  'redis-server cannot be started, and these tests need a real one: install it (`apt-get install redis-server`, `brew install redis`), or run `npm test`, which does';

/** A real Redis on a free loopback port with its own folder, every write on the disk before it is acknowledged. */
export async function startRedisServer(options: RedisServerOptions = {}): Promise<RedisServer> {
  const folder = mkdtempSync(join(tmpdir(), 'concerto-redis-'));
  const port = await freePort();
  const settings = `--port ${port} --bind 127.0.0.1 --appendonly yes --appendfsync always --loglevel warning`;
  const args = [...settings.split(' '), '--dir', folder, '--save', '', ...(options.settings ?? [])];
  let child: ChildProcess | undefined;
  let gone: Promise<void> = Promise.resolve();

  const start = async (): Promise<void> => {
    child = spawn('redis-server', args, { stdio: 'ignore' });
    const started = child;
    gone = new Promise((resolve, reject) => {
      started.once('exit', () => resolve());
      started.once('error', (cause) => reject(new Error(missing, { cause })));
    });
    await Promise.race([
      answers(port),
      gone.then(() => Promise.reject(new Error('redis-server ended while it was starting'))),
    ]);
  };
  const kill = async (signal: NodeJS.Signals): Promise<void> => {
    child?.kill(signal);
    if (signal === 'SIGKILL' || signal === 'SIGTERM') await gone;
  };
  await start();
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    folder,
    stop: () => kill('SIGTERM'),
    kill,
    start,
    dispose: async () => {
      await kill('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      probe.close(() => resolve(port));
    });
  });
}

const START_TIMEOUT_MS = 20_000;

async function answers(port: number): Promise<void> {
  const deadline = Date.now() + START_TIMEOUT_MS;
  for (;;) {
    const client = createClient({ url: `redis://127.0.0.1:${port}`, socket: { reconnectStrategy: false } });
    client.on('error', () => undefined);
    try {
      await client.connect();
      await client.ping();
      client.destroy();
      return;
    } catch (error) {
      if (client.isOpen) client.destroy();
      if (Date.now() > deadline) throw new Error(`redis-server on port ${port} did not answer`, { cause: error });
    }
    await delay(20);
  }
}
