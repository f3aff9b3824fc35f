// Says on stdout why it cannot have the store.
import { sqliteEventLog } from '../src/sqlite/sqlite-event-log.ts';

try {
  sqliteEventLog(process.argv[2] ?? '', { now: Date.now });
  process.stdout.write('it has the store\n');
} catch (cause) {
  process.stdout.write(`${cause instanceof Error ? cause.message : String(cause)}\n`);
}
