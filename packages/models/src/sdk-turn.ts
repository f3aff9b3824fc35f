import type { JSONSchema7, LanguageModelV3CallOptions } from '@ai-sdk/provider';
import type { Json } from '@concerto/base';
import type {
  FilePart,
  LanguageModel,
  LanguageModelUsage,
  ProviderMetadata,
  ModelMessage as SdkMessage,
  TextPart,
  ToolSet,
} from 'ai';
import * as z from 'zod';
import { type AnswerSchema, answerSchema, schemaInstruction } from './answer-schema.ts';
import type { CallMetadata } from './call-metadata.ts';
import type { Connection } from './connection.ts';
import { ModelFailure } from './model-failure.ts';
import type {
  FinishReason,
  ModelEffort,
  ModelPiece,
  ModelReasoning,
  ModelToolCall,
  ModelTurn,
  ModelUsage,
} from './model-turn.ts';
import { COMPATIBLE, openProvider } from './open-provider.ts';
import { type ToolNames, toolNames } from './tool-names.ts';

/** One request to a provider. */
export type SdkRequest = {
  readonly connection: Connection;
  readonly model: string;
  readonly turn: ModelTurn;
  readonly signal: AbortSignal;
  /** False once the server has refused structured output: then the schema is part of the instructions. */
  readonly nativeSchema: boolean;
  readonly metadata: CallMetadata<ProviderMetadata>;
};

export type SdkAnswer = {
  readonly text: string;
  readonly toolCalls: readonly ModelToolCall[];
  readonly reasoning?: readonly ModelReasoning[];
  readonly finishReason: FinishReason;
  readonly usage: ModelUsage;
  readonly model: string;
};

export type SdkPart =
  | { readonly type: 'thought'; readonly text: string }
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'answer'; readonly answer: SdkAnswer };

export async function generateAnswer(request: SdkRequest): Promise<SdkAnswer> {
  const prepared = await prepare(request);
  const result = await prepared.sdk.generateText(prepared.options);
  const { text, finishReason, usage, response, toolCalls, reasoning } = result;
  return finish(request, prepared, { text, finishReason, usage, model: response.modelId, toolCalls, reasoning });
}

/** Ends the request when whoever reads it stops. */
export async function* streamAnswer(request: SdkRequest): AsyncGenerator<SdkPart> {
  const reader = new AbortController();
  const signal = AbortSignal.any([request.signal, reader.signal]);
  const prepared = await prepare({ ...request, signal });
  const { fullStream } = prepared.sdk.streamText({ ...prepared.options, onError: () => undefined });
  let text = '';
  const toolCalls: SdkToolCall[] = [];
  const reasoning = new Map<string, SdkReasoning>();
  try {
    for await (const part of fullStream) {
      if (part.type === 'text-delta') {
        text += part.text;
        if (part.text !== '') yield { type: 'text', text: part.text };
      } else if (part.type === 'reasoning-start' || part.type === 'reasoning-delta' || part.type === 'reasoning-end') {
        const piece = part.type === 'reasoning-delta' ? part.text : '';
        const before = reasoning.get(part.id);
        const providerMetadata = part.providerMetadata ?? before?.providerMetadata;
        reasoning.set(part.id, { text: (before?.text ?? '') + piece, providerMetadata });
        if (request.turn.thoughts === true && piece !== '') yield { type: 'thought', text: piece };
      } else if (part.type === 'tool-call') toolCalls.push(part);
      else if (part.type === 'error') throw part.error;
      else if (part.type === 'abort') throw signal.reason;
      else if (part.type === 'finish-step') {
        const { finishReason, rawFinishReason, usage, response } = part;
        // The provider never said that this is the end: what came until here may be half a sentence, or half a call.
        if (finishReason === 'other' && rawFinishReason === undefined) throw brokenOff();
        const ended = {
          text,
          finishReason,
          usage,
          model: response.modelId,
          toolCalls,
          reasoning: [...reasoning.values()],
        };
        yield { type: 'answer', answer: finish(request, prepared, ended) };
        return;
      }
    }
  } finally {
    reader.abort();
  }
}

type SdkToolCall = {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: unknown;
  readonly providerMetadata?: ProviderMetadata | undefined;
};

type SdkReasoning = { readonly text: string; readonly providerMetadata?: ProviderMetadata | undefined };

type Ended = {
  readonly text: string;
  readonly reasoning: readonly SdkReasoning[];
  readonly finishReason: string;
  readonly usage: LanguageModelUsage;
  readonly model: string;
  readonly toolCalls: readonly SdkToolCall[];
};

