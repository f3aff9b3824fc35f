import type { PoolRecord, PublicEvent, SessionRecord, SessionStatus } from '@concerto/protocol';
import type { Pool } from '../src/pool/pool.ts';
import { pendingEntries } from '../src/queue/queue.ts';
import type { Decision, Notice, Report, Wish } from '../src/session/session-command.ts';
import { openRequests, statusOf } from '../src/session/status.ts';
import type { Asking, Watcher, WorldSession } from './world.ts';

const limits: Partial<Record<SessionStatus, number>> = {
  starting: 15_000,
  interrupting: 10_000,
  pausing: 20_000,
  resuming: 10_000,
  cancelling: 15_000,
};

/** Plain, because it is asked a million times. */
export function must(holds: boolean, promise: string): void {
  if (!holds) throw new Error(`broken promise: ${promise}`);
}

type Fate = 'pending' | 'flying' | 'delivered' | 'uncertain' | 'cancelled';

/** A message goes back to the queue only if it certainly was not read, or a person wants it sent again. */
function checkSecondChance(record: SessionRecord, command: Wish | Notice | Report): void {
  if (record.type === 'message-resent')
    must(command.type === 'resend', 'only a person sends again what may have been read');
  if (record.type !== 'message-returned') return;
  const tells = command.type === 'process-exited' || command.type === 'released';
  const unread = tells ? (command.undelivered ?? []) : [];
  const refused = command.type === 'delivery-refused' && command.dispatchId === record.dispatchId;
  must(refused || unread.includes(record.dispatchId), 'only what was certainly not read goes back');
}

const wishes: ReadonlySet<string> = new Set([
  'start',
  'enqueue',
  'edit',
  'promote',
  'cancel-message',
  'reorder',
  'resend',
  'drop',
  'control',
  'answer',
  'take-back-answer',
  'admit',
  'make-room',
] satisfies readonly (Wish | Notice)['type'][]);

/** Nobody but the owner, or who decides in its place, says that something is on its way to the agent. */
function checkHandOver(record: SessionRecord, { type, attending }: Asking): void {
  if (record.type === 'answer-sent' || record.type === 'answer-kept') {
    must(!wishes.has(type) || attending !== undefined, `only the owner takes an answer, not ${type}`);
  }
  if (record.type !== 'message-dispatched' && record.type !== 'start-requested') return;
  const owns = wishes.has(type) ? attending?.epoch === record.epoch : true;
  must(owns, `only the owner hands over, not ${type}`);
}

/** What one session has shown so far, kept apart from the code under test. */
class Memory {
  status: SessionStatus | undefined;
  since = 0;
  readonly fates = new Map<string, Fate>();
  readonly dispatches = new Map<string, string>();
  /** The lanes as a person would keep them on paper. */
  immediate: string[] = [];
  queued: string[] = [];
  turnOpen = false;
  finished = false;
  shownTurn = false;
  readonly answered = new Set<string>();
  readonly acked = new Set<string>();
}

/** Follows what comes out of the decisions, never how they were made, and objects to whatever breaks a promise. */
export class Oracle implements Watcher {
  private readonly memories = new Map<string, Memory>();
  steps = 0;

  private memory(session: WorldSession): Memory {
    const known = this.memories.get(session.id) ?? new Memory();
    this.memories.set(session.id, known);
    return known;
  }

  decided(session: WorldSession, command: Asking, decision: Decision): void {
    const memory = this.memory(session);
    for (const record of decision.records) {
      checkSecondChance(record, command);
      checkHandOver(record, command);
      this.followRecord(memory, record);
    }
    this.checkCommands(memory, decision);
    this.followEvents(memory, decision);
    this.checkAcks(memory, decision);
    this.checkRest(session, command);
  }

  /** Fates, lanes and turns, from what is stored. */
  private followRecord(memory: Memory, record: SessionRecord): void {
    switch (record.type) {
      case 'message-enqueued':
        memory.fates.set(record.messageId, 'pending');
        (record.priority === 'immediate' ? memory.immediate : memory.queued).push(record.messageId);
        return;
      case 'message-promoted':
        memory.queued = memory.queued.filter((id) => id !== record.messageId);
        memory.immediate.push(record.messageId);
        return;
      case 'messages-reordered': {
        // Places of what is not listed stay; the listed ones take the listed order in the places they had.
        const order = [...record.ids];
        const listed = new Set(record.ids);
        memory.queued = memory.queued.map((id) => (listed.has(id) ? (order.shift() ?? id) : id));
        return;
      }
      case 'message-dispatched':
        this.checkDispatch(memory, record);
        return;
      case 'message-delivered':
        must(memory.fates.get(record.messageId) === 'flying', 'a message is delivered once');
        memory.fates.set(record.messageId, 'delivered');
        return;
      case 'message-returned':
      case 'message-resent':
        memory.fates.set(record.messageId, 'pending');
        return;
      case 'message-uncertain':
        memory.fates.set(record.messageId, 'uncertain');
        return;
      case 'message-cancelled':
        must(
          ['pending', 'uncertain'].includes(memory.fates.get(record.messageId) ?? ''),
          'a message in flight is not cancelled',
        );
        memory.fates.set(record.messageId, 'cancelled');
        return;
      case 'turn-started':
        must(!memory.turnOpen, 'one turn at a time');
        memory.turnOpen = true;
        return;
      case 'turn-ended':
        memory.turnOpen = false;
        return;
      default:
        return;
    }
  }

