import type { Json, JsonObject, Result } from '@concerto/base';
import type { ModelEffort, Models } from '@concerto/models';
import type { AssistantFunctionName } from './assistant-functions.ts';

/** What every assistant can do; known before one has run. */
export const assistantCapabilities = ['steer', 'interrupt', 'pause', 'resume', 'cancel'] as const;

/** Files that models usually take; one that does not says so. */
export const assistantAccepts: readonly string[] = ['image/*', 'application/pdf'];

/** What the last answer of each turn has to be. */
export type OutputSchema = {
  readonly written: JsonObject;
  /** What stands in an answer, or what is wrong with it, in words for the model. */
  readonly check: (answer: string) => Result<Json, string>;
};

/** A model in our own loop, as `[assistants.NAME]` declares it. */
export type AssistantSpec = {
  /** Shared by all assistants of a process, so that a connection's rate limit holds for all of them together. */
  readonly models: Models;
  readonly connection: string;
  readonly model?: string | undefined;
  readonly system?: string | undefined;
  /** How the model calls functions: by its provider's tool calls, or by signals in its text. */
  readonly mode: 'native' | 'signals';
  /** Types of files that the model takes. */
  readonly accepts?: readonly string[] | undefined;
  readonly functions: readonly AssistantFunctionName[];
  /** What else of the manifest it may call: agents, assistants and programs, by name. */
  readonly agents?: readonly string[] | undefined;
  /** Settings of MCP servers by name, in the words of `[mcp.NAME]`. */
  readonly servers: Readonly<Record<string, unknown>>;
  /** Patterns of names, as in a session's tools, which can only take away from what these leave. */
  readonly allow?: readonly string[] | undefined;
  readonly deny?: readonly string[] | undefined;
  /** A person is asked before each call of these. */
  readonly ask?: readonly string[] | undefined;
  /** Where relative paths of servers start. */
  readonly directory: string;
  /** How often the model may be asked in one turn. */
  readonly maxSteps?: number | undefined;
  readonly temperature?: number | undefined;
  readonly maxTokens?: number | undefined;
  /** How long it may think. */
  readonly effort?: ModelEffort | undefined;
  readonly outputSchema?: OutputSchema | undefined;
  /** How much the model can hear at once; a conversation that comes near is summed up. */
  readonly contextTokens?: number | undefined;
};
