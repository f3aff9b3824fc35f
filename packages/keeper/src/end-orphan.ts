import { setTimeout as sleep } from 'node:timers/promises';
import { describeProcess, type ProcessIdentity, processesMarked, sendSignal } from './process-identity.ts';

const pollMs = 20;

/**
 * Ends what is left of an agent whose owner died: the process itself, if it is still the one that was recorded, its
 * group, and whatever carries its marker. SIGTERM first, SIGKILL after the grace. True when there was something to end.
 */
export async function endOrphan(identity: ProcessIdentity, graceMs = 2_000): Promise<boolean> {
  let left = await living(identity);
  if (left.length === 0) return false;
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    for (const target of left) sendSignal(target, signal);
    const deadline = Date.now() + graceMs;
    do {
      await sleep(pollMs);
      left = await living(identity);
    } while (left.length > 0 && Date.now() < deadline);
  }
  return true;
}

/** Signal targets: a negative one is the whole group. */
async function living(identity: ProcessIdentity): Promise<number[]> {
  const [described, marked] = await Promise.all([describeProcess(identity.pid), processesMarked(identity.marker)]);
  const isSame = described?.startTime === identity.startTime;
  return isSame ? [-identity.pid, ...marked] : marked;
}
