import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openEventLog } from '@concerto/log';
import { startRedisServer } from '@concerto/log/testing';
import { afterAll, describe, expect, test } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'concerto-store-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));

function concerto(...args: string[]) {
  const node = ['--conditions=@concerto/source', '--import', 'tsx', main, 'store', ...args];
  return spawnSync(process.execPath, node, { encoding: 'utf8', timeout: 30_000 });
}

async function fill(url: string): Promise<void> {
  const log = await openEventLog(url, { now: Date.now });
  for (let n = 0; n < 1_000; n++) {
    const entries = [{ type: 't', data: JSON.stringify({ n, text: '§ ü' }) }];
    await log.append({
      session: `s${n % 3}`,
      streams: [
        { stream: 'events', entries },
        { stream: 'domain', entries },
      ],
    });
  }
  await log.putDocument({ collection: 'sessions', key: 's0', value: '{}', sort: 3, tag: 'idle' });
  await log.acquireLease({ name: 'session:s0', owner: 'x', ttlMs: 60_000 });
  await log.close();
}

describe('concerto store copy', () => {
  test('moves SQLite to Redis and back, and says what it verified', async () => {
    const server = await startRedisServer();
    try {
      const first = `sqlite:${join(folder, 'first.db')}`;
      const second = `sqlite:${join(folder, 'second.db')}`;
      await fill(first);
      const there = concerto('copy', first, server.url);
      expect(there.stderr).toContain('verifying');
      expect(there.stdout).toBe('copied and verified: 2000 entries in 6 streams, 1 documents, 1 leases\n');
      expect(there.status).toBe(0);
      expect(concerto('copy', '--quiet', server.url, second)).toMatchObject({ status: 0, stderr: '' });
      const copied = await openEventLog(second, { now: Date.now });
      const page = await copied.read({ session: 's0', stream: 'events', after: 333, limit: 10 });
      expect(page).toEqual({
        entries: [{ position: 334, type: 't', data: '{"n":999,"text":"§ ü","seq":334}' }],
        head: 334,
        oldest: 1,
      });
      expect(await copied.acquireLease({ name: 'session:s0', owner: 'y', ttlMs: 1 })).toEqual({
        kind: 'acquired',
        epoch: 2,
      });
      await copied.close();
      const again = concerto('copy', first, server.url);
      expect(again.status).toBe(1);
      expect(again.stderr).toContain('already holds something');
    } finally {
      await server.dispose();
    }
  });

  test('refuses what it cannot copy, with what to do', () => {
    const missing = concerto('copy', `sqlite:${join(folder, 'typo.db')}`, `sqlite:${join(folder, 'x.db')}`);
    expect(missing).toMatchObject({ status: 1, stderr: expect.stringContaining('there is no store at') });
    expect(concerto('copy', 'memory:', 'sqlite:x.db')).toMatchObject({ status: 2 });
    expect(concerto('move', 'a', 'b')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('store copy FROM TO'),
    });
    expect(concerto('copy', 'a')).toMatchObject({ status: 2 });
  });
});
