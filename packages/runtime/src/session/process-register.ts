import { hostname } from 'node:os';
import { endOrphan, type ProcessIdentity } from '@concerto/agents';
import type { EventLog } from '@concerto/log';
import { z } from 'zod';

const Remembered = z.strictObject({
  host: z.string(),
  identity: z.strictObject({ pid: z.number().int(), startTime: z.string(), marker: z.string() }),
});

const collection = 'processes';
const pageDocuments = 500;

/**
 * Which process belongs to which session, written before the agent is spoken to: an agent that outlives a killed
 * server is ended by the next owner instead of working on unseen.
 */
export class ProcessRegister {
  readonly #log: EventLog;

  constructor(log: EventLog) {
    this.#log = log;
  }

  async remember(session: string, identity: ProcessIdentity): Promise<void> {
    const value = JSON.stringify({ host: hostname(), identity });
    await this.#log.putDocument({ collection, key: session, value });
  }

  async forget(session: string): Promise<void> {
    await this.#log.putDocument({ collection, key: session, value: undefined });
  }

  /** Sessions with a process on this machine, as far as anybody noted down. */
  async here(): Promise<readonly string[]> {
    const sessions: string[] = [];
    for (let cursor: string | undefined; ; ) {
      const page = await this.#log.listDocuments({
        collection,
        limit: pageDocuments,
        ...(cursor === undefined ? {} : { cursor }),
      });
      for (const { key, value } of page.documents) {
        if (Remembered.parse(JSON.parse(value)).host === hostname()) sessions.push(key);
      }
      cursor = page.nextCursor;
      if (cursor === undefined) return sessions;
    }
  }

  /** A process on another machine is out of reach; its own runner has lost the lease and ends it. */
  async endOrphan(session: string): Promise<void> {
    const stored = await this.#log.getDocument(collection, session);
    if (stored === undefined) return;
    const remembered = Remembered.parse(JSON.parse(stored.value));
    if (remembered.host === hostname()) await endOrphan(remembered.identity);
    await this.forget(session);
  }
}
