// Appends without end from some callers and names on stdout each append that was acknowledged: `SESSION POSITION ID`.
import { sqliteEventLog } from '../src/sqlite/sqlite-event-log.ts';

const [path = '', run = '', callers = '16'] = process.argv.slice(2);
const log = sqliteEventLog(path, { now: Date.now });

async function write(caller: number): Promise<void> {
  const session = `s${caller % 5}`;
  for (let n = 0; ; n++) {
    const id = `${run}.${caller}.${n}`;
    const data = JSON.stringify({ id, filler: 'x'.repeat((n * 37) % 900) });
    const appended = await log.append({
      session,
      streams: [
        { stream: 'domain', entries: [{ type: 't', data }] },
        { stream: 'events', entries: [{ type: 't', data }] },
      ],
      documents: [{ collection: 'last', key: `${session}.${caller}`, value: JSON.stringify({ id }) }],
    });
    if (appended.kind === 'appended') process.stdout.write(`${session} ${appended.positions.events} ${id}\n`);
  }
}

await Promise.all(Array.from({ length: Number(callers) }, (_, caller) => write(caller)));
