import { err, ok, type Result } from '@concerto/base';
import type { EventLog, NewEntry } from '@concerto/log';
import {
  ConversationPlace,
  encodeEvent,
  type FoldedEvent,
  isTurnCall,
  type PublicEvent,
  readStoredEvent,
} from '@concerto/protocol';
import { refusal, type ServiceRefusal } from '../session/service-refusal.ts';

/** What a fork takes along, all in one commit; a longer session is forked at an earlier place, or not at all. */
export const forkBytesMax = 32 * 1024 * 1024;
const pageEntries = 1_000;

/** About the session that it stands in, and untrue in any other. */
const ownNews: ReadonlySet<string> = new Set([
  'status',
  'message',
  'usage',
  'budget',
  'settings',
  'worktree',
  'gap',
  'complete',
  'error',
  'finish',
]);

type Heard = { readonly event: FoldedEvent; readonly text: string };

/** What a new session takes over of another's events. */
export type ForkedEvents = {
  readonly entries: readonly NewEntry[];
  /** The last that was taken. */
  readonly at: number;
  /** How many turns there were up to it. */
  readonly turns: number;
  /** Where its agent's own conversation stood. */
  readonly place: ConversationPlace | undefined;
};

/** The events up to one of them. */
export async function readUpTo(
  log: EventLog,
  session: string,
  at: number | undefined,
): Promise<Result<readonly Heard[], ServiceRefusal>> {
  const heard: Heard[] = [];
  let bytes = 0;
  for (let after = 0; ; ) {
    const page = await log.read({ session, stream: 'events', after, limit: pageEntries });
    if (at !== undefined && at > page.head) {
      return err(refusal('cannot_fork', `\`at\`: its events end with number ${page.head}`, { head: page.head }));
    }
    for (const { position, data } of page.entries) {
      if (position > (at ?? page.head)) return ok(heard);
      const event = readStoredEvent(data);
      if (event === undefined) continue;
      heard.push({ event, text: data });
      bytes += data.length;
      if (bytes > forkBytesMax) return err(tooLong());
    }
    const last = page.entries.at(-1)?.position;
    if (last === undefined || last >= page.head) return ok(heard);
    after = last;
  }
}

export function tooLong(): ServiceRefusal {
  const most = `${forkBytesMax / 1024 / 1024} MiB`;
  return refusal('cannot_fork', `what was said up to there is more than ${most}: name an earlier \`at\``);
}

/** The turns that were over by then: in the middle of one there is nothing that a model could go on from. */
export function wholeTurns(heard: readonly Heard[]): readonly Heard[] {
  const begun = heard.findLastIndex(({ event }) => event.type === 'start');
  const ended = heard.findLastIndex(({ event }) => event.type === 'turnComplete');
  if (ended === -1) return [];
  return begun > ended ? heard.slice(0, begun) : heard;
}

/** As the new session has them: with all closed that was open there. */
export function forkedEvents(heard: readonly Heard[]): ForkedEvents {
  const open = new Open();
  const entries: NewEntry[] = [];
  let turns = 0;
  let place: ConversationPlace | undefined;
  for (const { event, text } of heard) {
    if (event.type === 'unknown' || ownNews.has(event.type) || isOwnName(event)) continue;
    open.saw(event);
    place = placeIn(event) ?? place;
    if (event.type === 'functionCall' && isTurnCall(event)) turns = turnIn(event.callId) ?? turns;
    entries.push({ type: event.type, data: text.replace(/,"seq":\d+\}$/, '}') });
  }
  const last = heard.at(-1)?.event;
  if (last !== undefined) {
    for (const event of open.closing()) entries.push({ type: event.type, data: encodeEvent(event, last.at) });
  }
  return { entries, at: last?.seq ?? 0, turns, place };
}

/** The name of the conversation of the other's agent: it is not to be gone on with, only from. */
function isOwnName(event: FoldedEvent): boolean {
  return event.type === 'subagentAddJson' && event.title === 'conversation';
}

function placeIn(event: FoldedEvent): ConversationPlace | undefined {
  return event.type === 'agentInfo' ? ConversationPlace.safeParse(event.extra?.conversation).data : undefined;
}

function turnIn(callId: string): number | undefined {
  const number = /^turn-(\d+)$/.exec(callId)?.[1];
  return number === undefined ? undefined : Number(number);
}

const why = 'forked here';

/** Calls, requests and the turn that have begun and not ended. */
class Open {
  readonly #calls = new Map<string, string>();
  readonly #requests = new Set<string>();
  #inTurn = false;

  saw(event: FoldedEvent): void {
    switch (event.type) {
      case 'start':
        this.#inTurn = true;
        return;
      case 'turnComplete':
        this.#inTurn = false;
        return;
      case 'functionCall':
        this.#calls.set(event.callId, event.name);
        return;
      case 'functionResult':
        this.#calls.delete(event.callId);
        return;
      case 'requestSettled':
        this.#requests.delete(event.requestId);
        return;
      case 'waitForInput':
      case 'waitForChoice':
      case 'queryConsent':
      case 'readGraph':
      case 'inspectNode':
      case 'applyEdits':
        this.#requests.add(event.requestId);
        return;
      default:
        return;
    }
  }

  /** The turn's own call began first, and ends last. */
  closing(): readonly PublicEvent[] {
    const requests = [...this.#requests].map(
      (requestId): PublicEvent => ({ type: 'requestSettled', requestId, outcome: 'withdrawn', reason: why }),
    );
    const calls = [...this.#calls].reverse().map(([callId, name]): PublicEvent => {
      const part = { functionResponse: { name, response: { error: why } } };
      return { type: 'functionResult', callId, content: { role: 'user', parts: [part] }, outcome: 'cancelled' };
    });
    const turn: PublicEvent[] = this.#inTurn ? [{ type: 'turnComplete', outcome: 'interrupted', reason: why }] : [];
    return [...requests, ...calls, ...turn];
  }
}
