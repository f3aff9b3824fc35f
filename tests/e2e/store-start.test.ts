import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RedisServer, startRedisServer } from '@concerto/log/testing';
import { createClient } from 'redis';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { apiOf } from '../support/api.ts';
import { concertoCommand } from '../support/concerto-command.ts';
import { writeManifest } from '../support/test-agents.ts';

const token = 'e2e-token-of-some-length';
const timeout = 180_000;
const cleanUp: (() => unknown)[] = [];
let folder: string;
let redis: RedisServer;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'concerto-start-'));
  cleanUp.push(() => rm(folder, { recursive: true, force: true }));
  await writeManifest(folder);
  // Slow to load what it kept: long enough for whoever starts meanwhile to see it.
  redis = await startRedisServer({ settings: ['--key-load-delay', '500'] });
  cleanUp.push(() => redis.dispose());
});

afterEach(async () => {
  for (const action of cleanUp.splice(0).reverse()) await action();
});

function begin(...args: readonly string[]) {
  const child = spawn(process.execPath, [...concertoCommand, ...args, '--store', redis.url, '--trust'], {
    cwd: folder,
    env: { ...process.env, XDG_STATE_HOME: join(folder, 'state') },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
  }
  const ended = once(child, 'exit').then(([code]: (number | null)[]) => code);
  cleanUp.push(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  return { child, ended, said: () => said };
}

async function command(...args: string[]): Promise<void> {
  const client = createClient({ url: redis.url });
  await client.connect();
  await client.sendCommand(args);
  client.destroy();
}

const causes = [
  { what: 'is not there', words: 'does not answer', away: () => redis.stop(), back: () => redis.start() },
  {
    what: 'does not answer',
    words: /no answer|Connection timeout/,
    away: () => redis.kill('SIGSTOP'),
    back: () => redis.kill('SIGCONT'),
  },
  {
    what: 'has no memory left',
    words: 'has no memory left',
    away: () => command('CONFIG', 'SET', 'maxmemory', '1'),
    back: () => command('CONFIG', 'SET', 'maxmemory', '0'),
  },
  {
    what: 'loads what it kept',
    words: 'is still loading what it kept',
    away: async () => {
      await command('EVAL', 'for i = 1, 16000 do redis.call("SET", "other:" .. i, i) end', '0');
      await redis.stop();
      // It answers when it has loaded, which may be after whoever asks has given up.
      redis.start().catch(() => undefined);
    },
    back: async () => {},
  },
];

describe.each(causes)('a store that $what', ({ words, away, back }) => {
  test('is waited for by server and runner, which say so and then go on', { timeout }, async () => {
    await away();
    const server = begin('serve', '--no-runner', '--port', '0', '--token', token);
    const runner = begin('runner');
    for (const { said } of [server, runner]) {
      await expect.poll(said, { timeout: 60_000 }).toMatch(/waiting for the store, 120 s at most/);
      await expect.poll(said, { timeout: 60_000 }).toMatch(words);
    }
    await back();
    await expect.poll(server.said, { timeout: 60_000 }).toMatch(/listening on/);
    await expect.poll(runner.said, { timeout: 60_000 }).toContain('runner ready');
    const api = apiOf({ url: /listening on (\S+)/.exec(server.said())?.[1] ?? '', token });
    const { id } = await api.start({ agent: 'echo', prompt: 'x' });
    await api.untilStatus(id, 'idle');
    for (const { said } of [server, runner])
      expect(new Set(said().match(/waiting .*/g)).size).toBe(said().match(/waiting .*/g)?.length);
  });
});

test('a store that stays away is given up after the time that was said', { timeout }, async () => {
  await redis.stop();
  const given = begin('runner', '--store-wait', '4s');
  expect(await given.ended).toBe(1);
  expect(given.said()).toMatch(/waiting for the store, 4 s at most[\s\S]*error: the store \S+ does not answer/);
});

test('whoever is told to stop while it waits stops', { timeout }, async () => {
  await redis.kill('SIGSTOP');
  for (const args of [['runner'], ['serve', '--port', '0', '--token', token]]) {
    const waiting = begin(...args);
    await expect.poll(waiting.said, { timeout: 60_000 }).toContain('waiting for the store');
    waiting.child.kill('SIGTERM');
    expect(await waiting.ended).toBe(0);
  }
});

test('a store that does not let us in is not waited for', { timeout }, async () => {
  await command('CONFIG', 'SET', 'requirepass', 'secret');
  const refused = begin('runner');
  expect(await refused.ended).toBe(1);
  expect(refused.said()).toContain('wants a password');
  expect(refused.said()).not.toContain('waiting');
  const wrong = begin('runner', '--store-wait', 'soon');
  expect(await wrong.ended).toBe(2);
});
