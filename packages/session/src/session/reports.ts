import { unreachable } from '@concerto/base';
import { type LifecycleVerb, storableUsage, type WorkEvent } from '@concerto/protocol';
import { find } from '../archive.ts';
import { flyingEntry, hasPending } from '../queue/queue.ts';
import { advance } from './advance.ts';
import { routeBudget } from './answer-budget.ts';
import { command, type Draft, record } from './draft.ts';
import { dispatchAttemptsMax, openRequestsMax, resumeRepeatAfterMs } from './limits.ts';
import { routeOpened } from './route.ts';
import type { Report, Untold } from './session-command.ts';
import type { SessionState } from './session-state.ts';
import { askSettings, settingsTold } from './settings.ts';
import { confirmControl, endCancelled, endFailed, endSession, endTurn, loseProcess } from './settle.ts';
import { announces, nextTurn, openRequests } from './status.ts';
import { turnCallId } from './turn-events.ts';
import { runningPrompt } from './view.ts';

type ReportOf<Type extends Report['type']> = Extract<Report, { type: Type }>;

/** Takes a fact from the session's owner. Facts are never refused: what cannot be obeyed is recorded as ignored. */
export function decideReport(draft: Draft, report: Report): void {
  const stale = staleness(draft.state, report);
  if (stale !== undefined) {
    ignore(draft, report, stale);
    return;
  }
  if (draft.state.end === undefined) draft.observed.push(...(report.observed ?? []));
  obey(draft, report);
}

/** Why a report comes too late, or undefined. Usage always counts: the money was spent. */
function staleness(state: SessionState, report: Report): string | undefined {
  if (report.type === 'usage') return undefined;
  if (report.type === 'claimed') {
    if (report.epoch <= state.epoch) return `epoch ${report.epoch} is not newer than ${state.epoch}`;
  } else if (report.epoch !== state.epoch || state.owner === undefined) {
    return `epoch ${report.epoch} does not own the session (${state.epoch} does)`;
  }
  if (state.end !== undefined) return `the session is ${state.end.status}`;
  if (!('incarnation' in report)) return undefined;
  const current = state.agentProcess.kind === 'none' ? undefined : state.agentProcess.incarnation;
  if (report.incarnation !== current) return `process ${report.incarnation} is over`;
  const speaks = report.type === 'turn-started' || report.type === 'request-opened';
  return speaks && state.agentProcess.kind === 'starting' ? 'the agent is not ready yet' : undefined;
}

function ignore(draft: Draft, report: Report, reason: string): void {
  record(draft, {
    type: 'report-ignored',
    report: report.type,
    reason,
    epoch: report.epoch,
    ...('requestId' in report ? { requestId: report.requestId } : {}),
    ...('dispatchId' in report ? { requestId: report.dispatchId } : {}),
  });
}

function obey(draft: Draft, report: Report): void {
  switch (report.type) {
    case 'claimed':
      return claimed(draft, report);
    case 'released':
      if (!goesOn(draft.state, report.kept)) {
        loseProcess(draft, { why: 'handed-over', undelivered: report.undelivered });
      }
      record(draft, { type: 'released', epoch: report.epoch, reason: report.reason, ...restsIn(draft.state, report) });
      return;
    case 'agent-ready':
      return ready(draft, report);
    case 'start-failed':
      loseProcess(draft, { why: 'start-failed', error: report.error });
      return advance(draft);
    case 'process-exited':
      loseProcess(draft, { why: 'exited', error: report.error, undelivered: report.undelivered });
      return advance(draft);
    case 'delivered':
    case 'delivery-refused':
      return delivery(draft, report);
    case 'turn-started':
      return turnStarted(draft, report);
    case 'turn-ended':
      return turnEnded(draft, report);
    case 'request-opened':
      return requestOpened(draft, report);
    case 'request-withdrawn':
      return requestWithdrawn(draft, report);
    case 'answer-delivered':
      return answerDelivered(draft, report);
    case 'settings-told':
      if (!settingsTold(draft, report)) ignore(draft, report, 'nothing was asked of it');
      return;
    case 'control-acked':
    case 'control-refused':
      return controlWord(draft, report);
    case 'child-opened':
      if (!draft.state.children.has(report.child)) record(draft, { type: 'child-opened', child: report.child });
      return;
    case 'request-routing':
      return routeBudget(draft, report.requestId, report.routing);
    case 'child-used': {
      const { child, usage, turns, isEstimate } = report;
      record(draft, { type: 'child-used', child, usage: storableUsage(usage), turns, isEstimate });
      return;
    }
    case 'usage':
      record(draft, { type: 'usage-reported', usage: storableUsage(report.usage), source: report.source });
      return;
    default:
      return unreachable(report);
  }
}

