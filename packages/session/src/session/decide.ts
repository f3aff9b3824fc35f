import { err, ok } from '@concerto/base';
import type { DescribeSession } from '@concerto/protocol';
import { entryOf } from '../queue/queue.ts';
import { badContent, decideQueue } from '../queue/queue-wishes.ts';
import { advance, wake } from './advance.ts';
import { answerRequest, takeBackAnswer } from './answer.ts';
import { requestControl } from './control.ts';
import { expire, makeRoom, yieldSlot } from './deadlines.ts';
import { command, type Draft, draftOf, notBefore, record, traceOf } from './draft.ts';
import { created } from './evolve.ts';
import { isoTime } from './iso-time.ts';
import { mindBudget } from './mind-budget.ts';
import { publicEvents } from './public-events.ts';
import { decideReport } from './reports.ts';
import { passRequest, supervise } from './route.ts';
import type { Asked, Decided, Decision, SessionCommand, StartCommand } from './session-command.ts';
import type { SessionState } from './session-state.ts';
import { changeSettings, changeWorktree } from './settings.ts';
import { endCancelled, endFailed, endSession } from './settle.ts';
import { waitsForChildren } from './status.ts';

/**
 * What follows from a wish, a notice or a report. A wish may be refused; notices and reports never are. The caller
 * appends the decision at the position from which it loaded the state, and on a conflict loads and decides again.
 */
export function decide(state: SessionState | undefined, asked: SessionCommand): Decided {
  if (asked.type === 'start') return start(state, asked);
  if (state === undefined || state.deleted === true) {
    return err({ code: 'no_such_session', message: 'there is no such session' });
  }
  const draft = draftOf(state, asked);
  switch (asked.type) {
    case 'enqueue':
    case 'edit':
    case 'promote':
    case 'cancel-message':
    case 'reorder':
    case 'resend':
    case 'drop':
      return conclude(draft, decideQueue(draft, asked));
    case 'control':
      return conclude(draft, requestControl(draft, asked));
    case 'change-settings':
      return conclude(draft, changeSettings(draft, asked.requestId, asked.params));
    case 'change-worktree':
      return conclude(draft, changeWorktree(draft, asked.worktree));
    case 'answer':
      return conclude(draft, answerRequest(draft, asked));
    case 'pass-request':
      return conclude(draft, passRequest(draft, asked));
    case 'supervise':
      return conclude(draft, supervise(draft, asked));
    case 'describe':
      describe(draft, asked);
      return ok(decision(draft));
    case 'delete':
      if (state.end === undefined)
        return err({ code: 'not_over', message: 'the session is not over; cancel it first' });
      record(draft, { type: 'deleted' });
      return ok(decision(draft));
    case 'take-back-answer':
      takeBackAnswer(draft, asked.requestId);
      return ok(decision(draft));
    case 'respond':
      respond(draft, asked.line);
      return ok(decision(draft));
    case 'finish':
      finish(draft);
      return ok(decision(draft));
    case 'children-over':
      if (waitsForChildren(state)) endCancelled(draft, 'domain');
      return ok(decision(draft));
    case 'admit':
      admit(draft);
      return ok(decision(draft));
    case 'make-room':
      makeRoom(draft, asked.for);
      return ok(decision(draft));
    case 'expire':
      expire(draft);
      return ok(decision(draft));
    case 'attend':
      if (state.owner?.epoch === asked.epoch) advance(draft);
      return ok(decision(draft));
    default:
      decideReport(draft, asked);
      return ok(decision(draft));
  }
}

function conclude(draft: Draft, verdict: { readonly ok: true } | Extract<Decided, { ok: false }>): Decided {
  return verdict.ok ? ok(decision(draft)) : verdict;
}

