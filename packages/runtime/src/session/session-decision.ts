import { assert, err, ok, type Result } from '@concerto/base';
import type { Append, DocumentWrite, NewEntry } from '@concerto/log';
import {
  type Decision,
  decide,
  type OpenCall,
  type Refusal,
  type SessionCommand,
  type SessionState,
} from '@concerto/session';
import { type Fence, toAppend } from './session-append.ts';

/** The owner of a session, where it lives in this process. */
export type OwnerHere = {
  readonly fence: Fence;
  readonly actor: string;
  /** What a turn that a wish ends has to close. */
  readonly openCalls: () => readonly OpenCall[];
  /** Facts that it had no need to tell at once: they go before whatever is decided next, in the same commit. */
  readonly owed: Owed[];
  /** Told of each durable decision of this process before anybody else; the head of the commands is after its own. */
  readonly decided: (decision: Decision, head: number | undefined) => void;
  /** The store has less of the session than the owner knows. */
  readonly lost: () => void;
};

/** A fact, and what is written with it. */
export type Owed = {
  readonly make: MakeCommand;
  readonly journal: readonly NewEntry[];
  readonly documents: readonly DocumentWrite[];
};

export type MakeCommand = (state: SessionState | undefined) => SessionCommand;
/** A command, or how to make it from the state that it will be decided on; undefined for no more than what is owed. */
export type CommandSource = SessionCommand | MakeCommand | undefined;

/** Of the streams that an owner writes without a decision. */
export type Heads = { readonly events: number; readonly journal: number };

export type ExecuteOptions = {
  readonly fence?: Fence | undefined;
  /** Written in the same commit, if there is one. */
  readonly documents?: readonly DocumentWrite[];
  /** For the journal, in the same commit; there is one then. */
  readonly journal?: readonly NewEntry[];
  /** The same for all tries of one command, so that one which got through unheard is not made again. */
  readonly tries?: Tries;
  /** What its events begin with, of a session that this begins. */
  readonly events?: readonly NewEntry[];
};

/** The tries of one command while the store is away. */
export type Tries = {
  /** Positions that nothing of it can be before. */
  readonly since: Heads;
  /** What it became in a try of which no answer came. */
  written?: Decision;
};

/** What was decided on a state, and how it is written. */
export type Made = {
  readonly decisions: readonly Decision[];
  /** The last of them; of a command that there was nothing to decide, the state as it is. */
  readonly decision: Decision;
  readonly append: Append;
  /** In whose place it was decided. */
  readonly owner: OwnerHere | undefined;
  /** What was owed is written with it. */
  readonly paid: () => void;
};

/** The session as it is known. */
type Known = {
  readonly id: string;
  readonly state: SessionState | undefined;
  readonly position: number;
  readonly gone: boolean;
};

/** Decides what its owner owes, and then the command, on what is known. */
export function makeDecision(
  known: Known,
  here: OwnerHere | undefined,
  command: CommandSource,
  options: ExecuteOptions,
): Result<Made, Refusal> {
  const { id, position, gone } = known;
  const owner = options.fence === undefined ? here : undefined;
  const speaker = options.fence === undefined || options.fence.epoch === here?.fence.epoch ? here : undefined;
  const owed = [...(speaker?.owed ?? [])];
  const decisions: Decision[] = [];
  let { state } = known;
  for (const { make } of owed) {
    const decided = decide(state, make(state));
    assert(decided.ok, 'the domain refuses no report');
    ({ state } = decided.value);
    decisions.push(decided.value);
  }
  const made = typeof command === 'function' ? command(state) : command;
  if ((gone || state?.deleted === true) && made?.type === 'start')
    return err({ code: 'id_in_use', message: `session ${id} was deleted, and its id is not given again` });
  if (made !== undefined) {
    const decided = decide(state, owner === undefined ? made : inPlaceOf(owner, made));
    if (!decided.ok) return decided;
    decisions.push(decided.value);
  }
  const decision = decisions.at(-1) ?? nothingOf(state);
  const written = decisions.filter((one) => !isEmpty(one));
  const { events = [] } = options;
  const documents = [...owed.flatMap((fact) => fact.documents), ...(options.documents ?? [])];
  const journal = [...owed.flatMap((fact) => fact.journal), ...(options.journal ?? [])];
  const fence = options.fence ?? owner?.fence;
  const before = { state: known.state, position };
  const append = toAppend(id, { before, decisions: written, fence, documents, journal, events });
  const paid = (): void => void speaker?.owed.splice(0, owed.length);
  return ok({ decisions: written, decision, append, owner, paid });
}

function inPlaceOf({ fence, actor, openCalls }: OwnerHere, command: SessionCommand): SessionCommand {
  return { attending: { epoch: fence.epoch, actor }, openCalls: openCalls(), ...command };
}

function nothingOf(state: SessionState | undefined): Decision {
  assert(state !== undefined, 'whoever owes has a session');
  return { records: [], events: [], acks: [], commands: [], at: '', state };
}

function isEmpty({ records, events, acks, commands }: Decision): boolean {
  return records.length === 0 && events.length === 0 && acks.length === 0 && commands.length === 0;
}
