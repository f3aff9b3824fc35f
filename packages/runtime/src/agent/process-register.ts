import { hostname } from 'node:os';
import { endOrphan, type ProcessIdentity } from '@concerto/agents';
import type { EventLog } from '@concerto/log';
import * as z from 'zod';
import type { Tenure } from '../session/tenure.ts';

const Remembered = z.looseObject({
  session: z.string(),
  epoch: z.number().int(),
  host: z.string(),
  identity: z.looseObject({ pid: z.number().int(), startTime: z.string(), marker: z.string() }),
});

const collection = 'processes';
const pageDocuments = 500;

/** Whose process it is: under which ownership of which session it was started. */
export type ProcessNote = { readonly session: string; readonly epoch: number };

/**
 * Which process belongs to which session, written before the agent is spoken to: an agent that outlives a killed
 * server is ended by the next owner instead of working on unseen. Each owner has notes of its own, so that one that
 * has lost the session without knowing cannot wipe out its successor's.
 */
export class ProcessRegister {
  readonly #log: EventLog;
  readonly #host: string;

  constructor(log: EventLog, host = hostname()) {
    this.#log = log;
    this.#host = host;
  }

  async remember(note: ProcessNote, identity: ProcessIdentity): Promise<void> {
    const value = JSON.stringify({ ...note, host: this.#host, identity });
    await this.#log.putDocument({ collection, key: keyOf(note), tag: note.session, value });
  }

  async forget(note: ProcessNote): Promise<void> {
    await this.#log.putDocument({ collection, key: keyOf(note), value: undefined });
  }

  /** A process that goes on under a new owner: what older ones noted down of it counts no more. */
  async adopt(note: ProcessNote, identity: ProcessIdentity): Promise<void> {
    await this.remember(note, identity);
    for (const older of await this.#list(note.session)) if (older.epoch !== note.epoch) await this.forget(older);
  }

  /** Whether the newest process of the session was started on another machine. */
  async isElsewhere(session: string): Promise<boolean> {
    const notes = await this.#list(session);
    const newest = notes.reduce<(typeof notes)[number] | undefined>(
      (last, note) => (last === undefined || note.epoch > last.epoch ? note : last),
      undefined,
    );
    return newest !== undefined && newest.host !== this.#host;
  }

  /** Ends whatever runs for the session: its owner is new, so nothing of it can be rightful. */
  async endAllOf(session: string): Promise<void> {
    for (const remembered of await this.#list(session)) {
      // A process on another machine is out of reach; its own runner has lost the lease and ends it.
      if (remembered.host === this.#host) await endOrphan(remembered.identity);
      await this.forget(remembered);
    }
  }

  async end(note: ProcessNote): Promise<void> {
    const notes = await this.#list(note.session);
    const remembered = notes.find(({ epoch, host }) => epoch === note.epoch && host === this.#host);
    if (remembered === undefined) return;
    await endOrphan(remembered.identity);
    await this.forget(note);
  }

  /** The processes on this machine, as far as anybody noted them down. */
  async here(): Promise<readonly ProcessNote[]> {
    return (await this.#list()).filter(({ host }) => host === this.#host);
  }

  /** The process groups of this machine's agents. */
  async groupsHere(): Promise<readonly number[]> {
    return (await this.#list()).flatMap(({ host, identity }) => (host === this.#host ? [identity.pid] : []));
  }

  async #list(session?: string): Promise<readonly z.infer<typeof Remembered>[]> {
    const notes: z.infer<typeof Remembered>[] = [];
    for (let cursor: string | undefined; ; ) {
      const page = await this.#log.listDocuments({
        collection,
        limit: pageDocuments,
        ...(session === undefined ? {} : { tag: session }),
        ...(cursor === undefined ? {} : { cursor }),
      });
      notes.push(...page.documents.map(({ value }) => Remembered.parse(JSON.parse(value))));
      cursor = page.nextCursor;
      if (cursor === undefined) return notes;
    }
  }
}

function keyOf({ session, epoch }: ProcessNote): string {
  return `${session}@${epoch}`;
}

/**
 * An owner's notes of its own processes, in order, of which the last counts: an old process that ends slowly must not
 * take the note of the next one with it.
 */
export class OwnProcessNotes {
  readonly #register: Pick<ProcessRegister, 'remember' | 'forget'>;
  readonly #tenure: Tenure;
  #noted: ProcessIdentity | undefined;
  #last: Promise<void> = Promise.resolve();

  constructor(register: Pick<ProcessRegister, 'remember' | 'forget'>, tenure: Tenure) {
    this.#register = register;
    this.#tenure = tenure;
  }

  async remember(identity: ProcessIdentity): Promise<void> {
    this.#noted = identity;
    await this.#inOrder(() => this.#register.remember(this.#note, identity));
  }

  /** One that was taken up was noted down before us. */
  async forget(identity: ProcessIdentity): Promise<void> {
    const { marker, pid } = this.#noted ?? identity;
    if (marker !== identity.marker || pid !== identity.pid) return;
    await this.#inOrder(() => this.#register.forget(this.#note));
  }

  get #note(): ProcessNote {
    return { session: this.#tenure.session, epoch: this.#tenure.epoch };
  }

  async #inOrder(work: () => Promise<void>): Promise<void> {
    const noted = this.#last.then(() => this.#tenure.patiently(work));
    this.#last = noted.catch(() => undefined);
    await noted;
  }
}