type Prepared = Awaited<ReturnType<typeof prepare>>;

async function prepare(request: SdkRequest) {
  const { connection, turn, signal } = request;
  const [sdk, provider] = await Promise.all([import('ai'), openProvider(connection, request.model)]);
  // Otherwise a setting that a model does not have is printed to the terminal of whoever runs a program.
  globalThis.AI_SDK_LOG_WARNINGS = false;
  const names = toolNames(namesOf(turn));
  const schema = nativeSchema(request);
  const model: LanguageModel =
    schema === undefined
      ? provider
      : sdk.wrapLanguageModel({
          model: provider,
          middleware: {
            specificationVersion: 'v3',
            transformParams: async ({ params }) => withSchema(params, turn, schema),
          },
        });
  const tools: ToolSet = Object.fromEntries(
    (turn.tools ?? []).map((tool) => [
      names.toWire(tool.name),
      sdk.tool({ description: tool.description, inputSchema: sdk.jsonSchema(parametersSchema(tool.parameters)) }),
    ]),
  );
  const instructions = instructionsOf(turn, schema === undefined);
  const options = {
    model,
    messages: sdkMessages(turn, names, request.metadata),
    abortSignal: signal,
    maxRetries: 0,
    ...(instructions === '' ? {} : { system: instructions }),
    ...(Object.keys(tools).length === 0 ? {} : { tools }),
    ...(turn.temperature === undefined ? {} : { temperature: turn.temperature }),
    ...(turn.maxTokens === undefined ? {} : { maxOutputTokens: turn.maxTokens }),
    ...(turn.topP === undefined ? {} : { topP: turn.topP }),
    ...(turn.stopSequences === undefined ? {} : { stopSequences: [...turn.stopSequences] }),
    providerOptions: providerOptions(turn.effort, schema),
  };
  return { sdk, names, schema, options };
}

function namesOf({ tools = [], messages }: ModelTurn): string[] {
  const called = messages.flatMap((message) => {
    if (message.role === 'tool') return [message.name];
    return message.role === 'assistant' ? (message.toolCalls ?? []).map(({ name }) => name) : [];
  });
  return [...tools.map(({ name }) => name), ...called];
}

/** The schema for the provider's structured output; undefined when the instructions must do. */
function nativeSchema({ turn, connection, nativeSchema: native }: SdkRequest): AnswerSchema | undefined {
  if (turn.schema === undefined || turn.schema === null || !native) return undefined;
  // Gemini refuses tools together with a schema.
  if (connection.wire === 'google' && (turn.tools ?? []).length > 0) return undefined;
  return answerSchema(turn.schema.schema);
}

function withSchema(
  params: LanguageModelV3CallOptions,
  turn: ModelTurn,
  { schema }: AnswerSchema,
): LanguageModelV3CallOptions {
  const name = (turn.schema?.name ?? 'answer').replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 64);
  return { ...params, responseFormat: { type: 'json', schema: providerSchema.parse(schema), name } };
}

/** Each library reads what is under its own name. */
function providerOptions(effort: ModelEffort | undefined, schema: AnswerSchema | undefined) {
  const strictness = schema === undefined ? {} : { strictJsonSchema: schema.strict };
  const openai = { ...strictness, ...(effort === undefined ? {} : { reasoningEffort: effort }) };
  if (effort === undefined) return { openai, [COMPATIBLE]: openai };
  return {
    openai,
    [COMPATIBLE]: openai,
    anthropic: { effort: effort === 'minimal' ? 'low' : effort },
    google: { thinkingConfig: { thinkingLevel: effort === 'xhigh' || effort === 'max' ? 'high' : effort } },
  };
}

/** Ours is JSON Schema by construction; that of an MCP server is whatever it sends, and the provider judges it. */
const providerSchema = z.custom<JSONSchema7>((data) => typeof data === 'object' && data !== null);

/** A schema of arguments is an object, also when a tool takes none and says nothing. */
function parametersSchema(parameters: Json): JSONSchema7 {
  const schema = providerSchema.safeParse(parameters);
  return schema.success ? { ...schema.data, type: 'object' } : { type: 'object', properties: {} };
}

/** All system messages in one place: not every provider takes them between others. */
function instructionsOf(turn: ModelTurn, describeSchema: boolean): string {
  const parts = turn.messages.flatMap(({ role, content }) => (role === 'system' && content !== '' ? [content] : []));
  const { schema } = turn;
  if (describeSchema && schema !== undefined && schema !== null) parts.push(schemaInstruction(schema.schema));
  return parts.join('\n\n');
}

