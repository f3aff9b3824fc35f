import { err, ok, type Result } from '@concerto/base';
import { find } from '../archive.ts';
import { advance } from './advance.ts';
import { isBudgetRequest } from './budget.ts';
import { type Draft, record } from './draft.ts';
import { lacksSupervisor } from './evolve-requests.ts';
import type { Refusal, Routing, Wish } from './session-command.ts';
import type { Answerer, Request, SessionState } from './session-state.ts';
import { isToPerson, openRequests } from './status.ts';

const person: Answerer = { to: 'person' };

/** Puts a request that was just opened before the first who may answer it. */
export function routeOpened(draft: Draft, requestId: string, { answer, reason, answerers = [person] }: Routing): void {
  if (answer === undefined) {
    const [{ to } = person] = answerers;
    record(draft, { type: 'request-routed', requestId, to, reason });
    return;
  }
  record(draft, { type: 'request-routed', requestId, to: 'rules' });
  record(draft, { type: 'request-answered', requestId, held: true, ...answer });
  advance(draft);
}

/** Who is asked, and for how long; a request without a way is a person's. */
export function askedOf({ answerers, routedTo = 'person', answerWithinMs }: Request): Answerer {
  if (routedTo === 'person') return { to: routedTo, withinMs: answerWithinMs };
  return answerers.find(({ to }) => to === routedTo) ?? { to: routedTo };
}

/** Whether people were told that it waits for them. What the session itself asks they see at once, whoever is asked first. */
export function cameToPerson({ requests }: SessionState, requestId: string): boolean {
  const request = find(requests, requestId);
  return request !== undefined && (isToPerson(request) || isBudgetRequest(request));
}

/** Who comes after whoever is asked. */
export function comesAfter({ answerers, routedTo = 'person' }: Request): readonly string[] {
  const place = answerers.findIndex(({ to }) => to === routedTo);
  return place < 0 ? [] : answerers.slice(place + 1).map(({ to }) => to);
}

/** The next one is asked; at the end of every list is a person. */
export function passOn(draft: Draft, request: Request, reason: string | undefined): void {
  const [to = person.to] = comesAfter(request);
  record(draft, { type: 'request-routed', requestId: request.requestId, to, reason });
}

/** Whoever is asked does not decide; one that is not asked has nothing to pass. */
export function passRequest(
  draft: Draft,
  { requestId, by, reason }: { readonly requestId: string; readonly by: string; readonly reason?: string | undefined },
): Result<undefined, Refusal> {
  const request = find(draft.state.requests, requestId);
  if (request === undefined) return err({ code: 'no_such_request', message: `there is no request ${requestId}` });
  if (request.state !== 'open' || request.routedTo !== by) {
    return err({ code: 'not_asked', message: `${by} is not asked for request ${requestId}` });
  }
  record(draft, { type: 'request-passed', requestId, by, reason });
  passOn(draft, request, reason ?? `${by} passed`);
  return ok(undefined);
}

/**
 * Another supervisor, or none; what waits for the old one goes to the new one, or on to the next. What waits for a
 * person as there was none goes to the first one: its place in the list is before the person.
 */
export function supervise(
  draft: Draft,
  { supervisor, withinMs }: Pick<Extract<Wish, { type: 'supervise' }>, 'supervisor' | 'withinMs'>,
): Result<undefined, Refusal> {
  const { end, id } = draft.state;
  if (end !== undefined) return err({ code: 'session_closed', message: `session ${id} is over` });
  const waiting = openRequests(draft.state).filter((request) => {
    if (request.routedTo?.startsWith('supervisor:') === true) return true;
    return withinMs !== undefined && isToPerson(request) && lacksSupervisor(request);
  });
  record(draft, { type: 'supervisor-set', supervisor, withinMs });
  for (const request of waiting) {
    const { requestId } = request;
    if (supervisor === undefined) passOn(draft, request, `${request.routedTo} was taken away`);
    else record(draft, { type: 'request-routed', requestId, to: `supervisor:${supervisor}` });
  }
  return ok(undefined);
}

/** Everybody a request of the session is put before, in this order, as far as that can be said beforehand. */
export function answerersOf({ supervisor }: SessionState): string[] {
  return ['rules', ...(supervisor === undefined ? [] : [`supervisor:${supervisor}`]), person.to];
}
