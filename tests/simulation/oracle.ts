import type { EventLog, StreamName } from '@concerto/log';
import { SessionRecord, SuspendEvent } from '@concerto/protocol';
import { evolve, openRequests, type SessionState, sessionView, statusOf } from '@concerto/session';
import type { Client } from './client.ts';
import type { Known, World } from './world.ts';

/** Beside its own deadline: a lease, a sweep, a store that is away, a process that has to come up again. */
const takeoverMs = 45_000;
const controlMs = { interrupt: 10_000, pause: 20_000, resume: 10_000, cancel: 15_000 };
const startMs = 15_000;

export function must(holds: boolean, promise: string): void {
  if (!holds) throw new Error(`broken promise: ${promise}`);
}

export async function recordsOf(world: World, session: string): Promise<readonly SessionRecord[]> {
  return [...(await known(world, session)).records];
}

/** Undefined while it is not opened. */
export async function stateOf(world: World, session: string): Promise<SessionState | undefined> {
  return (await known(world, session)).state;
}

/** People look all the time: what was read before is not read again. */
async function known({ log, known }: World, session: string): Promise<Known> {
  const one: Known = known.get(session) ?? { records: [], state: undefined };
  known.set(session, one);
  const { entries } = await log.read({ session, stream: 'domain', after: one.records.length, limit: 100_000 });
  for (const { position, data } of entries) {
    // Somebody who looks at the same time may have read it.
    if (position <= one.records.length) continue;
    const record = SessionRecord.parse(JSON.parse(data));
    one.records.push(record);
    one.state = evolve(one.state, record);
  }
  return one;
}

async function all(log: EventLog, session: string, stream: StreamName): Promise<readonly string[]> {
  const page = await log.read({ session, stream, after: 0, limit: 100_000 });
  return page.entries.map((entry) => entry.data);
}

/** All that was promised about one session, from what is stored and from what its agents really got. */
export async function checkSession(world: World, client: Client, session: string): Promise<SessionState> {
  const records = await recordsOf(world, session);
  const state = checkRecords(records);
  // A program takes its prompt itself; its agents are sessions like any other.
  if (state.kind === 'agent') checkDelivery(world, client, { session, records });
  // What is said to a program goes to its agent.
  checkAcknowledged(client, session, await withFamily(world, state, records));
  checkTimes(records, world.clock.now());
  checkEvents(await all(world.log, session, 'events'), state);
  if (state.kind === 'program' && state.end !== undefined) await checkFamily(world, state);
  return state;
}

/** Immediate before Queued, each lane in its order, one at a time; the clock never goes back. */
function checkRecords(records: readonly SessionRecord[]): SessionState {
  let state: SessionState | undefined;
  let at = 0;
  for (const record of records) {
    must(record.at >= at, 'records never go back in time');
    at = record.at;
    if (record.type === 'message-dispatched' && state !== undefined) {
      must(state.queue.inFlight === undefined, 'one message in flight');
      const pending = [...state.queue.entries.live.values()].filter((entry) => entry.state === 'pending');
      const immediate = pending.filter((entry) => entry.priority === 'immediate');
      const lane = immediate.length > 0 ? immediate : pending;
      const first = lane.toSorted((a, b) => a.laneSeq - b.laneSeq)[0];
      must(first?.id === record.messageId, `Immediate before Queued, each in order: ${first?.id}`);
      must(record.actor.startsWith('runner:') || record.actor === 'clock', 'only the owner hands over');
    }
    state = evolve(state, record);
  }
  if (state === undefined) throw new Error('a session without records');
  return state;
}

