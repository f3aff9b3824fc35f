export { ClientError, type ClientErrorCode } from './client-error.ts';
export { type ConcertoClient, concertoClient, type StartRequest } from './concerto-client.ts';
export type { FollowedEvent } from './follow-session.ts';
export type { CallOptions, ClientOptions } from './http-calls.ts';
export type { ConnectionState, FollowOptions } from './read-frames.ts';
export {
  AgentEventConsumer,
  type AgentEventHandler,
  type HandlingOptions,
} from './runs/agent-event-consumer.ts';
export type { AgentEventSink } from './runs/agent-event-sink.ts';
export { AgentRunError, type AgentRunErrorCode } from './runs/agent-run-error.ts';
export { type AgentRunConfig, type AgentRunHandle, AgentService } from './runs/agent-service.ts';
export { type BridgeOptions, LocalAgentEventBridge } from './runs/local-agent-event-bridge.ts';
export { LocalAgentRun } from './runs/local-agent-run.ts';
export {
  buildHooksFromSink,
  type FunctionCallPart,
  type LoopHooks,
  mergeHooks,
  type ProgressReporter,
} from './runs/loop-hooks.ts';
export { type SourceOptions, SSEAgentEventSource } from './runs/sse-agent-event-source.ts';
export { type RemoteRun, SSEAgentRun } from './runs/sse-agent-run.ts';
export type { WatchedEvent, WatchOptions } from './watch-sessions.ts';
