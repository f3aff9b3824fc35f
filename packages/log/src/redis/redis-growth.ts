import type { GrowthSignal } from '../growth-signal.ts';
import { openRedisConnection, type RedisAddress, type RedisClient, type RedisConnection } from './redis-connection.ts';
import { listReply, numberReply, textReply } from './redis-reply.ts';

/**
 * Wakes this process when any process appends. Every batch that grew a session has a number; a number that does not
 * follow the last one means that messages were missed, and the store is asked which sessions grew since.
 */
export async function listenForGrowth(at: RedisAddress, growth: GrowthSignal): Promise<RedisConnection> {
  let last: number | undefined;

  const missedSince = async (client: RedisClient, number: number): Promise<string[]> => {
    const command = ['ZRANGEBYSCORE', 'concerto:grown', `(${number}`, '+inf'];
    return listReply(await client.sendCommand(command)).map(textReply);
  };
  const heard = (client: RedisClient, message: string): void => {
    const [count = '', ...sessions] = message.split(' ');
    const number = Number(count);
    const before = last ?? number;
    last = number;
    for (const session of sessions) growth.emit(session);
    if (number <= before + 1) return;
    // A lost connection asks again by itself, so a failure here needs no answer.
    missedSince(client, before).then(
      (missed) => missed.forEach((session) => growth.emit(session)),
      () => undefined,
    );
  };

  return openRedisConnection(at, {
    prepare: async (client) => {
      await client.subscribe('concerto:grown', (message) => heard(client, message));
      const before = last;
      const number = numberReply(await client.sendCommand(['GET', 'concerto:growth']));
      last = Math.max(number, last === before ? 0 : (last ?? 0));
      if (before === undefined) return;
      for (const session of await missedSince(client, Math.min(before, number))) growth.emit(session);
    },
    onReady: () => undefined,
  });
}
