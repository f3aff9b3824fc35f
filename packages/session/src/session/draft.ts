import type { Ack, PublicEvent, RunnerCommand, SessionRecord } from '@concerto/protocol';
import { evolveSession } from './evolve.ts';
import type { Asked } from './session-command.ts';
import type { SessionState } from './session-state.ts';

type Distribute<T, Keys extends PropertyKey> = T extends unknown ? Omit<T, Keys> : never;
export type RecordBody = Distribute<SessionRecord, 'at' | 'actor' | 'cause'>;
export type CommandBody = Distribute<RunnerCommand, 'at'>;

/** A decision while it is being made: each record is applied at once, so that the next step sees its effect. */
export type Draft = {
  state: SessionState;
  readonly before: SessionState | undefined;
  readonly asked: Asked;
  readonly records: SessionRecord[];
  readonly commands: RunnerCommand[];
  readonly acks: Ack[];
  /** Events that are shown before those that follow from the records. */
  readonly observed: PublicEvent[];
  /** Why the status changed, when there is more to say than the status. */
  reason?: string | undefined;
};

/** A clock that stepped back stands still: order and deadlines never go backwards within a session. */
export function notBefore(state: SessionState | undefined, asked: Asked): Asked {
  const at = Math.max(Math.trunc(asked.at), state?.updatedAt ?? 0);
  const { actor, cause, trace, attending, openCalls } = asked;
  return { at, actor, cause, trace, attending, openCalls };
}

export function draftOf(state: SessionState, asked: Asked): Draft {
  return {
    state,
    before: state,
    asked: notBefore(state, asked),
    records: [],
    commands: [],
    acks: [],
    observed: [],
  };
}

/** Whoever has something recorded makes the body for it, and it becomes the record: to copy so many shapes is slow. */
function stamp(body: RecordBody, { at, actor, cause }: Asked): SessionRecord {
  return Object.assign(body, cause === undefined ? { at, actor } : { at, actor, cause });
}

/** For a message: where its work belongs in somebody's trace. */
export function traceOf({ asked }: Draft): { readonly trace?: string } {
  return asked.trace === undefined ? {} : { trace: asked.trace };
}

export function record(draft: Draft, body: RecordBody): void {
  const stamped = stamp(body, draft.asked);
  draft.records.push(stamped);
  draft.state = evolveSession(draft.state, stamped);
}

export function command(draft: Draft, body: CommandBody): void {
  draft.commands.push(Object.assign(body, { at: draft.asked.at }));
}
