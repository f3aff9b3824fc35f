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
