import type { GrowthSignal } from '../growth-signal.ts';
import { openRedisConnection, type RedisAddress, type RedisClient, type RedisConnection } from './redis-connection.ts';
import { listReply, numberReply, textReply } from './redis-reply.ts';
import { readSessions } from './redis-streams.ts';

const SESSIONS_PER_READ = 1_000;

/**
 * Wakes this process when any process appends. Every batch that grew a session has a number; a number that does not
 * follow the last one means that messages were missed, and the store is asked which sessions grew since.
 */
export async function listenForGrowth(
  at: RedisAddress,
  growth: GrowthSignal,
  onRewind: (before: number, now: number) => void,
): Promise<RedisConnection> {
  let last: number | undefined;

  const emitAll = (sessions: Iterable<string>): void => {
    for (const session of sessions) growth.emit(session);
  };
  const heard = (client: RedisClient, message: string): void => {
    const [count = '', ...sessions] = message.split(' ');
    const number = Number(count);
    const before = last ?? number;
    last = number;
    if (number < before) onRewind(before, number);
    emitAll(sessions);
    if (number <= before + 1) return;
    // A failure needs no answer: the connection is lost, and the next one asks again.
    grownSince(client, before).then(emitAll, () => undefined);
  };

  return openRedisConnection(at, {
    prepare: async (client) => {
      const before = last;
      await client.subscribe(at.channel, (message) => heard(client, message));
      const number = numberReply(await client.sendCommand(['GET', 'concerto:growth']));
      last = before === undefined ? number : Math.min(before, number);
      // A store that lost its last moments counts from an earlier number.
      if (before !== undefined && number < before) onRewind(before, number);
      if (before !== undefined) emitAll(await grownSince(client, Math.min(before, number)));
    },
    onReady: () => undefined,
  });
}

/** The sessions that grew after a number; all there are when the store no longer knows. */
async function grownSince(client: RedisClient, number: number): Promise<ReadonlySet<string>> {
  const items = listReply(await client.sendCommand(['XRANGE', 'concerto:grown', String(number + 1), '+']));
  const first = items[0];
  if (first !== undefined && textReply(listReply(first)[0]) !== `${number + 1}-0`) return allSessions(client);
  const sessions = new Set<string>();
  for (const item of items) {
    const [, names] = listReply(listReply(item)[1]);
    for (const session of textReply(names).split(' ')) sessions.add(session);
  }
  return sessions;
}

async function allSessions(client: RedisClient): Promise<ReadonlySet<string>> {
  const sessions = new Set<string>();
  let after: string | undefined;
  for (;;) {
    const page = await readSessions(client, after, SESSIONS_PER_READ);
    if (page.length === 0) return sessions;
    for (const session of page) sessions.add(session);
    after = page.at(-1);
  }
}