/** Not where something came for it in the last moment: the next owner has that to do. */
function restsIn(state: SessionState, { rests }: ReportOf<'released'>): { rests?: { until?: number; on?: string[] } } {
  const { control, hold, queue, requests, turn } = state;
  const isAnswered = [...requests.live.values()].some(({ answer }) => answer !== undefined);
  const isWanted = control !== undefined || hold !== undefined || hasPending(queue) || isAnswered;
  if (rests === undefined || isWanted || !turn.active) return {};
  const { until, on } = rests;
  return { rests: { ...(until === undefined ? {} : { until }), ...(on === undefined ? {} : { on: [...on] }) } };
}

function goesOn({ agentProcess }: SessionState, kept: number | undefined): boolean {
  return kept !== undefined && agentProcess.kind !== 'none' && agentProcess.incarnation === kept;
}

/** Whatever ran under an older owner is gone, whether or not anybody saw it end; unless the new one has taken it up. */
function claimed(draft: Draft, report: ReportOf<'claimed'>): void {
  const { epoch, runner, startWithinMs } = report;
  record(draft, { type: 'claimed', epoch, runner, startWithinMs });
  if (!goesOn(draft.state, report.kept)) loseProcess(draft, { why: 'taken-over', reason: report.lost });
  advance(draft);
}

/** The first word of a process, or a later one in which it says what it can do. */
function ready(draft: Draft, report: ReportOf<'agent-ready'>): void {
  const { incarnation, capabilities, version, sandbox } = report;
  const same = capabilities.toSorted().join() === draft.state.capabilities.toSorted().join();
  if (draft.state.agentProcess.kind === 'ready' && same) {
    ignore(draft, report, 'already ready');
    return;
  }
  // What was asked before it had introduced itself its owner asks of it now: that was commanded, once.
  record(draft, { type: 'agent-ready', incarnation, capabilities: [...capabilities], version, sandbox });
  askSettings(draft);
  advance(draft);
}

function delivery(draft: Draft, report: ReportOf<'delivered' | 'delivery-refused'>): void {
  const entry = flyingEntry(draft.state.queue);
  const { dispatchId } = report;
  if (entry?.dispatch?.dispatchId !== dispatchId) {
    ignore(draft, report, 'no such dispatch is in flight');
    return;
  }
  const messageId = entry.id;
  if (report.type === 'delivered') {
    const { how, epoch } = report;
    record(draft, { type: 'message-delivered', messageId, dispatchId, how, epoch });
    draft.acks.push({ type: 'message_ack', requestId: messageId, dispatchId, how, epoch });
  } else if (entry.dispatch.how === 'steer') {
    record(draft, { type: 'message-returned', messageId, dispatchId, reason: report.reason });
  } else {
    deaf(draft, dispatchId, report);
  }
  advance(draft);
}

/** An agent that takes no prompt is of no use: another process gets the message, as long as that helps. */
function deaf(draft: Draft, dispatchId: string, report: ReportOf<'delivery-refused'>): void {
  const { incarnation, reason } = report;
  const tries = flyingEntry(draft.state.queue)?.dispatches ?? 0;
  if (tries >= dispatchAttemptsMax) draft.observed.push(...(report.closing ?? []));
  command(draft, { type: 'kill', incarnation, reason });
  const error = { code: 'delivery_refused', message: reason };
  loseProcess(draft, { why: 'unresponsive', error, undelivered: [dispatchId] });
}

function turnStarted(draft: Draft, report: ReportOf<'turn-started'>): void {
  const { state } = draft;
  if (state.turn.active) {
    ignore(draft, report, 'a turn is already running');
    return;
  }
  beginOwnTurn(draft);
  if (state.hold?.kind !== 'paused' || state.agentProcess.kind !== 'ready' || state.control !== undefined) return;
  // It went on although it was told to hold: say so once more.
  command(draft, {
    type: 'pause',
    incarnation: state.agentProcess.incarnation,
    requestId: `hold-${state.turn.number + 1}`,
  });
}

