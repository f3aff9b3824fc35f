export {
  type DescribedProcess,
  describeProcess,
  endOrphan,
  GroupProcess,
  markerVariable,
  type ProcessIdentity,
} from '@concerto/keeper';
export { type FormQuestion, formAttemptsMax, formQuestions } from './acp/acp-form.ts';
export type {
  AgentConnection,
  AgentExit,
  AgentOutput,
  AgentPrompt,
  AgentReply,
  AgentSettings,
  AgentSpec,
  AgentSteer,
  AgentVerb,
  Kept,
  KeptAgent,
  OutputPlace,
  Placed,
  StartOptions,
} from './agent-connection.ts';
export { AgentError, type AgentErrorCode } from './agent-error.ts';
export { AgentKeeper } from './agent-keeper.ts';
export { type AgentLaunch, agentLaunch } from './agent-launch.ts';
export { agentSpecOf } from './agent-spec.ts';
export { withParams } from './driver-settings.ts';
export { acceptedTypes, canFork } from './drivers.ts';
export { groupMemory } from './group-memory.ts';
export { exitText } from './process-words.ts';
export { probeSandbox, type Sandbox, type SandboxMode, type SandboxUse, sandboxAbout } from './sandbox.ts';
export { startAgent } from './start-agent.ts';
