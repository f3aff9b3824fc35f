import {
  type CallOutcome,
  type PublicEvent,
  type SessionRecord,
  type TurnOutcome,
  textContent,
} from '@concerto/protocol';
import { flyingEntry } from '../queue/queue.ts';
import type { OpenCall } from './session-command.ts';
import type { SessionState } from './session-state.ts';

type Change = { readonly before: SessionState | undefined; readonly after: SessionState };
type TurnEnded = Extract<SessionRecord, { type: 'turn-ended' }>;

/** Names the agent's work of a turn in every event about it. */
export function turnCallId(turn: number): string {
  return `turn-${turn}`;
}

/** A turn is shown from the moment at which the agent certainly has its prompt, or began by itself. */
export function turnOpening({ before, after }: Change, records: readonly SessionRecord[]): readonly PublicEvent[] {
  const name = after.agent;
  const flying = flyingPrompt(before);
  const events: PublicEvent[] = [];
  for (const record of records) {
    if (record.type === 'turn-started' && record.messageId === undefined) {
      const callId = turnCallId(record.turn);
      events.push(
        { type: 'start', objective: { role: 'user', parts: [] } },
        { type: 'functionCall', callId, name, args: {}, isTurn: true },
      );
      continue;
    }
    if (flying === undefined || !isTaken(flying.id, { before, after }, record)) continue;
    const { objective, content: prompt, dispatch } = flying;
    const { turn } = before ?? after;
    const isOver = !turn.active || dispatch.turn !== turn.number;
    // A turn of the agent's own has begun since: what was interrupted before it is not shown within it.
    if (isOver && turn.active) continue;
    const callId = turnCallId(dispatch.turn);
    events.push(
      { type: 'start', objective: objective ?? textContent(prompt, 'user') },
      { type: 'functionCall', callId, name, args: { prompt }, isTurn: true },
    );
    // Only an interrupt ends a turn before it is known that its prompt has arrived.
    if (isOver) events.push(...ownClosing(callId, name, 'interrupted'));
  }
  return events;
}

/** A prompt that nobody confirmed in time is shown too, if its turn goes on: what follows is about it. */
function isTaken(id: string, { before, after }: Change, record: SessionRecord): boolean {
  if (record.type === 'message-delivered') return record.messageId === id;
  if (record.type !== 'message-uncertain' || record.messageId !== id || before === undefined) return false;
  return before.turn.active && after.turn.active && after.turn.number === before.turn.number;
}

/** The prompt that is on its way to the agent, as nobody has confirmed it before. */
function flyingPrompt(before: SessionState | undefined) {
  const entry = before === undefined ? undefined : flyingEntry(before.queue);
  const { dispatch } = entry ?? {};
  return entry === undefined || dispatch?.how !== 'prompt' ? undefined : { ...entry, dispatch };
}

/** Closes what is shown of a turn: the calls that still run, the turn's own, the turn. One for each that was opened. */
export function turnClosing(
  told: Change & {
    readonly observed: readonly PublicEvent[];
    readonly openCalls: readonly OpenCall[];
    readonly reason: string | undefined;
  },
  records: readonly SessionRecord[],
): readonly PublicEvent[] {
  const { before, after } = told;
  const ended = records.find((record) => record.type === 'turn-ended');
  // A program goes on with the next owner, and so do its calls.
  const goesOn = before?.turn.active === true && after.turn.active && after.turn.number === before.turn.number;
  const isParked = before !== undefined && before.agentProcess.kind !== 'none';
  const isOver = records.some(
    ({ type }) => type === 'ended' || (type === 'process-lost' && !goesOn) || (type === 'parked' && isParked),
  );
  if (ended === undefined && !isOver) return [];
  const outcome = ended === undefined ? 'lost' : turnOutcome(ended, records);
  const reason = outcome === 'done' ? undefined : (ended?.error?.message ?? told.reason);
  const calls = told.openCalls.map(({ callId, name }) => resultEvent(callId, name, unfinished[outcome]));
  if (ended === undefined || !wasShown(before, ended.turn, records)) return calls;
  const callId = turnCallId(ended.turn);
  const closing = ownClosing(callId, after.agent, outcome, reason);
  // An agent that was asked to stop may have handed something over all the same.
  const hasResult = told.observed.some((event) => event.type === 'functionResult' && event.callId === callId);
  return [...calls, ...(hasResult ? closing.slice(-1) : closing)];
}

/** What a result says of itself is in its own events. */
function ownClosing(callId: string, agent: string, outcome: TurnOutcome, reason?: string): readonly PublicEvent[] {
  const complete: PublicEvent = { type: 'turnComplete', outcome, ...(reason === undefined ? {} : { reason }) };
  if (outcome === 'done') return [complete];
  return [resultEvent(callId, agent, { outcome: unfinished[outcome].outcome, why: reason ?? outcome }), complete];
}

type Unfinished = { readonly outcome: CallOutcome; readonly why: string };

const unfinished: Readonly<Record<TurnOutcome, Unfinished>> = {
  done: { outcome: 'cancelled', why: 'the turn ended' },
  failed: { outcome: 'failed', why: 'the turn failed' },
  interrupted: { outcome: 'cancelled', why: 'the turn was interrupted' },
  cancelled: { outcome: 'cancelled', why: 'the session was cancelled' },
  lost: { outcome: 'failed', why: 'lost: it may or may not have been done' },
};

function resultEvent(callId: string, name: string, { outcome, why }: Unfinished): PublicEvent {
  const part = { functionResponse: { name, response: { error: why } } };
  return { type: 'functionResult', callId, content: { role: 'user', parts: [part] }, outcome };
}

/** A prompt that was never confirmed opened nothing that could be closed. */
function wasShown(before: SessionState | undefined, turn: number, records: readonly SessionRecord[]): boolean {
  const flying = flyingPrompt(before);
  if (flying?.dispatch.turn !== turn) return true;
  return records.some((record) => record.type === 'message-delivered' && record.messageId === flying.id);
}

function turnOutcome({ outcome }: TurnEnded, records: readonly SessionRecord[]): TurnOutcome {
  switch (outcome) {
    case 'result':
      return 'done';
    case 'error':
      return 'failed';
    case 'interrupted':
    case 'cancelled':
      return outcome;
    case 'lost':
      if (records.some((record) => record.type === 'ended' && record.status === 'cancelled')) return 'cancelled';
      return records.some((record) => record.type === 'process-lost') ? 'lost' : 'failed';
  }
}
