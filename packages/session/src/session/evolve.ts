import { unreachable } from '@concerto/base';
import { addUsage, type SessionRecord } from '@concerto/protocol';
import { type Archive, close, emptyArchive } from '../archive.ts';
import { GrownSet } from '../grown-set.ts';
import {
  closeQueue,
  dispatchedAgain,
  emptyQueue,
  evolveQueue,
  isQueueRecord,
  type QueueRecord,
  unreadTurn,
} from '../queue/queue.ts';
import { budgetOf, evolveBudget, workedOn } from './budget.ts';
import { changed, type OwnState } from './change-state.ts';
import { answersGivenTime, evolveRequests, supervisedBy } from './evolve-requests.ts';
import { evolveSettings, settingsAfterLoss } from './evolve-settings.ts';
import { deliveryTimeoutMs } from './limits.ts';
import type { Hold, Request, SessionState } from './session-state.ts';
import { wasAsked } from './status.ts';

type RecordOf<Type extends SessionRecord['type']> = Extract<SessionRecord, { type: Type }>;

/** Applies one record. History is never refused: a record that makes no sense here changes nothing but the clock. */
export function evolve(state: SessionState | undefined, record: SessionRecord): SessionState | undefined {
  if (record.type === 'created') return state ?? created(record);
  if (state === undefined) return undefined;
  return evolveSession(state, record);
}

/** The state after a whole history, or undefined when there is none. */
export function fold(records: Iterable<SessionRecord>): SessionState | undefined {
  let state: SessionState | undefined;
  for (const record of records) state = evolve(state, record);
  return state;
}

export function evolveSession(state: SessionState, record: SessionRecord): SessionState {
  // Nothing happened in it: what is old stays so, what rests goes on resting.
  if (record.type === 'described') return apply(state, record);
  const next = isQueueRecord(record) ? queueChanged(state, record) : apply(state, record);
  // What was made for this record is nobody else's yet: one copy of so large a thing is enough.
  const own: OwnState = next === state ? changed(state, {}) : next;
  own.rests = record.type === 'released' ? record.rests : undefined;
  own.budget = workedOn(state, next, record.at);
  own.updatedAt = Math.max(state.updatedAt, record.at);
  own.activeAt = isBookkeeping(state, record) ? state.activeAt : Math.max(state.activeAt, record.at);
  return own;
}

const bookkeeping: ReadonlySet<SessionRecord['type']> = new Set([
  'usage-reported',
  'child-used',
  'budget-told',
  'report-ignored',
  'message-starved',
  'claimed',
  'released',
  'parked',
]);

/** Nothing happened for whoever looks at it. A process that had nothing to do is not missed either. */
function isBookkeeping({ turn, agentProcess }: SessionState, { type }: SessionRecord): boolean {
  return bookkeeping.has(type) || (type === 'process-lost' && !turn.active && agentProcess.kind === 'ready');
}

function queueChanged(state: SessionState, record: QueueRecord): SessionState {
  const { control, turn } = state;
  const isNew = record.type === 'message-enqueued' && control !== undefined;
  return changed(state, {
    queue: evolveQueue(state.queue, record),
    control: isNew ? { ...control, messageSince: true } : control,
    turn: unreadTurn(state.queue, record) === turn.number ? { ...turn, isUnread: true } : turn,
  });
}

/** With every key that it may have later: a copy that gets another one costs the engine as much as the whole decision. */
export function created(record: RecordOf<'created'>): Required<SessionState> {
  return {
    id: record.sessionId,
    kind: record.kind,
    agent: record.agent,
    title: record.title,
    once: record.once,
    template: record.template,
    input: record.input,
    tools: record.tools,
    settings: record.settings,
    settingsAsked: undefined,
    settledSettings: undefined,
    parent: record.parent,
    root: record.root,
    code: record.code,
    supervisor: record.supervisor,
    archived: undefined,
    deleted: undefined,
    supervisions: 0,
    supervises: record.supervises,
    forkOf: record.forkOf,
    version: record.forkOf?.version,
    modelAsks: 0,
    budget: record.budget === undefined ? undefined : budgetOf(record.budget),
    children: GrownSet.empty(),
    createdAt: record.at,
    updatedAt: record.at,
    activeAt: record.at,
    slot: { kind: record.slot, since: record.at },
    rests: undefined,
    owner: undefined,
    epoch: 0,
    agentProcess: { kind: 'none' },
    incarnations: 0,
    everReady: false,
    capabilities: [],
    sandbox: undefined,
    turn: { number: record.forkOf?.turns ?? 0, active: false, since: record.at },
    rules: [],
    requests: emptyArchive(),
    queue: emptyQueue,
    hold: undefined,
    control: undefined,
    settledControls: emptyArchive(),
    usage: { inputTokens: 0, outputTokens: 0 },
    isEstimate: undefined,
    result: undefined,
    error: undefined,
    end: undefined,
  };
}

