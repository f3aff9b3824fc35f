import { afterAll, beforeAll, describe } from 'vitest';
import { redisEventLog } from '../src/redis/redis-event-log.ts';
import { eventLogContract } from '../src/testing/event-log-contract.ts';
import { type RedisServer, startRedisServer } from '../src/testing/redis-server.ts';

describe('on a real Redis', () => {
  let server: RedisServer | undefined;
  // Each test has a database of its own: emptying one would cost more than all that is written to it.
  let database = 0;
  beforeAll(async () => {
    server = await startRedisServer({ settings: ['--databases', '100'] });
  });
  afterAll(() => server?.dispose());

  eventLogContract('redis', async () => {
    const url = `${server?.url}/${database++}`;
    let ahead = 0;
    const log = await redisEventLog(url, { aheadMs: () => ahead, patienceMs: 25_000, outageAfterMs: 25_000 });
    return {
      log,
      now: () => Date.now() + ahead,
      advance: (ms) => {
        ahead += ms;
      },
      dispose: () => log.close(),
    };
  });
});