/** Nobody got anything that was not recorded before, or twice, or after it was reported cancelled. */
function checkDelivery(
  world: World,
  client: Client,
  { session, records }: { readonly session: string; readonly records: readonly SessionRecord[] },
): void {
  const count = (type: SessionRecord['type'], id: string): number =>
    records.filter((record) => record.type === type && 'messageId' in record && record.messageId === id).length;
  const got = world.received.filter((one) => one.session === session);
  for (const id of new Set(got.map((one) => one.id))) {
    const times = got.filter((one) => one.id === id).length;
    must(times <= count('message-dispatched', id), `${id}: nothing is sent that the log does not hold`);
    must(times <= 1 + count('message-resent', id), `${id}: delivered ${times} times`);
  }
  for (const record of records) {
    if (record.type !== 'message-delivered') continue;
    must(
      got.some((one) => one.id === record.messageId),
      `${record.messageId}: delivered, but the agent never got it`,
    );
  }
  for (const one of client.acknowledged) {
    if (one.what !== 'unsend' || one.session !== session) continue;
    must(!got.some(({ id, at }) => id === one.message && at > one.at), `${one.message}: delivered after its cancel`);
    const seen = got.some(({ id }) => id === one.message);
    must(!seen || count('message-uncertain', one.message) > 0, `${one.message}: cancelled, but delivered`);
  }
  const answers = world.answered.filter((one) => one.startsWith(`${session} `));
  must(new Set(answers).size === answers.length, 'an answer is handed over once');
}

/** What a client was told is on record, once. */
function checkAcknowledged(client: Client, session: string, records: readonly SessionRecord[]): void {
  const once = (what: string, fits: (record: SessionRecord) => boolean): void => {
    const times = records.filter(fits).length;
    must(times === 1, `${what}: acknowledged, and recorded ${times} times`);
  };
  for (const one of client.acknowledged) {
    if (one.session !== session) continue;
    if (one.what === 'start') once('start', ({ type }) => type === 'created');
    if (one.what === 'send') {
      once(
        `message ${one.message}`,
        (record) => record.type === 'message-enqueued' && record.messageId === one.message,
      );
    }
    // At the end of a session what may have been delivered is settled as far as anybody can.
    const over = records.some(({ type }) => type === 'ended');
    if (one.what === 'unsend' && !over) {
      once(
        `cancel of ${one.message}`,
        (record) => record.type === 'message-cancelled' && record.messageId === one.message,
      );
    }
    if (one.what === 'control') {
      once(
        `${one.verb} ${one.requestId}`,
        (record) => record.type === 'control-requested' && record.requestId === one.requestId,
      );
    }
    if (one.what === 'answer') {
      // One that no runner took in time was given back, and another one may have come.
      const of = (type: SessionRecord['type']): number =>
        records.filter((r) => r.type === type && 'requestId' in r && r.requestId === one.request).length;
      const times = of('request-answered') - of('answer-returned');
      must(times === 1, `answer to ${one.request}: acknowledged, and recorded ${times} times`);
    }
  }
}

async function withFamily(
  world: World,
  { children }: SessionState,
  own: readonly SessionRecord[],
): Promise<readonly SessionRecord[]> {
  const of = await Promise.all([...children].map((child) => recordsOf(world, child)));
  return [...own, ...of.flat().filter(({ type }) => type !== 'created')];
}

/** Nothing that a program opened is left when it is over. */
async function checkFamily(world: World, { id, children }: SessionState): Promise<void> {
  for (const child of children) {
    const records = await recordsOf(world, child);
    // Its place in the tree is on record before it is opened.
    if (records.length === 0) continue;
    const state = checkRecords(records);
    must(state.end !== undefined, `${child} outlives ${id}, which opened it`);
  }
}

function checkTimes(records: readonly SessionRecord[], now: number): void {
  const open = new Map<string, { readonly at: number; readonly within: number }>();
  const close = (key: string, at: number): void => {
    const asked = open.get(key);
    if (asked === undefined) return;
    must(at - asked.at <= asked.within + takeoverMs, `${key} took ${at - asked.at} ms`);
    open.delete(key);
  };
  for (const record of records) {
    switch (record.type) {
      case 'control-requested':
        open.set(`${record.kind} ${record.requestId}`, { at: record.at, within: controlMs[record.kind] });
        break;
      case 'control-confirmed':
      case 'control-refused':
      case 'control-superseded':
        close(`${record.kind} ${record.requestId}`, record.at);
        break;
      case 'start-requested':
        open.set(`start ${record.incarnation}`, { at: record.at, within: startMs });
        break;
      case 'agent-ready':
      case 'process-lost':
        close(`start ${record.incarnation}`, record.at);
        break;
      case 'ended':
        for (const key of open.keys()) close(key, record.at);
        break;
      default:
    }
  }
  for (const key of open.keys()) close(key, now);
}

