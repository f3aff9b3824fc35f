import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sqliteEventLog } from '../src/sqlite/sqlite-event-log.ts';
import { eventLogContract } from '../src/testing/event-log-contract.ts';

eventLogContract('sqlite', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'concerto-log-'));
  let time = 1_700_000_000_000;
  const log = sqliteEventLog(join(folder, 'store.db'), { now: () => time });
  return {
    log,
    now: () => time,
    advance: (ms) => {
      time += ms;
    },
    dispose: async () => {
      await log.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
});
