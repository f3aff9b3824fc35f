export type { Decision } from '@concerto/protocol';
export {
  type AgentHandlers,
  type Answer,
  type CapabilityHandlers,
  type Prompt,
  type ServeOptions,
  serveAgent,
} from './serve-agent.ts';
export {
  type ApproveOptions,
  type AskOptions,
  NoAnswer,
  type PlanStep,
  type ProgressOptions,
  type ToolChange,
  type ToolHandle,
  type ToolKind,
  type ToolLocation,
  type ToolOptions,
  type ToolResultOptions,
  type Turn,
  type TurnUsage,
} from './turn.ts';
