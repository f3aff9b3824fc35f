export { display, typeName } from './display.ts';
export type {
  AgentOpenRequest,
  Answer,
  Effect,
  FileRequest,
  ModelAnswer,
  ModelMessage,
  ModelRequest,
  ModelTool,
  ModelToolCall,
  Notice,
  Request,
  WorldError,
} from './effects.ts';
export { equal } from './equality.ts';
export { failSession } from './fail-session.ts';
export { fromJson, parseJson, stringify, toJson } from './json.ts';
export type { Failure, Limits, Outcome, TraceEntry, Vm } from './machine.ts';
export { type Overtaken, overtakeHandler } from './overtake-handler.ts';
export { restore } from './restore.ts';
export { snapshot } from './snapshot.ts';
export { SnapshotError } from './snapshot-data.ts';
export { staleMessage } from './stale-message.ts';
export type { Value } from './value.ts';
export { cancel, createVm, pendingRequests, type RunStatus, resume, run, type VmOptions, waitingPlaces } from './vm.ts';
