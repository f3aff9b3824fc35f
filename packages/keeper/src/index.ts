export { agentSockets } from './agent-sockets.ts';
export { endOrphan } from './end-orphan.ts';
export type { AgentSignal, EndReason, FromKeeper, LineId, ListedAgent } from './frames.ts';
export {
  defaultStepMs,
  type EndOptions,
  type GroupExit,
  GroupProcess,
  type InterruptOptions,
  type Launch,
} from './group-process.ts';
export { KeeperClient, type KeeperLine, type KeeperOptions, whyNoKeeper } from './keeper-client.ts';
export { KeeperError, type KeeperErrorCode } from './keeper-error.ts';
export {
  type DescribedProcess,
  describeProcess,
  markerVariable,
  type ProcessIdentity,
  processesMarked,
  sendSignal,
} from './process-identity.ts';
export { readOut } from './read-out.ts';
