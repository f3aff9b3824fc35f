import { canFork } from '@concerto/agents';
import type { DocumentWrite, EventLog } from '@concerto/log';
import { liveSettings, Offers, type SessionAgent, type WorkEvent } from '@concerto/protocol';
import type { SessionState } from '@concerto/session';
import { folderOf, weighed } from '../answer/request-risk.ts';
import type { CatalogEntry } from '../catalog.ts';
import type { Report } from '../ports.ts';
import type { Worker, WorkerOutput } from '../worker.ts';
import { NamedCalls } from './approval-call.ts';

const collection = 'agent-details';
/** The same by the name of the entry, for who is about to start one. */
const offersCollection = 'agent-offers';

type Info = Extract<WorkEvent, { type: 'agentInfo' }>;
type Ports = { readonly log: EventLog; readonly report: Report; readonly session: string };
type Noted = Ports & { readonly agent: string };

type Batch = readonly WorkerOutput[];
/** What is made of all that a worker says before it is heard. A promise only where there is something to wait for. */
export type Prepare = (batch: Batch) => Batch | Promise<Batch>;

/** With what an approval is about, with how risky each request is, and with what it says of itself noted down. */
export function preparing({ folder }: Pick<Worker, 'folder'>, agent: string, ports: Ports): Prepare {
  const calls = new NamedCalls();
  const offers = new AgentOffers({ ...ports, agent });
  return (batch) => {
    offers.note(batch);
    return weighed(calls.complete(batch), { agent, folder });
  };
}

/** What a session that is deleted leaves of it. */
export function forgetDetails(session: string): DocumentWrite {
  return { collection, key: session, value: undefined };
}

/** For those who ask before they read events. */
class AgentOffers {
  readonly #noted: Noted;
  #known: Omit<Info, 'type' | 'extra'> | undefined;
  #written = Promise.resolve();

  constructor(noted: Noted) {
    this.#noted = noted;
  }

  note(batch: Batch): void {
    for (const word of batch) {
      if (word.kind === 'events' && word.events.some(isInfo)) this.#write(word.events.filter(isInfo));
    }
  }

  #write(infos: readonly Info[]): void {
    const { log, report, session, agent } = this.#noted;
    for (const { type: _type, extra: _extra, ...info } of infos) this.#known = { ...this.#known, ...info };
    const { commands: _commands, version: _version, ...offers } = this.#known ?? {};
    const value = JSON.stringify(this.#known);
    this.#written = this.#written
      .then(() => log.putDocument({ collection, key: session, value }))
      .then(() => log.putDocument({ collection: offersCollection, key: agent, value: JSON.stringify(offers) }))
      .catch((cause: unknown) => report(`session ${session}: what its agent offers was not noted down`, cause));
  }
}

function isInfo(event: WorkEvent): event is Info {
  return event.type === 'agentInfo';
}

export async function agentDetails(
  log: EventLog,
  { id, settings, supervises }: SessionState,
  entry: CatalogEntry | undefined,
): Promise<SessionAgent> {
  const stored = await log.getDocument(collection, id);
  const folder = settings?.workingDir ?? (entry?.kind === 'agent' ? folderOf(entry.spec) : undefined);
  const forks = entry !== undefined && supervises === undefined && (entry.kind !== 'agent' || canFork(entry.spec));
  const perSession = [...(entry?.perSession ?? [])];
  const isOwnWire = entry?.kind === 'agent' && (entry.spec.protocol ?? 'ndjson') === 'ndjson';
  const switches = entry !== undefined && entry.kind !== 'program' && !isOwnWire;
  const live = liveSettings.filter((name) => switches && perSession.includes(name));
  return {
    ...(stored === undefined ? {} : JSON.parse(stored.value)),
    ...(folder === undefined ? {} : { folder }),
    ...(forks ? { canFork: true } : {}),
    perSession,
    live,
  };
}

/** What an entry's agent offered when one last ran. */
export async function knownOffers(log: EventLog, agent: string): Promise<Offers | undefined> {
  const stored = await log.getDocument(offersCollection, agent);
  const parsed = stored === undefined ? undefined : Offers.safeParse(JSON.parse(stored.value));
  return parsed?.success === true ? parsed.data : undefined;
}