function start(existing: SessionState | undefined, wish: StartCommand & Asked): Decided {
  if (existing !== undefined) {
    if (sameStart(existing, wish)) return ok(decision(draftOf(existing, wish)));
    return err({ code: 'id_in_use', message: `session ${wish.sessionId} exists` });
  }
  const { prompt } = wish;
  const bad = prompt === undefined ? undefined : badContent(prompt);
  if (bad !== undefined) return err(bad);
  const draft = draftOfNew(wish);
  for (const rule of wish.rules ?? []) record(draft, { type: 'rule-added', rule });
  if (prompt !== undefined) {
    const { messageId, content, objective } = prompt;
    const said = { messageId, content, objective, priority: 'queued', source: 'user' } as const;
    record(draft, { type: 'message-enqueued', ...said, ...traceOf(draft) });
  }
  wake(draft);
  return ok(decision(draft));
}

function draftOfNew(wish: StartCommand & Asked): Draft {
  const { sessionId, kind, agent, title, once, template, input, tools, slot } = wish;
  const asked = notBefore(undefined, wish);
  const { at, actor, cause } = asked;
  const { settings, parent, root, code, supervisor, supervises, budget, forkOf } = wish;
  const tree = { parent, root, code, supervisor, supervises, budget, forkOf };
  const body = { sessionId, kind, agent, title, once, template, input, tools, settings, ...tree, slot };
  const first = { type: 'created', ...body, at, actor, cause } as const;
  return { state: created(first), before: undefined, asked, records: [first], commands: [], acks: [], observed: [] };
}

/** The same wish again, as a client that lost the answer sends it. */
function sameStart(state: SessionState, wish: StartCommand): boolean {
  const { sessionId, kind, agent, title, once, template, input, tools, parent, forkOf, prompt } = wish;
  const known = prompt === undefined ? undefined : entryOf(state.queue, prompt.messageId);
  if (known?.content !== prompt?.content) return false;
  const wished = [sessionId, kind, agent, title, once, template, input, tools, parent, forkOf];
  const { id, ...is } = state;
  const exists = [id, is.kind, is.agent, is.title, is.once, is.template, is.input, is.tools, is.parent, is.forkOf];
  return JSON.stringify(wished) === JSON.stringify(exists);
}

function describe(draft: Draft, { title, archived }: Pick<DescribeSession, 'title' | 'archived'>): void {
  const { state } = draft;
  const isSame =
    (title ?? state.title) === state.title && (archived ?? state.archived === true) === (state.archived === true);
  if (!isSame) record(draft, { type: 'described', title, archived });
}

function respond(draft: Draft, line: string): void {
  const { agentProcess, end } = draft.state;
  if (end !== undefined || agentProcess.kind !== 'ready') return;
  record(draft, { type: 'responded', line });
  command(draft, { type: 'respond', incarnation: agentProcess.incarnation, line });
}

function finish(draft: Draft): void {
  const { end, error, turn, control, hold } = draft.state;
  // One that is being cancelled ends so, when its agent has, also where a result has ended its turn meanwhile: only its
  // owner knows which calls are still open, and whoever cancelled it was told that it will be.
  if (end !== undefined || control?.kind === 'cancel') return;
  if (turn.active) endSession(draft, { status: 'cancelled', reason: 'nobody waits for it any more' });
  else if (error !== undefined) endFailed(draft, error);
  else if (turn.isCut) endFailed(draft, { code: 'agent_lost', message: hold?.reason ?? 'the agent was lost' });
  else if (hold?.kind === 'interrupted' || control?.kind === 'interrupt')
    endSession(draft, { status: 'cancelled', reason: 'interrupted' });
  else endSession(draft, { status: 'completed' });
}

function admit(draft: Draft): void {
  const { end, slot } = draft.state;
  if (end !== undefined || slot.kind === 'held') return;
  record(draft, { type: 'slot-granted' });
  wake(draft);
}

function decision(draft: Draft): Decision {
  if (draft.records.length > 0) {
    mindBudget(draft);
    yieldSlot(draft);
  }
  const { state, before, records, commands, acks, observed, asked, reason } = draft;
  const { openCalls = [], actor } = asked;
  const events = publicEvents({ before, after: state, records, observed, openCalls, reason, actor });
  return { records, commands, events, acks, at: isoTime(asked.at), state };
}
