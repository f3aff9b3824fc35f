import type { EventLog } from '@concerto/log';
import { JsonValue, type PublicEvent, type WorkEvent } from '@concerto/protocol';
import { type OpenCall, turnCallId } from '@concerto/session';

const pageEntries = 1_000;
/** Calls that never end are forgotten from here on, the oldest first. */
const openMax = 10_000;

/** The calls that were shown and have no result yet. */
export class OpenCalls {
  #open = new Map<string, string>();
  /** As long as they stay as they are: each decision names them. */
  #list: readonly OpenCall[] | undefined = [];
  /** A copy has the same map: whoever changes it first makes one of its own. */
  #isShared = false;

  copy(): OpenCalls {
    const copy = new OpenCalls();
    copy.#open = this.#open;
    copy.#list = this.#list;
    copy.#isShared = true;
    this.#isShared = true;
    return copy;
  }

  has(callId: string): boolean {
    return this.#open.has(callId);
  }

  get list(): readonly OpenCall[] {
    this.#list ??= [...this.#open].map(([callId, name]) => ({ callId, name }));
    return this.#list;
  }

  /**
   * Every call has exactly one result. One that no call waits for is shown as what it is; a call under an id that is open
   * ends the one before it, of which nothing can be heard any more, so that both are seen with what they were given.
   */
  checked(events: readonly WorkEvent[], turn: number): readonly WorkEvent[] {
    const checked: WorkEvent[] = [];
    for (const event of events) {
      const before = event.type === 'functionCall' ? this.#open.get(event.callId) : undefined;
      if (before !== undefined && event.type === 'functionCall') checked.push(replaced(event.callId, before));
      const isStray =
        event.type === 'functionResult' && !this.#open.has(event.callId) && event.callId !== turnCallId(turn);
      this.#note(event);
      checked.push(isStray ? withoutCall(event) : event);
    }
    return checked;
  }

  see(events: readonly PublicEvent[]): void {
    for (const event of events) this.#note(event);
  }

  #note(event: PublicEvent): void {
    if (event.type === 'functionResult') this.#own().delete(event.callId);
    if (event.type !== 'functionCall' || event.isTurn === true) return;
    const open = this.#own().set(event.callId, event.name);
    const [oldest] = open.keys();
    if (open.size > openMax && oldest !== undefined) open.delete(oldest);
  }

  /** To be changed. */
  #own(): Map<string, string> {
    if (this.#isShared) this.#open = new Map(this.#open);
    this.#isShared = false;
    this.#list = undefined;
    return this.#open;
  }
}

function withoutCall({ callId, content }: Extract<WorkEvent, { type: 'functionResult' }>): WorkEvent {
  return { type: 'subagentAddJson', callId, title: 'result without its call', data: JsonValue.parse(content) };
}

function replaced(callId: string, name: string): WorkEvent {
  const part = { functionResponse: { name, response: { error: 'another call was made under its id' } } };
  return { type: 'functionResult', callId, content: { role: 'user', parts: [part] }, outcome: 'cancelled' };
}

/** Those of the turn under way, from what the owner before us has shown. */
export async function recallOpenCalls(log: Pick<EventLog, 'head' | 'read'>, session: string): Promise<OpenCalls> {
  const found: PublicEvent[][] = [];
  for (let end = await log.head(session, 'events'); end > 0; end -= pageEntries) {
    const after = Math.max(0, end - pageEntries);
    const page = await log.read({ session, stream: 'events', after, limit: end - after });
    const calls = page.entries.filter(({ type }) => about.has(type));
    const start = calls.findLastIndex(({ type }) => type === 'start');
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written by us
    found.unshift(calls.slice(start + 1).map(({ data }) => JSON.parse(data) as PublicEvent));
    if (start >= 0) break;
  }
  const open = new OpenCalls();
  open.see(found.flat());
  return open;
}

const about: ReadonlySet<string> = new Set(['start', 'functionCall', 'functionResult']);
