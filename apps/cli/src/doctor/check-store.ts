import { constants, existsSync } from 'node:fs';
import { access } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { LogError, openEventLog, type RedisFacts } from '@concerto/log';
import { checkDisk } from './check-machine.ts';
import { type Finding, failed, messageOf, passed, warned } from './finding.ts';

/** `serverRuns`: a server of ours answers on the port, so the store is rightly in use. */
export async function checkStore(url: string, serverRuns: boolean): Promise<readonly Finding[]> {
  if (/^rediss?:/.test(url)) return checkRedis(url);
  const path = sqlitePath(url);
  if (path === undefined) return [await checkOpening(url, serverRuns)];
  const folder = existingFolder(path);
  const opening = existsSync(path) ? await checkOpening(url, serverRuns) : await checkNewStore(url, folder);
  return [opening, await checkDisk(folder)];
}

/** Undefined when the URL is of another kind or wrong, which opening it tells. */
function sqlitePath(url: string): string | undefined {
  const [, path] = /^sqlite:(?:\/\/(?=\/))?([^/].*|\/(?!\/).*)$/.exec(url) ?? [];
  return path === undefined ? undefined : resolve(path);
}

function existingFolder(path: string): string {
  let folder = dirname(path);
  while (!existsSync(folder)) folder = dirname(folder);
  return folder;
}

/** Nothing is made: whoever asks how things are does not want them changed. */
async function checkNewStore(url: string, folder: string): Promise<Finding> {
  try {
    await access(folder, constants.W_OK | constants.X_OK);
    return passed('store', `${url} is not there yet; the first start makes it`);
  } catch (cause) {
    return failed(
      'store',
      `${url} cannot be made: ${messageOf(cause)}`,
      `make ${folder} a folder that this user may write, or choose another store with --store`,
    );
  }
}

async function checkOpening(url: string, serverRuns: boolean): Promise<Finding> {
  try {
    const log = await openEventLog(url, { now: Date.now });
    try {
      await log.ping();
    } finally {
      await log.close();
    }
    const note = url === 'memory:' ? '; nothing outlives the server' : '';
    return passed('store', `${url} opens and takes writes${note}`);
  } catch (cause) {
    return storeFailure(url, cause, serverRuns);
  }
}

function storeFailure(url: string, cause: unknown, serverRuns: boolean): Finding {
  const heldBy = cause instanceof LogError ? cause.heldBy : undefined;
  if (heldBy === undefined) return failed('store', messageOf(cause), 'correct --store or CONCERTO_STORE, or the store');
  if (serverRuns) return passed('store', `${url} is in use by ${heldBy}, while a server runs here`);
  return warned('store', messageOf(cause), 'stop that process, or give this server another store with --store');
}

async function checkRedis(url: string): Promise<readonly Finding[]> {
  const warnings: string[] = [];
  const servers: RedisFacts[] = [];
  try {
    const log = await openEventLog(url, {
      now: Date.now,
      onWarning: (message) => warnings.push(message),
      onServer: (facts) => servers.push(facts),
    });
    try {
      await log.ping();
    } finally {
      await log.close();
    }
  } catch (cause) {
    return [storeFailure('', cause, false)];
  }
  return [...servers.map(describeRedis), ...servers.flatMap(untold), ...warnings.map(riskOf)];
}

function describeRedis({ version, appendonly, appendfsync }: RedisFacts): Finding {
  const settings = Object.entries({ appendonly, appendfsync }).flatMap(([name, value]) =>
    value === undefined ? [] : [`, ${name} ${value}`],
  );
  return passed('store', `Redis ${version ?? '(no version told)'} answers and takes writes${settings.join('')}`);
}

function untold({ appendfsync }: RedisFacts): Finding[] {
  if (appendfsync !== undefined) return [];
  const message = 'this Redis does not tell how it keeps what it acknowledged';
  return [
    warned('store.durability', message, 'make sure of `appendonly yes` and `appendfsync always` where it is run'),
  ];
}

function riskOf(message: string): Finding {
  const help = 'set it in redis.conf, or now with `redis-cli CONFIG SET NAME VALUE` and `redis-cli CONFIG REWRITE`';
  return warned('store.durability', message, help);
}
