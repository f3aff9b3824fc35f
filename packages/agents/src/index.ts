export type {
  AgentConnection,
  AgentExit,
  AgentOutput,
  AgentPrompt,
  AgentReply,
  AgentSpec,
  AgentVerb,
  ProcessIdentity,
  StartOptions,
} from './agent-connection.ts';
export { AgentError, type AgentErrorCode } from './agent-error.ts';
export { type AgentLaunch, agentLaunch } from './agent-launch.ts';
export { endOrphan } from './end-orphan.ts';
export { type DescribedProcess, describeProcess, markerVariable } from './process-identity.ts';
export { startAgent } from './start-agent.ts';
