import type { DocumentWrite, EventLog } from '@concerto/log';
import { readStored } from '@concerto/protocol';
import * as z from 'zod';

const silentCollection = 'silent';

const Silent = z.object({ incarnation: z.number() });

/** That everybody was told how long nothing was heard of an agent: whoever hears it next takes that back, another owner too. */
export function toldSilent(session: string, incarnation: number): DocumentWrite {
  return { collection: silentCollection, key: session, value: JSON.stringify({ incarnation }) };
}

export function notSilent(session: string): DocumentWrite {
  return { collection: silentCollection, key: session, value: undefined };
}

export async function wasToldSilent(
  log: Pick<EventLog, 'getDocument'>,
  session: string,
  incarnation: number,
): Promise<boolean> {
  const stored = await log.getDocument(silentCollection, session);
  return stored !== undefined && readStored(Silent, JSON.parse(stored.value)).incarnation === incarnation;
}