type ApartFromMessages = Exclude<SessionRecord, { type: `message${string}` }>;

/** The table of records: each group changes parts of the state that no other group does, but for the end, which closes all. */
function apply(state: SessionState, record: ApartFromMessages): SessionState {
  switch (record.type) {
    case 'created':
    case 'report-ignored':
    case 'responded':
      return state;
    case 'child-opened':
      return changed(state, { children: state.children.with(record.child) });
    case 'usage-reported':
      return changed(state, { usage: addUsage(state.usage, record.usage), ...estimated(record) });
    case 'budget-told':
    case 'budget-raised':
    case 'child-used':
      return changed(state, { budget: evolveBudget(state.budget, record) });
    case 'described': {
      const { title = state.title, archived = state.archived === true } = record;
      return changed(state, { title, archived: archived ? true : undefined });
    }
    case 'deleted':
      return changed(state, { deleted: true });
    case 'rule-added':
      return changed(state, { rules: [...state.rules, record.rule] });
    case 'supervisor-set':
      return supervisedBy(state, record);
    case 'request-routed': {
      const asksModel = record.to.startsWith('model:') ? 1 : 0;
      const requests = evolveRequests(state.requests, record);
      return changed(state, { requests, modelAsks: state.modelAsks + asksModel });
    }
    case 'request-opened':
    case 'request-passed':
    case 'request-timed-out':
    case 'request-answered':
    case 'answer-kept':
    case 'answer-sent':
    case 'answer-delivered':
    case 'answer-returned':
    case 'request-withdrawn':
      return changed(state, { requests: evolveRequests(state.requests, record) });
    case 'control-requested':
    case 'control-escalated':
    case 'control-confirmed':
    case 'control-refused':
    case 'control-superseded':
      return evolveControl(state, record);
    case 'settings-asked':
    case 'settings-changed':
    case 'settings-refused':
    case 'worktree-changed':
      return evolveSettings(state, record);
    case 'turn-started':
    case 'turn-ended':
    case 'queue-held':
    case 'queue-continued':
    case 'ended':
      return evolveTurn(state, record);
    case 'slot-granted':
    case 'slot-wanted':
    case 'parked':
    case 'claimed':
    case 'released':
    case 'start-requested':
    case 'agent-ready':
    case 'process-lost':
      return evolveOwnership(state, record);
    default:
      return unreachable(record);
  }
}

function estimated({ source }: RecordOf<'usage-reported'>): { readonly isEstimate?: true } {
  return source?.isEstimate === true ? { isEstimate: true } : {};
}

type OwnershipRecord = RecordOf<
  | 'slot-granted'
  | 'slot-wanted'
  | 'parked'
  | 'claimed'
  | 'released'
  | 'start-requested'
  | 'agent-ready'
  | 'process-lost'
>;

function evolveOwnership(state: SessionState, record: OwnershipRecord): SessionState {
  switch (record.type) {
    case 'slot-granted':
      return changed(state, { slot: { kind: 'held', since: record.at } });
    case 'slot-wanted':
      return changed(state, { slot: { kind: 'wanted', since: record.at } });
    case 'parked':
      return changed(settingsAfterLoss(state), {
        slot: { kind: 'none', since: record.at, madeRoomFor: record.madeRoomFor },
        agentProcess: { kind: 'none' },
      });
    case 'claimed': {
      const { at, epoch, runner, startWithinMs } = record;
      const { agentProcess } = state;
      // Nobody heard it while it had no owner: one that is taken up while it starts has its whole time again.
      const started =
        agentProcess.kind === 'starting'
          ? { ...agentProcess, since: at, deadline: at + (agentProcess.deadline - agentProcess.since) }
          : agentProcess;
      return changed(givenTimeAgain(state, at), {
        owner: { epoch, runner, startWithinMs },
        epoch,
        agentProcess: started,
      });
    }
    case 'released':
      return changed(state, { owner: undefined });
    case 'start-requested': {
      const { incarnation, at, deadline } = record;
      return changed(state, {
        agentProcess: { kind: 'starting', incarnation, since: at, deadline },
        incarnations: incarnation,
      });
    }
    case 'agent-ready':
      return changed(state, {
        agentProcess: { kind: 'ready', incarnation: record.incarnation },
        capabilities: record.capabilities,
        version: record.version ?? state.version,
        sandbox: record.sandbox ?? state.sandbox,
        everReady: true,
      });
    case 'process-lost':
      return changed(settingsAfterLoss(state), {
        agentProcess: { kind: 'none' },
        // An agent that leaves when its work is done, or because it was told to, did nothing wrong.
        error:
          (state.turn.active || state.agentProcess.kind === 'starting') && !wasAsked(state)
            ? (record.error ?? state.error)
            : state.error,
        // A held agent is gone with its process: going on needs no word to it.
        hold: state.hold === undefined ? undefined : { ...state.hold, agentHolds: false, frozen: false },
      });
    default:
      return unreachable(record);
  }
}