function beginOwnTurn(draft: Draft): void {
  if (draft.state.hold?.kind === 'interrupted' && draft.state.control === undefined) {
    record(draft, { type: 'queue-continued' });
  }
  record(draft, { type: 'turn-started', turn: nextTurn(draft.state) });
}

function turnEnded(draft: Draft, report: ReportOf<'turn-ended'>): void {
  const { state } = draft;
  const { turn, control } = state;
  if (!turn.active || (report.turn !== undefined && report.turn !== turn.number)) {
    draft.observed.push(...(report.late ?? []));
    ignore(draft, report, turn.active ? `turn ${report.turn} is over` : 'no turn is running');
    return;
  }
  const stop = stopOf(state);
  draft.observed.push(...(stop === undefined ? (report.closing ?? []) : cutShort(report.closing ?? [], turn.number)));
  confirmDelivery(draft);
  guessUsage(draft, report.untold);
  // Whoever stopped it decides how it ended; what the agent handed over is kept.
  if (report.outcome === 'result') endTurn(draft, stop ?? 'result', { value: report.value });
  else endTurn(draft, stop ?? 'error', stop === undefined ? { error: report.error } : {});
  // Cancel wins from everywhere: the end stays the user's.
  if (control?.kind === 'cancel') return;
  if (stop === undefined && endsSession(draft, report)) return;
  if (stop === undefined && report.outcome === 'error') draft.reason = report.error.message;
  if (control !== undefined && endsWithTurn(state, control.kind)) confirmControl(draft, 'boundary');
  advance(draft);
}

/** How a turn ends that somebody has asked to end. The run of a program that is over has nothing left to be interrupted. */
function stopOf({ control, kind }: SessionState): 'cancelled' | 'interrupted' | undefined {
  if (control?.kind === 'cancel') return 'cancelled';
  return control?.kind === 'interrupt' && kind !== 'program' ? 'interrupted' : undefined;
}

/** The result of the turn itself is what became of it, not what the agent called it. */
function cutShort(closing: readonly WorkEvent[], turn: number): readonly WorkEvent[] {
  const callId = turnCallId(turn);
  return closing.map((event) =>
    event.type === 'functionResult' && event.callId === callId ? { ...event, outcome: 'cancelled' } : event,
  );
}

function endsSession(draft: Draft, report: ReportOf<'turn-ended'>): boolean {
  if (!draft.state.once && report.final !== true) return false;
  if (report.outcome === 'error') endFailed(draft, report.error);
  else endSession(draft, { status: 'completed', result: report.result });
  return true;
}

/** About as many characters as a token has. */
const charactersOfToken = 4;

/** A budget holds for an agent that tells nothing, too: by what could be read along, marked as a guess. */
function guessUsage(draft: Draft, untold: Untold | undefined): void {
  const { budget, parent } = draft.state;
  if (untold === undefined || (budget === undefined && parent === undefined)) return;
  const given = untold.given + (runningPrompt(draft.state)?.content.length ?? 0);
  const inputTokens = Math.ceil(given / charactersOfToken);
  const outputTokens = Math.ceil(untold.said / charactersOfToken);
  record(draft, { type: 'usage-reported', usage: { inputTokens, outputTokens }, source: { isEstimate: true } });
}

/** An agent that asks or ends the turn has read the prompt that began it, whatever became of the confirmation. */
function confirmDelivery(draft: Draft): void {
  const entry = flyingEntry(draft.state.queue);
  if (entry?.dispatch?.how !== 'prompt') return;
  const { dispatchId, how, epoch } = entry.dispatch;
  record(draft, { type: 'message-delivered', messageId: entry.id, dispatchId, how, epoch });
  draft.acks.push({ type: 'message_ack', requestId: entry.id, dispatchId, how, epoch });
}

/** An agent that announced the verb will still confirm it; for any other the end of the turn is the only word there will be. */
function endsWithTurn(state: SessionState, kind: LifecycleVerb): boolean {
  return (kind === 'interrupt' || kind === 'pause') && !announces(state, kind);
}

