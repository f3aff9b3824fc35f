export { createModels, type Models, type ModelsOptions } from './create-models.ts';
export type { McpElicitation, McpElicited } from './mcp/mcp-connection.ts';
export type { McpContent } from './mcp/mcp-content.ts';
export { McpFailure, type McpFailureKind } from './mcp/mcp-failure.ts';
export { McpServers } from './mcp/mcp-servers.ts';
export type { McpPlace } from './mcp/mcp-settings.ts';
export { askMcpSignatures, type McpSignature } from './mcp/mcp-signature.ts';
export { ModelFailure, type ModelFailureKind } from './model-failure.ts';
export {
  type FinishReason,
  type ModelEffort,
  type ModelFile,
  type ModelMessage,
  type ModelPart,
  type ModelPiece,
  type ModelReasoning,
  type ModelReply,
  type ModelTool,
  type ModelToolCall,
  type ModelTurn,
  type ModelUsage,
  modelEfforts,
} from './model-turn.ts';
export { estimatedCost, type Prices, readPrices } from './prices.ts';
export type { Environment } from './variables.ts';
