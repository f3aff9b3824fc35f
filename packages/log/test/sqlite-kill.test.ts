import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { Entry, EventLog, StreamName } from '../src/event-log.ts';
import { sqliteEventLog } from '../src/sqlite/sqlite-event-log.ts';
import { startChild } from './child.ts';

const folder = mkdtempSync(join(tmpdir(), 'concerto-kill-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const KILLS = 30;

/** One writes a row for each append, many have them in groups; either way some of it is moved to its place meanwhile. */
const CALLERS = [1, 3, 16];

/** Kills the writer after some acknowledgements; returns all that reached us. */
async function runAndKill(path: string, run: number): Promise<string[]> {
  const child = startChild('sqlite-writer.ts', path, String(run), String(CALLERS[run % CALLERS.length]));
  const acknowledged: string[] = [];
  const killAfter = 1 + Math.floor(Math.random() * 400);
  for await (const line of child.lines) {
    acknowledged.push(line);
    if (acknowledged.length === killAfter) child.process.kill('SIGKILL');
  }
  await child.gone;
  return acknowledged;
}

async function readAll(log: EventLog, session: string, stream: StreamName): Promise<Entry[]> {
  const all: Entry[] = [];
  for (;;) {
    const page = await log.read({ session, stream, after: all.length, limit: 1_000 });
    if (page.entries.length === 0) return all;
    all.push(...page.entries);
  }
}

async function check(path: string, acknowledged: readonly string[]): Promise<void> {
  const log = sqliteEventLog(path, { now: Date.now });
  const stored = new Map<string, string[]>();
  for (const session of await log.listSessions(undefined, 100)) {
    const events = await readAll(log, session, 'events');
    const domain = await readAll(log, session, 'domain');
    expect(events.map(({ position }) => position)).toEqual(events.map((_, index) => index + 1));
    const ids = events.map(({ data }) => JSON.parse(data).id as string);
    expect(new Set(ids).size).toBe(ids.length);
    expect(domain.map(({ data }) => JSON.parse(data).id)).toEqual(ids);
    const last = new Map(ids.map((id) => [id.split('.')[1], id]));
    for (const [caller, id] of last) {
      expect((await log.getDocument('last', `${session}.${caller}`))?.value).toBe(JSON.stringify({ id }));
    }
    stored.set(session, ids);
  }
  for (const line of acknowledged) {
    const [session = '', position = '', id = ''] = line.split(' ');
    const found = stored.get(session)?.[Number(position) - 1];
    expect({ line, found }).toEqual({ line, found: id });
  }
  await log.close();
}

test(`[L23] ${KILLS} kills at any moment lose nothing that was acknowledged`, { timeout: 180_000 }, async () => {
  const path = join(folder, 'store.db');
  const acknowledged: string[] = [];
  for (let run = 0; run < KILLS; run++) {
    acknowledged.push(...(await runAndKill(path, run)));
    await check(path, acknowledged);
  }
  expect(acknowledged.length).toBeGreaterThanOrEqual(KILLS);
});