/** Gap-free, a chain of statuses, and nothing after `finish`, which `complete` or `error` precedes. */
function checkEvents(stored: readonly string[], state: SessionState): void {
  let status: string | undefined;
  const steps = new Set<string>();
  let latest = 0;
  stored.forEach((data, index) => {
    const event: { type: string; seq: number; status?: string; previous?: string } = JSON.parse(data);
    // The steps of an agent begin with its number; that it is silent is ours to say.
    if (event.type === 'functionCallUpdate' && state.kind === 'agent' && /^\d/.test(event.status ?? '')) {
      must(!steps.has(event.status ?? ''), `step ${event.status} is shown twice`);
      steps.add(event.status ?? '');
      const speaker = Number((event.status ?? '').split(' ')[0]);
      must(speaker >= latest, `agent ${speaker} is heard after its successor ${latest}`);
      latest = speaker;
    }
    must(event.seq === index + 1, `seq ${event.seq} at place ${index + 1}`);
    if (event.type === 'status') {
      must(event.previous === status, `status ${event.status} follows ${event.previous}, but it was ${status}`);
      status = event.status;
    }
    if (event.type !== 'finish') return;
    must(index === stored.length - 1, 'finish is last');
    const before: { type: string } = JSON.parse(stored[index - 1] ?? '{"type":""}');
    must(before.type === 'complete' || before.type === 'error', 'complete or error before finish');
  });
  checkPairs(stored, state);
  must(status === statusOf(state), 'clients know the status');
  const finished = stored.at(-1)?.includes('"type":"finish"') === true;
  must(finished === (state.end !== undefined), 'finish is the end');
}

const suspends: ReadonlySet<string> = new Set(SuspendEvent.def.options.flatMap(({ shape }) => shape.type.def.values));

/** Every `start` has its `turnComplete`, every call its result, every request its settlement: each once, in this order. */
function checkPairs(stored: readonly string[], state: SessionState): void {
  const open = { turn: new Set<string>(), call: new Set<string>(), request: new Set<string>() };
  const begin = (kind: keyof typeof open, id: string): void => {
    must(!open[kind].has(id), `${kind} ${id} begins twice`);
    open[kind].add(id);
  };
  const end = (kind: keyof typeof open, id: string): void =>
    must(open[kind].delete(id), `${kind} ${id} ends without having begun`);
  for (const data of stored) {
    const event: { type: string; callId?: string; requestId?: string; outcome?: string } = JSON.parse(data);
    if (event.type === 'start') begin('turn', 'turn');
    if (event.type === 'functionCall') begin('call', event.callId ?? '');
    if (event.type === 'functionResult') end('call', event.callId ?? '');
    if (suspends.has(event.type)) begin('request', event.requestId ?? '');
    if (event.type === 'requestSettled') end('request', event.requestId ?? '');
    if (event.type !== 'turnComplete') continue;
    end('turn', 'turn');
    must(event.outcome !== undefined, 'a turn tells how it ended');
    must(open.call.size === 0, `calls outlive their turn: ${[...open.call].join()}`);
  }
  if (!state.turn.active) must(open.turn.size + open.call.size === 0, 'what began has ended');
  must(open.request.size === openRequests(state).length, 'what was asked is settled or open');
}

const stable: ReadonlySet<string> = new Set([
  'idle',
  'interrupted',
  'paused',
  'waitingForInput',
  'waitingForApproval',
  'completed',
  'failed',
  'cancelled',
]);

/** With everybody well and time enough, only a person is waited for. */
export function checkSettled(state: SessionState, pool: { readonly active: number; readonly max: number }): void {
  const status = statusOf(state);
  const { waiting } = sessionView(state, 0);
  if (status === 'queued' && waiting?.for === 'slot') {
    must(pool.active >= pool.max, 'a session waits for a slot only while none is free');
    return;
  }
  // A program runs as long as its agents do, which may wait for a person or for a place.
  if (state.kind === 'program' && status === 'running') return;
  must(stable.has(status), `${state.id} stays ${status} (${JSON.stringify(waiting)})`);
}
