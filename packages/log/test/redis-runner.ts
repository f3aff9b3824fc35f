// Holds a lease and appends under it without end; says on stdout what became of each append.
import { redisEventLog } from '../src/redis/redis-event-log.ts';

const [url = '', ttl = ''] = process.argv.slice(2);
const log = await redisEventLog(url);
const lease = await log.acquireLease({ name: 'session:s', owner: `runner ${process.pid}`, ttlMs: Number(ttl) });
const epoch = lease.kind === 'acquired' ? lease.epoch : 0;
process.stdout.write(`${lease.kind} ${epoch}\n`);

for (;;) {
  const data = JSON.stringify({ epoch });
  const streams = [{ stream: 'events', entries: [{ type: 't', data }] }] as const;
  const appended = await log.append({ session: 's', fence: { lease: 'session:s', epoch }, streams });
  process.stdout.write(`${appended.kind}\n`);
  if (appended.kind === 'fenced') break;
}
const renewed = await log.renewLease({ name: 'session:s', owner: 'late', ttlMs: 1_000, epoch });
process.stdout.write(`renewed ${renewed}\n`);
await log.close();
