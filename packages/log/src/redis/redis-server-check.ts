import { LogError } from '../event-log.ts';
import type { RedisClient } from './redis-connection.ts';
import { textReply } from './redis-reply.ts';

/** What a Redis says about itself; a setting is undefined where it does not tell, as hosted ones often do not. */
export type RedisFacts = {
  readonly version: string | undefined;
  readonly appendonly: string | undefined;
  readonly appendfsync: string | undefined;
};

export type ServerHooks = {
  /** Told what about this Redis may lose acknowledged entries, and what to set. */
  readonly onWarning?: (message: string) => void;
  readonly onServer?: (facts: RedisFacts) => void;
};

/** The first that can trim a stream by id and read on after one. */
const oldestVersion = { text: '6.2', major: 6, minor: 2 };

/** Of what is under our keys. A version that others could not read gets the next number. */
const format = 1;

/** Refuses what a newer version has written; marks what has no mark yet. */
export async function checkFormat(client: RedisClient, address: string): Promise<void> {
  // Asked first: one that is full or a replica can be read all the same.
  const known = await client.sendCommand(['GET', 'concerto:format']);
  if (known === null) await client.sendCommand(['SET', 'concerto:format', String(format), 'NX']);
  const found = Number(known ?? (await client.sendCommand(['GET', 'concerto:format'])));
  if (!(found > format)) return;
  throw new LogError(
    'refused',
    `the store ${address} was written by a newer version (format ${found}, this one knows ${format}); update Concerto`,
  );
}

/** Refuses a Redis that cannot serve, warns of one that may lose what it acknowledged. */
export async function checkServer(client: RedisClient, address: string, hooks: ServerHooks): Promise<void> {
  const { onWarning = () => undefined, onServer } = hooks;
  const info = textReply(await client.sendCommand(['INFO']));
  if (/cluster_enabled:1/.test(info)) {
    throw new LogError(
      'bad-url',
      `the store ${address} is a Redis Cluster; use a single primary (with replicas if you like)`,
    );
  }
  const [, version, major, minor] = /^redis_version:((\d+)\.(\d+)\S*)/m.exec(info) ?? [];
  if (version !== undefined && isTooOld(Number(major), Number(minor))) {
    throw new LogError('bad-url', `the store ${address} is Redis ${version}; use ${oldestVersion.text} or newer`);
  }
  await checkFormat(client, address);
  if (hooks.onWarning === undefined && onServer === undefined) return;
  const append = await setting(client, 'appendonly');
  const sync = await setting(client, 'appendfsync');
  const limit = await setting(client, 'maxmemory');
  const policy = await setting(client, 'maxmemory-policy');
  onServer?.({ version, appendonly: append, appendfsync: sync });
  if (append === 'no') {
    onWarning(`the store ${address} keeps nothing when it restarts: set \`appendonly yes\` and \`appendfsync always\``);
  } else if (sync !== undefined && sync !== 'always') {
    onWarning(`the store ${address} may lose its last second at a power cut: set \`appendfsync always\``);
  }
  if (limit !== undefined && limit !== '0' && policy !== 'noeviction') {
    onWarning(`the store ${address} drops keys when its memory is full: set \`maxmemory-policy noeviction\``);
  }
}

function isTooOld(major: number, minor: number): boolean {
  return major < oldestVersion.major || (major === oldestVersion.major && minor < oldestVersion.minor);
}

/** Undefined where the server does not tell, as hosted ones often do not. */
async function setting(client: RedisClient, name: string): Promise<string | undefined> {
  try {
    const reply = await client.sendCommand(['CONFIG', 'GET', name]);
    return settingFrom(reply, name);
  } catch {
    return undefined;
  }
}

/** A map in RESP 3, a list of pairs in RESP 2. */
function settingFrom(reply: unknown, name: string): string | undefined {
  const found: unknown = Array.isArray(reply) ? reply[1] : Object(reply)[name];
  return typeof found === 'string' ? found : undefined;
}
