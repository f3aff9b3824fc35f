import { describe, expect, test } from 'vitest';
import { openEventLog } from './open-event-log.ts';
import { redisEventLog } from './redis/redis-event-log.ts';

const open = (url: string) => openEventLog(url, { now: Date.now });

describe('openEventLog', () => {
  test('[L40] opens a memory store', async () => {
    const log = await open('memory:');
    await expect(log.ping()).resolves.toBeUndefined();
  });

  test.each([
    ['', 'is not a store'],
    ['store.db', 'did you mean `sqlite:store.db`'],
    ['memory:x', 'takes nothing after it'],
    ['sqlite:', 'needs a path'],
    ['sqlite://store.db', 'write `sqlite:store.db`'],
    ['sqlit:store.db', 'did you mean `sqlite:`'],
    ['postgres://user:secret@host/db', 'there is no store of kind `postgres:`'],
    ['sqlite:~/store.db', 'write `$HOME/store.db`'],
    ['redis://[bad', 'redis://[NAME:PASSWORD@]HOST'],
    ['redis://:secret@host/name', 'redis://[NAME:PASSWORD@]HOST'],
    ['redis://:secret@host/3/4', 'redis://[NAME:PASSWORD@]HOST'],
    ['redis://:secret@host/3?prefix=mine', 'give each a database number'],
  ])('[L40] %s is refused with what to write instead', async (url, message) => {
    const refused = open(url);
    await expect(refused).rejects.toMatchObject({ name: 'LogError', code: 'bad-url' });
    await expect(refused).rejects.toThrow(message);
    await expect(refused).rejects.not.toThrow('secret');
  });

  test('[L40] an address where nothing listens is named, without its password', async () => {
    const refused = redisEventLog('redis://:secret@127.0.0.1:1', { patienceMs: 200 });
    await expect(refused).rejects.toMatchObject({ code: 'unavailable' });
    await expect(refused).rejects.toThrow('redis://127.0.0.1:1 does not answer; start Redis there');
    await expect(refused).rejects.not.toThrow('secret');
  });
});
