import { createClient } from 'redis';
import { afterAll, beforeAll, describe } from 'vitest';
import { redisEventLog } from '../src/redis/redis-event-log.ts';
import { eventLogContract } from '../src/testing/event-log-contract.ts';
import { hasRedisServer, type RedisServer, startRedisServer } from '../src/testing/redis-server.ts';

describe.skipIf(!hasRedisServer())('on a real Redis', () => {
  let server: RedisServer | undefined;
  beforeAll(async () => {
    server = await startRedisServer();
  });
  afterAll(() => server?.dispose());

  eventLogContract('redis', async () => {
    const url = server?.url ?? '';
    const admin = createClient({ url });
    await admin.connect();
    await admin.flushAll();
    admin.destroy();
    let ahead = 0;
    const log = await redisEventLog(url, { aheadMs: () => ahead });
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
