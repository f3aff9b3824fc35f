import { err, type Json, ok, type Result } from '@concerto/base';
import type { EventLog } from '@concerto/log';
import { type AnswerRequest, chosenOption, type Rule } from '@concerto/protocol';
import { rememberedRule, requestOf } from '@concerto/rules';
import type { SessionState, Wish } from '@concerto/session';
import type { RuleBook } from '../answer/rule-book.ts';
import { ruledAs } from '../answer/ruled-as.ts';
import type { Catalog } from '../catalog.ts';
import type { Clock } from '../ports.ts';
import { refusal, type ServiceRefusal } from '../session/service-refusal.ts';
import type { SessionStore } from '../session/session-store.ts';
import { answerTaken } from './answer-taken.ts';

export type AnswerTarget = { readonly session: string; readonly request: string };

/** What was answered, why, and what to remember of it. `equalIsRepeat`: from a client without keys. */
export type Answer = Omit<AnswerRequest, 'response'> & { readonly response: Json; readonly equalIsRepeat?: boolean };

type Ports = {
  readonly log: EventLog;
  readonly store: SessionStore;
  readonly clock: Clock;
  readonly catalog: Catalog;
  readonly rules: RuleBook;
  readonly execute: (wish: Wish) => Promise<Result<SessionState, ServiceRefusal>>;
};

type Given = {
  readonly target: AnswerTarget;
  readonly answer: Answer;
  /** The session as it stands; undefined when there is none. */
  readonly state: SessionState | undefined;
  readonly by: string;
};

/** Answers a request; with `remember` the very same is answered so again, in this session or for this agent. */
export async function giveAnswer(ports: Ports, given: Given): Promise<Result<void, ServiceRefusal>> {
  const { target, answer, by } = given;
  const { session, request: requestId } = target;
  const remembered = toRemember(ports, given);
  if (!remembered.ok) return remembered;
  const executed = await ports.execute({
    type: 'answer',
    requestId,
    response: answer.response,
    reason: answer.reason,
    ...(answer.remember === 'session' ? { rule: remembered.value } : {}),
    ...(answer.equalIsRepeat === undefined ? {} : { equalIsRepeat: answer.equalIsRepeat }),
  });
  if (!executed.ok) return executed;
  const takeBack = (): Promise<Result<SessionState, ServiceRefusal>> =>
    ports.execute({ type: 'take-back-answer', requestId });
  const taken = await answerTaken(ports, { session, requestId, state: executed.value, takeBack });
  if (taken.ok && answer.remember === 'always' && remembered.value !== undefined) {
    const agent = await ruledAs(ports, executed.value);
    await ports.rules.remember(remembered.value, { agent, addedBy: by, from: { session, requestId } });
  }
  return taken;
}

/** The rule by which the very same is answered so again. */
function toRemember(
  { catalog }: Ports,
  { target, answer: { response, reason, remember }, state }: Given,
): Result<Rule | undefined, ServiceRefusal> {
  const event = state?.requests.live.get(target.request)?.event;
  // What is not open is refused for that.
  if (remember === undefined || state === undefined || event === undefined) return ok(undefined);
  const entry = catalog.find(state.kind, state.agent);
  const folder = entry?.kind === 'agent' ? entry.spec.workingDir : undefined;
  const asked = requestOf(event, { agent: state.agent, template: state.template, folder });
  const { isApproved } = chosenOption(response, event.options ?? []);
  const rule = rememberedRule(asked, isApproved ? 'allow' : 'deny', reason);
  if (rule !== undefined) return ok(rule);
  const message = 'this request names nothing by which it could be known again: answer it without `remember`';
  return err(refusal('cannot_remember', message));
}
