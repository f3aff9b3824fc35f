import type { EventLog } from '@concerto/log';
import { readStored, SessionRecord } from '@concerto/protocol';
import { isBudget } from './budget-desk.ts';
import type { NextAnswer } from './input-answers.ts';

const pageEntries = 1_000;

/** What the session has asked so far, in order. */
export async function readAsked(log: EventLog, session: string): Promise<readonly string[]> {
  const asked = new Set<string>();
  for (let after = 0; ; ) {
    const { entries } = await log.read({ session, stream: 'domain', after, limit: pageEntries });
    for (const { data } of entries) {
      const record = readStored(SessionRecord, JSON.parse(data));
      if (record.type === 'request-opened' && !isBudget(record.event)) asked.add(record.requestId);
    }
    after = entries.at(-1)?.position ?? after;
    if (entries.length < pageEntries) return [...asked];
  }
}

/** Each question has its line of the input, the same when it is asked again by a run that goes on. */
export function answersInOrder(next: NextAnswer, before: readonly string[]): (requestId: string) => NextAnswer {
  const places = new Map(before.map((id, index) => [id, index]));
  let taken = 0;
  return (requestId) => {
    const place = places.get(requestId) ?? places.size;
    places.set(requestId, place);
    return (signal, show) => {
      // At once, and not one after the other: another question may be asked meanwhile.
      for (; taken < place; taken++) void next(signal, () => {}).catch(() => undefined);
      taken = Math.max(taken, place + 1);
      return next(signal, show);
    };
  };
}