type TurnRecord = RecordOf<'turn-started' | 'turn-ended' | 'queue-held' | 'queue-continued' | 'ended'>;

function evolveTurn(state: SessionState, record: TurnRecord): SessionState {
  switch (record.type) {
    case 'turn-started':
      return changed(state, {
        turn: { number: record.turn, active: true, since: record.at, messageId: record.messageId },
        error: undefined,
        result: undefined,
      });
    case 'turn-ended':
      return changed(state, {
        turn: { ...state.turn, active: false, since: record.at, isCut: record.outcome === 'lost' },
        result: record.value ?? state.result,
        error: record.error ?? state.error,
      });
    case 'queue-held':
      if (state.hold === undefined) return changed(state, { hold: interrupted(record.at, record.reason) });
      // It stays as the user wanted it; what became of the turn is told all the same.
      return changed(state, { hold: { ...state.hold, reason: state.hold.reason ?? record.reason } });
    case 'queue-continued':
      return changed(state, { hold: undefined });
    case 'ended':
      return changed(state, {
        end: { status: record.status, at: record.at, reason: record.reason },
        error: record.error ?? state.error,
        control: undefined,
        hold: undefined,
        agentProcess: { kind: 'none' },
        slot: { kind: 'none', since: record.at },
        turn: { ...state.turn, active: false },
        queue: closeQueue(state.queue, `the session is ${record.status}`),
      });
    default:
      return unreachable(record);
  }
}

type ControlRecord = RecordOf<
  'control-requested' | 'control-escalated' | 'control-confirmed' | 'control-refused' | 'control-superseded'
>;

function evolveControl(state: SessionState, record: ControlRecord): SessionState {
  switch (record.type) {
    case 'control-requested': {
      const { kind, requestId, at, deadline } = record;
      return changed(state, { control: { kind, requestId, since: at, step: 0, deadline, messageSince: false } });
    }
    case 'control-escalated':
      if (state.control === undefined) return state;
      return changed(state, { control: { ...state.control, step: record.step, deadline: record.deadline } });
    case 'control-confirmed':
      return changed(settleControl(state, record), {
        hold: holdAfter(state.hold, record),
        requests: record.kind === 'resume' ? waitedOn(state, record.at) : state.requests,
      });
    case 'control-refused':
    case 'control-superseded':
      return settleControl(state, record);
    default:
      return unreachable(record);
  }
}

/** While the session was paused nobody was expected to answer. */
function waitedOn({ requests, hold }: SessionState, at: number): Archive<Request> {
  if (hold?.kind !== 'paused' || requests.live.size === 0) return requests;
  const live = new Map(
    [...requests.live].map(([id, request]) => {
      const paused = Math.max(0, at - Math.max(hold.since, request.waitsSince));
      return [id, { ...request, waitsSince: request.waitsSince + paused }] as const;
    }),
  );
  return { ...requests, live };
}

/** What its process was told and had not confirmed: while nobody owned it there was nobody to confirm it to. */
function givenTimeAgain(state: SessionState, at: number): SessionState {
  const asked = answersGivenTime(state, at);
  const { agentProcess, control, queue } = asked;
  if (agentProcess.kind === 'none') return asked;
  const again = control === undefined ? undefined : at + (control.deadline - control.since);
  return changed(asked, {
    queue: dispatchedAgain(queue, at + deliveryTimeoutMs),
    control: control === undefined || again === undefined ? control : { ...control, since: at, deadline: again },
  });
}

function interrupted(since: number, reason?: string): Hold {
  return { kind: 'interrupted', since, reason, agentHolds: false, frozen: false };
}

function settleControl(
  state: SessionState,
  record: RecordOf<'control-confirmed' | 'control-refused' | 'control-superseded'>,
): SessionState {
  const control = state.control?.requestId === record.requestId ? undefined : state.control;
  return changed(state, {
    control,
    settledControls: close(state.settledControls, record.requestId, record.kind),
  });
}

function holdAfter(hold: Hold | undefined, record: RecordOf<'control-confirmed'>): Hold | undefined {
  const reason = record.by === 'forced' ? 'forced' : undefined;
  switch (record.kind) {
    case 'interrupt':
      return interrupted(record.at, reason);
    case 'pause':
      return {
        kind: 'paused',
        requestId: record.requestId,
        since: record.at,
        reason,
        agentHolds: record.by === 'ack' || record.by === 'forced',
        frozen: record.by === 'forced',
      };
    case 'resume':
      return undefined;
    case 'cancel':
      return hold;
  }
}