function sdkMessages(turn: ModelTurn, names: ToolNames, metadata: CallMetadata<ProviderMetadata>): SdkMessage[] {
  return turn.messages.flatMap((message): SdkMessage[] => {
    switch (message.role) {
      case 'system':
        return [];
      case 'user':
        return [{ role: 'user', content: message.pieces?.map(userPart) ?? message.content }];
      case 'assistant': {
        const calls = (message.toolCalls ?? []).map((call) => {
          const providerOptions = providerMetadata(call.metadata) ?? metadata.of(call.id);
          return {
            type: 'tool-call' as const,
            toolCallId: call.id,
            toolName: names.toWire(call.name),
            input: call.arguments,
            ...(providerOptions === undefined ? {} : { providerOptions }),
          };
        });
        const text = message.content === '' ? [] : [{ type: 'text' as const, text: message.content }];
        const thoughts = (message.reasoning ?? []).flatMap(({ text: thought, metadata: own }) => {
          const providerOptions = providerMetadata(own);
          return providerOptions === undefined ? [] : [{ type: 'reasoning' as const, text: thought, providerOptions }];
        });
        return [{ role: 'assistant', content: [...thoughts, ...text, ...calls] }];
      }
      case 'tool': {
        const output = { type: message.failed ? ('error-text' as const) : ('text' as const), value: message.content };
        const part = {
          type: 'tool-result' as const,
          toolCallId: message.id,
          toolName: names.toWire(message.name),
          output,
        };
        return [{ role: 'tool', content: [part] }];
      }
    }
  });
}

function userPart(piece: ModelPiece): TextPart | FilePart {
  if (piece.type === 'text') return piece;
  const { mimeType: mediaType, data, name } = piece;
  return { type: 'file', mediaType, data, ...(name === undefined ? {} : { filename: name }) };
}

/** As it was kept; what is no such table is nothing that a provider gave. */
function providerMetadata(kept: Json | undefined): ProviderMetadata | undefined {
  const read = z.record(z.string(), z.record(z.string(), z.json())).safeParse(kept);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- JSON, by the line before
  return read.success ? (read.data as ProviderMetadata) : undefined;
}

const callArguments = z.json();

function finish(request: SdkRequest, { names, schema }: Prepared, ended: Ended): SdkAnswer {
  const { finishReason } = ended;
  if (finishReason === 'interrupted' || finishReason === 'error') {
    throw brokenOff();
  }
  if (finishReason === 'content-filter') {
    throw new ModelFailure('content_filter', 'the provider’s filter stopped the answer');
  }
  const toolCalls = ended.toolCalls.map((call): ModelToolCall => {
    request.metadata.keep(call.toolCallId, call.providerMetadata);
    const parsed = callArguments.safeParse(call.input);
    const kept = callArguments.safeParse(call.providerMetadata);
    return {
      id: call.toolCallId,
      name: names.fromWire(call.toolName),
      arguments: parsed.success ? parsed.data : null,
      ...(kept.success ? { metadata: kept.data } : {}),
    };
  });
  return {
    text: schema === undefined ? ended.text : schema.unwrap(ended.text),
    toolCalls,
    ...signedThoughts(ended.reasoning),
    finishReason: isFinishReason(finishReason) ? finishReason : 'other',
    usage: readUsage(ended.usage),
    model: ended.model,
  };
}

function brokenOff(): ModelFailure {
  return new ModelFailure('network', 'the answer broke off');
}

/** Only what its provider wants back. */
function signedThoughts(thoughts: readonly SdkReasoning[]): { readonly reasoning?: readonly ModelReasoning[] } {
  const reasoning = thoughts.flatMap(({ text, providerMetadata: own }) => {
    const kept = callArguments.safeParse(own);
    return kept.success ? [{ text, metadata: kept.data }] : [];
  });
  return reasoning.length === 0 ? {} : { reasoning };
}

function isFinishReason(reason: string): reason is FinishReason {
  return reason === 'stop' || reason === 'length' || reason === 'tool-calls';
}

function readUsage(usage: LanguageModelUsage): ModelUsage {
  const inputTokens = usage.inputTokens ?? 0;
  const outputTokens = usage.outputTokens ?? 0;
  return {
    inputTokens,
    outputTokens,
    totalTokens: usage.totalTokens ?? inputTokens + outputTokens,
    cachedInputTokens: usage.inputTokenDetails.cacheReadTokens ?? 0,
  };
}
