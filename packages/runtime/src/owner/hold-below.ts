import type { EventLog } from '@concerto/log';
import type { SessionState } from '@concerto/session';
import { passedOnId } from '../session/passed-on-id.ts';
import { readRecords } from '../session/read-records.ts';
import type { SessionStore } from '../session/session-store.ts';

type Ports = { readonly log: EventLog; readonly store: SessionStore; readonly now: () => number };

/**
 * Pauses what a paused program has opened, as far as it was not told: whoever ran the program may have been gone before it was.
 * One that was told, and that somebody let go on alone, goes on.
 */
export async function holdBelow({ id, kind, hold, children }: SessionState, ports: Ports): Promise<void> {
  if (kind !== 'program' || hold?.kind !== 'paused' || hold.requestId === undefined) return;
  const { log, store, now } = ports;
  for (const child of children) {
    const state = await store.state(child);
    if (state === undefined || state.end !== undefined || state.supervises !== undefined) continue;
    const requestId = passedOnId(hold.requestId, child);
    const records = await readRecords(log, child);
    if (records.some((record) => record.type === 'control-requested' && record.requestId === requestId)) continue;
    await store.execute(child, { type: 'control', kind: 'pause', requestId, at: now(), actor: `program:${id}` });
  }
}
