import './english.ts';

export { activeAtOf } from './active-at.ts';
export { addUsage, storableUsage } from './add-usage.ts';
export {
  AgentCommand,
  type AgentMessageId,
  CancelCommand,
  encodeAgentCommand,
  InitCommand,
  InterruptCommand,
  PauseCommand,
  PromptCommand,
  ResponseCommand,
  ResumeCommand,
  SteerCommand,
} from './agent-command.ts';
export {
  AgentEvent,
  type AgentEventType,
  AgentResult,
  Because,
  CallOutcome,
  Choice,
  ErrorObject,
  FileChange,
  finalStatuses,
  isAgentEventType,
  Location,
  Message,
  MessagePriority,
  MessageSource,
  PlanEntry,
  type PublicEvent,
  RequestOption,
  SentMessage,
  SessionEvent,
  SessionStatus,
  SuspendEvent,
  ToolKind,
  TurnOutcome,
  Usage,
  UsageSource,
  type WorkEvent,
} from './agent-event.ts';
export { AgentJournalEntry } from './agent-journal.ts';
export { type AgentTable, readAgentTable } from './agent-table.ts';
export {
  AckMessage,
  type AgentCapability,
  type AgentLine,
  type AgentMessage,
  ApprovalMessage,
  agentCapabilities,
  type CustomMessage,
  ErrorMessage,
  InitAckMessage,
  KnownAgentMessage,
  LogMessage,
  PartialMessage,
  ProgressMessage,
  parseAgentLine,
  QuestionMessage,
  ResultMessage,
} from './agent-wire.ts';
export {
  MessageMessage,
  PlanMessage,
  ThoughtMessage,
  ToolCallMessage,
  ToolOutputMessage,
  ToolResultMessage,
  UsageMessage,
  type WireChange,
  type WireLocation,
} from './agent-wire-work.ts';
export { type Chosen, chosenOption, type Decision, readDecision } from './approval-decision.ts';
export { BlobHead, BlobRef, BlobUpload, blobBytesMax } from './blob.ts';
export { Budget, BudgetAnswer, type BudgetUnit, BudgetView, budgetUnits, type Spent } from './budget.ts';
export {
  type ClaudeBlock,
  ClaudeIntroduction,
  type ClaudeLine,
  ClaudeMessage,
  type ClaudeQuestion,
  ClaudeQuestions,
  type ClaudeResult,
  ClaudeUsageAnswer,
  readClaudeLine,
} from './claude-wire.ts';
export { describeTool, shortened } from './describe-tool.ts';
export {
  type AcpParams,
  acpParams,
  type ClaudeParams,
  type CodexParams,
  claudeParams,
  codexParams,
  type DriverParams,
  type LiveSetting,
  liveSettings,
  readDriverParams,
  type SessionSetting,
  type ToolRules,
  type ToolServerParams,
} from './driver-params.ts';
export { filesOfChange, pathsOfChanges } from './files-of-change.ts';
export { callAnswer, type ProgramAnswer, programAnswer } from './fold/call-answer.ts';
export { emptyQueue, queueAfter } from './fold/queue-fold.ts';
export { isTurnCall, SessionFold } from './fold/session-fold.ts';
export type {
  AgentDetails,
  BudgetEntry,
  Entry,
  ErrorEntry,
  FoldedEvent,
  GapEntry,
  NoteEntry,
  Queue,
  RawEntry,
  RequestEntry,
  Routing,
  SessionEnd,
  SessionView,
  Settlement,
  StatusEntry,
  SteerEntry,
  TextEntry,
  Tool,
  Turn,
  UnknownEvent,
  UsageSum,
} from './fold/session-view.ts';
export { noUsage, usageAfter } from './fold/usage-fold.ts';
export { ConversationPlace, ForkOf } from './fork.ts';
export { Graph, GraphEdge, GraphEdit, GraphNode, GraphTransform, type SubGraph } from './graph.ts';
export { GraphDocument, PutGraph } from './graph-document.ts';
export {
  AgentInfo,
  AgentList,
  AnswerRequest,
  Audit,
  AuditEntry,
  ConfigurePool,
  DescribeSession,
  EventPage,
  ForkSession,
  isLongerThanMessage,
  LifecycleAccepted,
  LifecycleVerb,
  MessageList,
  messageLengthMax,
  messagePartsMax,
  OpenRequest,
  OpenRequestList,
  OrderMessages,
  PoolState,
  Problem,
  ReviseMessage,
  RunInput,
  reasonLengthMax,
  SendMessage,
  Session,
  SessionError,
  SessionKind,
  SessionList,
  SetSupervisor,
  StartRun,
  StartSession,
  Template,
  TemplateList,
  titleLengthMax,
  Waiting,
} from './http.ts';
export { Instant, MessageId, RequestId, SessionId } from './ids.ts';
export { Insight, type InsightFigures } from './insight.ts';
export { type JsonRpcError, type JsonRpcFrame, type JsonRpcId, parseJsonRpcFrame } from './json-rpc.ts';
export { JsonRecord, JsonValue } from './json-value.ts';
export { DoctorFinding, DoctorReport, KeptAgentList, KeptAgentRow, StopServer } from './kept.ts';
export {
  type FilePart,
  fileOf,
  fileWords,
  kindsOf,
  LlmContent,
  Part,
  textContent,
  textOf,
  withText,
  wordsOf,
} from './llm-content.ts';
export { type Line, LineError, type LineErrorCode, LineSplitter, lineLengthMax } from './ndjson.ts';
export { OverviewEvent } from './overview-event.ts';
export { AddToken, Person, PersonName, PersonRecord, Role, TokenAdded, TokenList, TokenRow } from './people.ts';
export { PolicyTried, ReplayedRequest, TryPolicy, triedRequestsMax } from './policies.ts';
export { PoolRecord } from './pool-record.ts';
export {
  ProgramFile,
  ProgramInfo,
  ProgramList,
  ProgramSource,
  ProgramTest,
  ProgramTests,
  PutProgramFile,
} from './programs.ts';
export { readStored } from './read-stored.ts';
export { readStoredEvent } from './read-stored-event.ts';
export { canBeKnownAgain, isAnyCall, rememberedText } from './remembered-text.ts';
export {
  OnTimeout,
  PutRule,
  PutRules,
  Risk,
  Rule,
  RuleList,
  RuleRow,
  RulesTried,
  StoredRule,
  storedRuleId,
  TriedRequest,
  TryRules,
} from './rules.ts';
export { Ack, DeliveryWay, RunnerCommand } from './runner-command.ts';
export { SessionRecord } from './session-record.ts';
export {
  AgentSandbox,
  ChangeSettings,
  ChangeWorktree,
  Offers,
  SessionAgent,
  SessionParams,
  SessionSettings,
  SettingsAccepted,
  settingValue,
  Worktree,
} from './session-settings.ts';
export { type Shape, whyNot } from './shape.ts';
export { encodeEvent, type StoredEvent, StoredEventSchema } from './stored-event.ts';
export {
  SecretReference,
  ToolConfig,
  ToolServer,
  ToolSetting,
  toolPatternsMax,
  toolServersMax,
  toolsPerServerMax,
} from './tool-config.ts';
export { valueAt, wireFault } from './wire-fault.ts';