function requestOpened(draft: Draft, report: ReportOf<'request-opened'>): void {
  const { state } = draft;
  const { requestId, event } = report;
  if (state.control?.kind === 'cancel') {
    ignore(draft, report, 'the session is cancelling');
    return;
  }
  if (find(state.requests, requestId) !== undefined) {
    if (state.kind === 'agent') ignore(draft, report, 'this request id was used before');
    else askedAgain(draft, report);
    return;
  }
  confirmDelivery(draft);
  if (openRequests(state).length >= openRequestsMax) {
    const reason = `${openRequestsMax} questions are open, the most there may be`;
    ignore(draft, report, reason);
    command(draft, { type: 'withdraw', incarnation: report.incarnation, requestId, reason });
    return;
  }
  // Whoever asks is at work, even if nobody told it to be.
  if (!state.turn.active) record(draft, { type: 'turn-started', turn: nextTurn(state) });
  const { routing } = report;
  const { answerWithinMs, onTimeout, answerers } = routing ?? {};
  const list = answerers === undefined ? {} : { answerers: [...answerers] };
  record(draft, { type: 'request-opened', requestId, event, answerWithinMs, onTimeout, ...list });
  draft.observed.push(event);
  // Where nobody but a person could answer there is no way to tell of.
  if (routing !== undefined) routeOpened(draft, requestId, routing);
}

function answerDelivered(draft: Draft, report: ReportOf<'answer-delivered'>): void {
  const { requestId, epoch } = report;
  if (find(draft.state.requests, requestId)?.answer?.stage !== 'sent') {
    ignore(draft, report, 'no such answer is on its way');
    return;
  }
  record(draft, { type: 'answer-delivered', requestId, epoch });
  draft.acks.push({ type: 'answer_ack', requestId, epoch });
}

/** Whoever goes on asks what it had asked before: nobody is asked twice, and what was answered it hears. */
function askedAgain(draft: Draft, { requestId, incarnation }: ReportOf<'request-opened'>): void {
  const known = find(draft.state.requests, requestId);
  if (known?.state === 'answered' && known.given !== undefined) {
    command(draft, { type: 'answer', incarnation, requestId, response: known.given });
  } else if (known?.state === 'withdrawn') {
    command(draft, { type: 'withdraw', incarnation, requestId, reason: known.reason ?? 'withdrawn' });
  }
}

function requestWithdrawn(draft: Draft, report: ReportOf<'request-withdrawn'>): void {
  const { requestId, reason } = report;
  const request = find(draft.state.requests, requestId);
  // Who takes a question back will not confirm an answer that comes after it.
  if (request?.state !== 'open' && request?.answer === undefined) {
    ignore(draft, report, 'no such request is open');
    return;
  }
  record(draft, { type: 'request-withdrawn', requestId, reason });
  advance(draft);
}

function controlWord(draft: Draft, report: ReportOf<'control-acked' | 'control-refused'>): void {
  const { control, settledControls } = draft.state;
  const { requestId } = report;
  if (control?.requestId !== requestId) {
    ignore(
      draft,
      report,
      find(settledControls, requestId) !== undefined ? 'the request is already settled' : 'no such request',
    );
    return;
  }
  if (report.type === 'control-refused') refused(draft, control.kind, report);
  else acked(draft, control.kind);
}

function acked(draft: Draft, kind: LifecycleVerb): void {
  if (kind === 'cancel') {
    endCancelled(draft, 'ack');
    return;
  }
  if (kind === 'interrupt') endTurn(draft, 'interrupted');
  confirmControl(draft, 'ack');
  advance(draft);
}

/** A cancel that the agent will not do is done by force; any other request is taken back and the user told why. */
function refused(draft: Draft, kind: LifecycleVerb, report: ReportOf<'control-refused'>): void {
  const { agentProcess } = draft.state;
  const { requestId, reason } = report;
  if (kind === 'cancel' && agentProcess.kind !== 'none') {
    const deadline = draft.asked.at + resumeRepeatAfterMs;
    record(draft, { type: 'control-escalated', kind, requestId, step: 1, deadline });
    command(draft, { type: 'terminate', incarnation: agentProcess.incarnation, requestId });
    return;
  }
  record(draft, { type: 'control-refused', kind, requestId, reason });
  draft.reason = reason;
  advance(draft);
}