  private checkDispatch(memory: Memory, record: Extract<SessionRecord, { type: 'message-dispatched' }>): void {
    const { messageId, dispatchId, how } = record;
    const waiting = (id: string) => memory.fates.get(id) === 'pending';
    must(waiting(messageId), 'only what is pending is handed over');
    must(![...memory.fates.values()].includes('flying'), 'one message in flight');
    const head = memory.immediate.find(waiting) ?? memory.queued.find(waiting);
    must(messageId === head, `Immediate before Queued, each lane in order: ${messageId} before ${head}`);
    must(how === 'prompt' || !memory.queued.includes(messageId), 'a Queued message never enters a turn');
    must(memory.turnOpen === (how === 'steer'), 'a prompt begins a turn, a steer enters one');
    must(![...memory.dispatches.values()].includes(dispatchId), 'dispatch ids are new');
    memory.dispatches.set(messageId, dispatchId);
    memory.fates.set(messageId, 'flying');
  }

  /** The agent gets nothing that the records do not hold, and nothing that was reported cancelled. */
  private checkCommands(memory: Memory, decision: Decision): void {
    for (const one of decision.commands) {
      if (one.type === 'deliver') {
        must(memory.dispatches.get(one.messageId) === one.dispatchId, 'what is sent is on record');
        must(memory.fates.get(one.messageId) === 'flying', 'nothing confirmed or cancelled is sent');
      }
      if (one.type === 'answer') {
        must(
          decision.records.some((record) => record.type === 'answer-sent' && record.requestId === one.requestId),
          'an answer on its way is on record',
        );
        must(!memory.answered.has(one.requestId), 'an answer is handed over once');
        memory.answered.add(one.requestId);
      }
    }
  }

  private followEvents(memory: Memory, decision: Decision): void {
    must(!memory.finished || decision.events.length === 0, 'nothing follows finish');
    decision.events.forEach((event, index) => this.followEvent(memory, decision, event, index));
    const delivers = decision.commands.some((one) => one.type === 'deliver');
    const open = memory.status === 'running' || decision.records.every((one) => one.type !== 'message-dispatched');
    const active = memory.status === 'running' || memory.status?.startsWith('waiting') === true;
    must(!delivers || (open && active), `nothing is handed over while ${memory.status}`);
    if (decision.commands.some((one) => one.type === 'start')) memory.since = Date.parse(decision.at);
  }

  private followEvent(memory: Memory, decision: Decision, event: PublicEvent, index: number): void {
    if (event.type === 'status') {
      must(event.previous === memory.status, 'statuses form a chain');
      const news = event.status !== memory.status || decision.records.some((one) => one.type === 'parked');
      must(news, 'a status event says something new');
      memory.status = event.status;
      memory.since = Date.parse(decision.at);
    } else if (event.type === 'finish') {
      const before = decision.events[index - 1]?.type ?? '';
      must(before === 'complete' || before === 'error', 'complete or error before finish');
      must(index === decision.events.length - 1, 'finish is last');
      memory.finished = true;
    } else if (event.type === 'start') {
      must(!memory.shownTurn, 'a turn that is shown ends before the next begins');
      memory.shownTurn = true;
    } else if (event.type === 'turnComplete') {
      must(memory.shownTurn && event.outcome !== undefined, 'only a turn that is shown ends, and tells how');
      memory.shownTurn = false;
    }
  }

  private checkAcks(memory: Memory, decision: Decision): void {
    for (const ack of decision.acks) {
      const name = ack.type === 'message_ack' ? `${ack.type} ${ack.dispatchId}` : `${ack.type} ${ack.requestId}`;
      must(!memory.acked.has(name), `${name} once`);
      memory.acked.add(name);
    }
  }

  private checkRest(session: WorldSession, command: Wish | Notice | Report): void {
    const { state } = session;
    if (state === undefined) return;
    const memory = this.memory(session);
    const status = statusOf(state);
    must(status === memory.status, 'clients know the status');
    must(memory.finished === (state.end !== undefined), 'finish is the end');
    must(!memory.shownTurn || state.turn.active, 'a turn that is over is shown as over');
    if (status === 'idle' && state.queue.inFlight === undefined) {
      must(pendingEntries(state.queue).length === 0, 'an idle session has nothing to do');
    }
    if (!state.turn.active && state.hold === undefined && state.control === undefined) {
      must(openRequests(state).length === 0, `nothing stays open after ${command.type}`);
    }
    const waits = status === 'running' && !state.turn.active && state.queue.inFlight === undefined;
    must(!waits || session.called, 'whoever could hand over was called');
    if (state.end !== undefined) {
      must(state.slot.kind === 'none', 'the end gives the slot back');
      must(![...memory.fates.values()].includes('pending'), 'nothing is pending after the end');
    }
  }

  pooled(before: Pool, after: Pool, records: readonly PoolRecord[]): void {
    const gave = records.some((record) => record.type === 'slot-allocated');
    must(!gave || after.slots.size <= after.max, 'never more slots than the maximum');
    // Nobody who came later holds a slot that somebody on the list had to wait for.
    const admitted = [...after.slots.keys()].filter((id) => !before.slots.has(id));
    const overtaken = [...before.waiting.keys()].filter((id) => after.waiting.has(id));
    const newcomers = admitted.filter((id) => !before.waiting.has(id));
    must(overtaken.length === 0 || newcomers.length === 0, 'nobody overtakes the waiting list');
  }

  /** Called when time has passed. */
  checkTime(sessions: readonly WorldSession[], now: number): void {
    for (const session of sessions) {
      const memory = this.memory(session);
      const limit = memory.status === undefined ? undefined : limits[memory.status];
      if (limit === undefined) continue;
      must(now - memory.since < limit, `${memory.status} does not outlive its deadline`);
    }
  }
}
