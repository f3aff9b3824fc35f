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
  type ProgressOptions,
  type Turn,
} from './turn.ts';
