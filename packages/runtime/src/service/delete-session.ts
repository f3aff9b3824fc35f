import { err, ok, type Result } from '@concerto/base';
import { type Blobs, type DocumentWrite, type EventLog, streamNames } from '@concerto/log';
import * as z from 'zod';
import { forgetDetails } from '../agent/agent-details.ts';
import { heardOut } from '../agent/kept-agents.ts';
import { forgetMark } from '../conducting/journal-stream.ts';
import { refusal, type ServiceRefusal } from '../session/service-refusal.ts';
import type { SessionStore } from '../session/session-store.ts';
import { notSilent } from '../session/told-silent.ts';
import { noSuchSession } from './session-wishes.ts';

/** Sessions of which everything is to be removed; what a crash left is found here. */
const deletingCollection = 'deleting';
const startsCollection = 'starts';
const pageDocuments = 100;

/** Decides it, with these documents in the same commit. */
export type Deciding = (
  session: string,
  documents: readonly DocumentWrite[],
) => Promise<Result<unknown, ServiceRefusal>>;

type House = {
  readonly log: EventLog;
  readonly store: SessionStore;
  readonly blobs: Blobs;
  readonly decide: Deciding;
};

export async function deleteSession(id: string, house: House): Promise<Result<void, ServiceRefusal>> {
  const state = await house.store.state(id);
  if (state === undefined) return noSuchSession(id);
  if (state.parent !== undefined) {
    return err(refusal('not_a_root', `session ${state.parent} opened it, and they are deleted together`));
  }
  return await deleteTree(id, house);
}

async function deleteTree(id: string, house: House): Promise<Result<void, ServiceRefusal>> {
  const state = await house.store.state(id);
  if (state === undefined) return ok(undefined);
  if (state.end === undefined) return err(refusal('not_over', `session ${id} is not over; cancel it first`));
  for (const child of state.children) {
    const deleted = await deleteTree(child, house);
    if (!deleted.ok) return deleted;
  }
  // From the decision on it is nobody's; what it held goes after it, and what a crash leaves is noted down.
  const noted = { collection: deletingCollection, key: id, value: JSON.stringify({ session: id }) };
  const decided = await house.decide(id, [noted]);
  if (!decided.ok) return decided;
  await removeContents(house.log, house.blobs, id);
  return ok(undefined);
}

/**
 * Removes what a deleted session held: its entries but for the last record, which says who deleted it, and the files
 * that only it used. Safe to do again.
 */
async function removeContents(log: EventLog, blobs: Blobs, session: string): Promise<void> {
  await blobs.forgetSession(session);
  for (const stream of streamNames) {
    const head = await log.head(session, stream);
    const through = stream === 'domain' ? head - 1 : head;
    if (through > 0) await log.trim(session, stream, through);
  }
  await log.putDocument(forgetMark(session));
  await log.putDocument(heardOut(session));
  await log.putDocument(notSilent(session));
  await log.putDocument(forgetDetails(session));
  await log.putDocument({ collection: startsCollection, key: session, value: undefined });
  await log.putDocument({ collection: deletingCollection, key: session, value: undefined });
}

const Deleting = z.looseObject({ session: z.string() });

/** What was decided and not done, because its server died. */
export async function removeLeftContents(log: EventLog, blobs: Blobs): Promise<void> {
  for (;;) {
    const { documents } = await log.listDocuments({ collection: deletingCollection, limit: pageDocuments });
    for (const { value } of documents) await removeContents(log, blobs, Deleting.parse(JSON.parse(value)).session);
    if (documents.length < pageDocuments) return;
  }
}
