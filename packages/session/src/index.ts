export { InsightFold, type InsightSpan, insightRecords } from './insight/insight-fold.ts';
export {
  decidePool,
  evolvePool,
  lineOf,
  newPool,
  type Pool,
  type PoolCommand,
  type PoolDecision,
  type PoolOutcome,
  poolMaxDefault,
  poolView,
  type Slot,
  type SlotSaid,
  slotGraceMs,
  waitingPosition,
} from './pool/pool.ts';
export { type Dispatch, hasPending, type Queue, type QueueEntry } from './queue/queue.ts';
export { answerStanding, withdrawnRefusal } from './session/answer.ts';
export { audit, messageHistory } from './session/audit.ts';
export { isBudgetRequest, isOverBudget } from './session/budget.ts';
export { canGoOn } from './session/control.ts';
export { nextDeadline, restsUntil } from './session/deadlines.ts';
export { decide } from './session/decide.ts';
export { evolve, fold } from './session/evolve.ts';
export { isoTime } from './session/iso-time.ts';
export { lifecycleMatrix, type Permission } from './session/lifecycle-matrix.ts';
export { pendingMax, repeatKnownForMs } from './session/limits.ts';
export { cameToPerson } from './session/route.ts';
export type {
  Asked,
  Decided,
  Decision,
  Notice,
  OpenCall,
  Refusal,
  RefusalCode,
  Report,
  Routing,
  SessionCommand,
  StartCommand,
  Untold,
  Wish,
} from './session/session-command.ts';
export type { Answerer, Control, Hold, Process, Request, Rests, SessionState, Turn } from './session/session-state.ts';
export { outlivesOwner } from './session/settle.ts';
export {
  couldNotStart,
  isSettled,
  isToPerson,
  isToProgram,
  onlyWaits,
  openRequests,
  requestsAbout,
  statusOf,
  turnsOver,
  waitsForChildren,
} from './session/status.ts';
export { turnCallId } from './session/turn-events.ts';
export {
  messageListView,
  messageOf,
  type PageOf,
  promptProgress,
  type RequestView,
  requestsView,
  rowView,
  runningPrompt,
  sessionView,
  smallerPool,
  waitingOf,
} from './session/view.ts';
export {
  checkToolConfig,
  mergeToolConfigs,
  missingSecrets,
  type ToolFault,
  type ToolRule,
  toolRule,
} from './template/tool-config.ts';
