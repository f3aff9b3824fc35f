import { expect, test } from 'vitest';
import type { RedisClient } from './redis-connection.ts';
import { checkServer, type RedisFacts } from './redis-server-check.ts';

/** Versions that cannot be run here: what they say of themselves is all that is looked at. */
function saying(info: string, settings: Readonly<Record<string, string>> = {}): RedisClient {
  return {
    sendCommand: async ([command, , name = '']) => (command === 'INFO' ? info : { [name]: settings[name] }),
    subscribe: async () => undefined,
  };
}

test.each(['5.0.14', '6.0.20', '6.1.0'])('Redis %s is refused, with the version that is needed', async (version) => {
  const client = saying(`# Server\r\nredis_version:${version}\r\n`);
  await expect(checkServer(client, 'redis://here', {})).rejects.toThrow(`is Redis ${version}; use 6.2 or newer`);
});

test.each(['6.2.0', '7.0.15', '10.1.0'])('Redis %s is taken, and what it says is told', async (version) => {
  const told: RedisFacts[] = [];
  const client = saying(`# Server\r\nredis_version:${version}\r\n`, { appendonly: 'yes', appendfsync: 'always' });
  await checkServer(client, 'redis://here', { onServer: (facts) => told.push(facts) });
  expect(told).toEqual([{ version, appendonly: 'yes', appendfsync: 'always' }]);
});

test('a server that tells no version is not refused for it', async () => {
  await expect(checkServer(saying(''), 'redis://here', {})).resolves.toBeUndefined();
});
