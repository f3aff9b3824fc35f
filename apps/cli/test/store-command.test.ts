import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEventLog } from '@concerto/log';
import { startRedisServer } from '@concerto/log/testing';
import Database from 'libsql';
import { afterAll, describe, expect, test } from 'vitest';
import { concertoCommand } from '../../../tests/support/concerto-command.ts';

const folder = mkdtempSync(join(tmpdir(), 'concerto-store-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function concerto(...args: string[]) {
  return concertoIn(undefined, ...args);
}

function concertoIn(cwd: string | undefined, ...args: string[]) {
  const command = [...concertoCommand, 'store', ...args];
  return spawnSync(process.execPath, command, {
    encoding: 'utf8',
    timeout: 30_000,
    ...(cwd === undefined ? {} : { cwd }),
  });
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
      expect(there.stdout).toBe('copied and verified: 2000 entries in 6 streams, 1 document, 1 lease\n');
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
      stderr: expect.stringContaining('backup, check and copy'),
    });
    expect(concerto('copy', 'a')).toMatchObject({ status: 2 });
  });
});

describe('concerto store backup and check', () => {
  const opened = JSON.stringify({ n: 1 });

  test('backs up and checks a store that is being written, and the backup opens', async () => {
    const url = `sqlite:${join(folder, 'live.db')}`;
    const file = join(folder, 'backup.db');
    const live = await openEventLog(url, { now: Date.now });
    const event = { stream: 'events' as const, entries: [{ type: 't', data: opened }] };
    await live.append({ session: '@s1', streams: [event] });
    expect(concerto('backup', file, url)).toMatchObject({ status: 0, stderr: '' });
    expect(statSync(file).mode & 0o077).toBe(0);
    expect(concerto('backup', file, url)).toMatchObject({ status: 1, stderr: expect.stringContaining('exists') });
    expect(concerto('check', url)).toMatchObject({ status: 0, stdout: expect.stringContaining('no problem in') });
    // The one who writes did not notice.
    await live.append({ session: '@s1', streams: [event] });
    await live.close();
    const copied = await openEventLog(`sqlite:${file}`, { now: Date.now });
    expect((await copied.read({ session: '@s1', stream: 'events', after: 0, limit: 9 })).entries).toHaveLength(1);
    await copied.close();
  });

  test('names what is damaged: a gap, what is no JSON, and a session that cannot be read', async () => {
    const path = join(folder, 'damaged.db');
    const store = await openEventLog(`sqlite:${path}`, { now: Date.now });
    const entries = [1, 2, 3].map((n) => ({ type: 't', data: JSON.stringify({ n }) }));
    await store.append({ session: '@s1', streams: [{ stream: 'events', entries }] });
    await store.append({ session: 's2', streams: [{ stream: 'domain', entries: [{ type: 't', data: opened }] }] });
    await store.close();
    const db = new Database(path);
    db.exec("UPDATE entries SET data = 'torn' WHERE id = (SELECT min(id) FROM entries)");
    db.exec('DELETE FROM entries WHERE id = (SELECT min(id) + 1 FROM entries)');
    db.close();
    const checked = concerto('check', '--json', `sqlite:${path}`);
    expect(checked.status).toBe(1);
    expect(JSON.parse(checked.stdout).problems).toMatchObject([
      { where: '@s1/events at 1', problem: 'is no JSON object' },
      { where: '@s1/events at 3', problem: 'follows 1' },
      { where: 's2' },
    ]);
  });

  test('says that it cannot write there, not that the store cannot be opened', async () => {
    const url = `sqlite:${join(folder, 'whole.db')}`;
    await fill(url);
    const nowhere = join(folder, 'nowhere', 'backup.db');
    expect(concerto('backup', nowhere, url)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining(`the copy ${nowhere} cannot be created there; choose another path`),
    });
    const file = join(folder, 'whole-backup.db');
    expect(JSON.parse(concerto('backup', '--json', file, url).stdout)).toEqual({ file });
  });

  test('says what it cannot do', () => {
    expect(concerto('backup', join(folder, 'x.db'), 'redis://127.0.0.1:1')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('BGSAVE'),
    });
    expect(concerto('backup')).toMatchObject({ status: 2, stderr: expect.stringContaining('FILE is missing') });
    expect(concerto('check', `sqlite:${join(folder, 'typo.db')}`)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('there is no store at'),
    });
  });
});

describe('which store is meant', () => {
  test('is the one that the manifest names, and none when the manifest cannot be read', async () => {
    const project = join(folder, 'project');
    mkdirSync(project);
    expect(concertoIn(project, 'check')).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/there is no store at \S+; name it, or go to the folder of the server/),
    });
    const log = await openEventLog(`sqlite:${join(project, 'named.db')}`, { now: Date.now });
    await log.close();
    writeFileSync(join(project, 'Concerto.toml'), '[server]\nstore = "sqlite:named.db"\n');
    expect(concertoIn(project, 'check')).toMatchObject({ status: 0, stdout: expect.stringContaining('no problem') });
    writeFileSync(join(project, 'Concerto.toml'), '[server]\nstore = \n');
    expect(concertoIn(project, 'check')).toMatchObject({ status: 1, stderr: expect.stringContaining('mend it') });
  });
});
