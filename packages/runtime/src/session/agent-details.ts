import { canFork } from '@concerto/agents';
import type { EventLog } from '@concerto/log';
import { liveSettings, Offers, type SessionAgent, type WorkEvent } from '@concerto/protocol';
import type { SessionState } from '@concerto/session';
import type { CatalogEntry } from '../catalog.ts';
import type { Report } from '../ports.ts';
import type { Worker, WorkerOutput } from '../worker.ts';
import { aboutCalls } from './approval-call.ts';
import { folderOf, weighed } from './request-risk.ts';

const collection = 'agent-details';
/** The same by the name of the entry, for who is about to start one. */
const offersCollection = 'agent-offers';

type Info = Extract<WorkEvent, { type: 'agentInfo' }>;
type Ports = { readonly log: EventLog; readonly report: Report; readonly session: string };
type Noted = Ports & { readonly agent: string };

/** All that is heard of a session's worker, with how risky each request is, and with what it says of itself noted down. */
export function heardOf({ output, folder }: Worker, agent: string, ports: Ports): Worker['output'] {
  return noting(weighed(aboutCalls(output), { agent, folder }), { ...ports, agent });
}

/** For those who ask before they read events. */
async function* noting(
  output: Worker['output'],
  { log, report, session, agent }: Noted,
): AsyncGenerator<readonly WorkerOutput[]> {
  let known: Omit<Info, 'type' | 'extra'> | undefined;
  let written = Promise.resolve();
  for await (const batch of output) {
    const infos = batch.flatMap((word) => (word.kind === 'events' ? word.events.filter(isInfo) : []));
    for (const { type: _type, extra: _extra, ...info } of infos) known = { ...known, ...info };
    if (known !== undefined && infos.length > 0) {
      const value = JSON.stringify(known);
      const { commands: _commands, version: _version, ...offers } = known;
      written = written
        .then(() => log.putDocument({ collection, key: session, value }))
        .then(() => log.putDocument({ collection: offersCollection, key: agent, value: JSON.stringify(offers) }))
        .catch((cause: unknown) => report(`session ${session}: what its agent offers was not noted down`, cause));
    }
    yield batch;
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
