import { LogError } from '../event-log.ts';
import type { RedisClient } from './redis-connection.ts';
import { textReply } from './redis-reply.ts';

/** Refuses a Redis that cannot serve, warns of one that may lose what it acknowledged. */
export async function checkServer(
  client: RedisClient,
  address: string,
  onWarning: ((message: string) => void) | undefined,
): Promise<void> {
  const info = await client.sendCommand(['INFO', 'cluster']);
  if (/cluster_enabled:1/.test(textReply(info))) {
    throw new LogError(
      'bad-url',
      `the store ${address} is a Redis Cluster; use a single primary (with replicas if you like)`,
    );
  }
  if (onWarning === undefined) return;
  const append = await setting(client, 'appendonly');
  const sync = await setting(client, 'appendfsync');
  const limit = await setting(client, 'maxmemory');
  const policy = await setting(client, 'maxmemory-policy');
  if (append === 'no') {
    onWarning(`the store ${address} keeps nothing when it restarts: set \`appendonly yes\` and \`appendfsync always\``);
  } else if (sync !== undefined && sync !== 'always') {
    onWarning(`the store ${address} may lose its last second at a power cut: set \`appendfsync always\``);
  }
  if (limit !== undefined && limit !== '0' && policy !== 'noeviction') {
    onWarning(`the store ${address} drops keys when its memory is full: set \`maxmemory-policy noeviction\``);
  }
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
