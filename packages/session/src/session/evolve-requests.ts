import { unreachable } from '@concerto/base';
import type { SessionRecord } from '@concerto/protocol';
import { type Archive, close, keep } from '../archive.ts';
import { isBudgetRequest } from './budget.ts';
import { changed } from './change-state.ts';
import type { Answerer, Request, SessionState } from './session-state.ts';

type RecordOf<Type extends SessionRecord['type']> = Extract<SessionRecord, { type: Type }>;

type RequestRecord = RecordOf<
  | 'request-opened'
  | 'request-routed'
  | 'request-passed'
  | 'request-timed-out'
  | 'request-answered'
  | 'answer-kept'
  | 'answer-sent'
  | 'answer-delivered'
  | 'answer-returned'
  | 'request-withdrawn'
>;

export function evolveRequests(requests: Archive<Request>, record: RequestRecord): Archive<Request> {
  const { requestId } = record;
  if (record.type === 'request-opened') {
    return keep(requests, requestId, openedBy(record));
  }
  const request = requests.live.get(requestId);
  if (request === undefined) return requests;
  switch (record.type) {
    case 'request-routed':
      return keep(requests, requestId, {
        ...request,
        routedTo: record.to,
        routedSince: record.at,
        waitsSince: record.at,
        answerers: record.answerers ?? request.answerers,
        answerWithinMs: record.answerWithinMs ?? request.answerWithinMs,
        onTimeout: record.onTimeout ?? request.onTimeout,
      });
    case 'request-passed':
      return requests;
    case 'request-timed-out':
      // Whoever else was asked is followed by the next.
      return record.asked === 'person'
        ? keep(requests, requestId, { ...request, answerWithinMs: undefined })
        : requests;
    case 'request-answered': {
      const answered = { ...request, state: 'answered' as const, answeredBy: record.cause, given: record.response };
      if (!record.held) return close(requests, requestId, answered);
      const { response, by = record.actor, line, because, reason } = record;
      const answer = { response, by, line, because, reason, stage: 'offered' as const };
      return keep(requests, requestId, { ...answered, answer });
    }
    case 'answer-kept':
    case 'answer-sent': {
      if (request.answer === undefined) return requests;
      const stage = record.type === 'answer-kept' ? 'kept' : 'sent';
      const answer = { ...request.answer, stage } as const;
      return keep(requests, requestId, { ...request, answer, waitsSince: record.at });
    }
    case 'answer-delivered':
      return close(requests, requestId, { ...request, answer: undefined });
    case 'answer-returned': {
      return keep(requests, requestId, {
        ...request,
        state: 'open',
        answer: undefined,
        answeredBy: undefined,
        given: undefined,
      });
    }
    case 'request-withdrawn':
      return close(requests, requestId, { ...request, state: 'withdrawn', reason: record.reason, answer: undefined });
    default:
      return unreachable(record);
  }
}

/** With every key that it may have later: to give another one to a copy takes twenty times as long as the copy. */
function openedBy(record: RecordOf<'request-opened'>): Required<Request> {
  const { requestId, event, at, answerWithinMs, onTimeout, answerers = [] } = record;
  return {
    requestId,
    event,
    since: at,
    routedSince: at,
    waitsSince: at,
    state: 'open',
    reason: undefined,
    routedTo: undefined,
    answerers,
    answerWithinMs,
    onTimeout,
    answeredBy: undefined,
    given: undefined,
    answer: undefined,
  };
}

/**
 * What waits for a supervisor, now or later, waits for the new one; without one it is left out. One that is the first
 * has its place in every list.
 */
export function supervisedBy(state: SessionState, { supervisor, withinMs }: RecordOf<'supervisor-set'>): SessionState {
  const live = new Map(
    [...state.requests.live].map(([id, request]) => {
      const isFirst = withinMs !== undefined && lacksSupervisor(request);
      const given = isFirst ? withPlace(request.answerers, withinMs) : request.answerers;
      const answerers = given.flatMap((answerer) => {
        if (!answerer.to.startsWith('supervisor:')) return [answerer];
        return supervisor === undefined ? [] : [{ ...answerer, to: `supervisor:${supervisor}` }];
      });
      return [id, { ...request, answerers }] as const;
    }),
  );
  const supervisions = state.supervisions + 1;
  return changed(state, { supervisor, supervisions, requests: { ...state.requests, live } });
}

/** Before the person, with whom every list ends. */
function withPlace(answerers: readonly Answerer[], withinMs: number): readonly Answerer[] {
  const others = answerers.filter(({ to }) => to !== 'person');
  return [...others, { to: 'supervisor:', withinMs }, { to: 'person' }];
}

/** None was asked, as there was none; not where a rule said that a person is, or the program that called the agent. */
export function lacksSupervisor(request: Request): boolean {
  const { state, answerers, routedTo } = request;
  // What the session asks itself is put before whoever there is by its owner, who follows.
  if (state !== 'open' || (routedTo === undefined && isBudgetRequest(request))) return false;
  if (routedTo === 'person' && answerers.length === 0) return false;
  return !answerers.some(({ to }) => to.startsWith('supervisor:') || to.startsWith('program:'));
}

/** A program keeps what it was answered also while nobody runs it. */
export function answersGivenTime(state: SessionState, at: number): SessionState {
  const { live } = state.requests;
  const sent = [...live].filter(([, { answer }]) => answer?.stage === 'sent');
  if (sent.length === 0) return state;
  const answers = sent.map(([id, request]) => [id, { ...request, waitsSince: at }] as const);
  return changed(state, { requests: { ...state.requests, live: new Map([...live, ...answers]) } });
}
