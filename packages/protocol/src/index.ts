export {
  AgentEvent,
  type AgentEventType,
  AgentResult,
  Choice,
  ErrorObject,
  encodeEvent,
  finalStatuses,
  isAgentEventType,
  Message,
  MessagePriority,
  type PublicEvent,
  SessionEvent,
  SessionStatus,
  type StoredEvent,
  StoredEventSchema,
  SuspendEvent,
  Usage,
} from './agent-event.ts';
export {
  AckMessage,
  type AgentCapability,
  AgentCommand,
  type AgentLine,
  type AgentMessage,
  type AgentMessageId,
  ApprovalMessage,
  agentCapabilities,
  CancelCommand,
  type CustomMessage,
  ErrorMessage,
  encodeAgentCommand,
  InitAckMessage,
  InitCommand,
  InterruptCommand,
  KnownAgentMessage,
  LogMessage,
  PartialMessage,
  PauseCommand,
  ProgressMessage,
  PromptCommand,
  parseAgentLine,
  QuestionMessage,
  ResponseCommand,
  ResultMessage,
  ResumeCommand,
  SteerCommand,
} from './agent-wire.ts';
export { type Decision, readDecision } from './approval-decision.ts';
export {
  type ClaudeBlock,
  type ClaudeLine,
  ClaudeMessage,
  type ClaudeQuestion,
  ClaudeQuestions,
  type ClaudeResult,
  ClaudeUsageAnswer,
  readClaudeLine,
} from './claude-wire.ts';
export { describeTool, riskOfTool, shortened } from './describe-tool.ts';
export {
  type AcpParams,
  type ClaudeParams,
  type CodexParams,
  type DriverParams,
  readDriverParams,
  type ToolRules,
  type ToolServerParams,
} from './driver-params.ts';
export {
  AgentInfo,
  AgentList,
  AnswerRequest,
  Audit,
  AuditEntry,
  ConfigurePool,
  EventPage,
  LifecycleAccepted,
  LifecycleVerb,
  MessageList,
  messageLengthMax,
  OpenRequest,
  OpenRequestList,
  OrderMessages,
  PoolState,
  Problem,
  ReviseMessage,
  RunInput,
  SendMessage,
  Session,
  SessionError,
  SessionKind,
  SessionList,
  StartRun,
  StartSession,
  Template,
  TemplateList,
  titleLengthMax,
  Waiting,
} from './http.ts';
export { Instant, MessageId, RequestId, SessionId } from './ids.ts';
export { type JsonRpcError, type JsonRpcFrame, type JsonRpcId, parseJsonRpcFrame } from './json-rpc.ts';
export { JsonValue } from './json-value.ts';
export { LlmContent, Part, textContent, textOf } from './llm-content.ts';
export { type Line, LineError, type LineErrorCode, LineSplitter, lineLengthMax } from './ndjson.ts';
export { PoolRecord } from './pool-record.ts';
export { Ack, DeliveryWay, RunnerCommand } from './runner-command.ts';
export { SessionRecord } from './session-record.ts';
export { type Shape, whyNot } from './shape.ts';
export {
  SecretReference,
  ToolConfig,
  ToolServer,
  ToolSetting,
  toolPatternsMax,
  toolServersMax,
  toolsPerServerMax,
} from './tool-config.ts';
