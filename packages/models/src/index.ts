export { createModels, type Models, type ModelsOptions } from './create-models.ts';
export { ModelFailure, type ModelFailureKind } from './model-failure.ts';
export type {
  FinishReason,
  ModelMessage,
  ModelPart,
  ModelReply,
  ModelTool,
  ModelToolCall,
  ModelTurn,
  ModelUsage,
} from './model-turn.ts';
export type { Environment } from './variables.ts';
