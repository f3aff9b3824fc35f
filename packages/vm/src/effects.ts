import type { Json, JsonObject } from '@concerto/base';
import type { Value } from './value.ts';

/** What the program says to the world without waiting, in order. */
export type Notice =
  | { readonly kind: 'emit'; readonly channel: string; readonly payload: Value; readonly system: boolean }
  | { readonly kind: 'print'; readonly text: string }
  | { readonly kind: 'log'; readonly level: 'info' | 'warn' | 'error' | 'debug'; readonly text: string }
  /** One line for the agent: compact JSON, without the newline. */
  | { readonly kind: 'agent_reply'; readonly session: string; readonly line: string }
  | { readonly kind: 'agent_close'; readonly session: string; readonly reason: string }
  /** Handlers run beside the session (or none does any more): the agent may be silent because it waits for them. */
  | { readonly kind: 'agent_handling'; readonly session: string; readonly handling: boolean }
  /** Nobody waits for that request any more: end the work. */
  | { readonly kind: 'cancel'; readonly id: number };

/** What a fiber waits for; answered by `resume` with the same id. */
export type Request =
  | { readonly kind: 'ask'; readonly channel: string; readonly payload: Value }
  | { readonly kind: 'flush' }
  /** `limit`: the time that something else may take. */
  | { readonly kind: 'sleep'; readonly ms: number; readonly limit?: true }
  /** Answer: milliseconds since 1970. */
  | { readonly kind: 'now' }
  /** Answer: float and int a number (int from low to high inclusive), uuid and bytes a string (bytes in hex). */
  | { readonly kind: 'random'; readonly of: 'float' | 'uuid' }
  | { readonly kind: 'random'; readonly of: 'int'; readonly low: number; readonly high: number }
  | { readonly kind: 'random'; readonly of: 'bytes'; readonly count: number }
  /** Answer: the value or null; without a name an object of all. */
  | { readonly kind: 'env'; readonly name: string | null }
  | FileRequest
  /** Answer: `{status, body, headers}`. */
  | {
      readonly kind: 'http';
      readonly method: string;
      readonly url: string;
      /** JSON text, null for none. */
      readonly body: string | null;
      readonly headers: Readonly<Record<string, string>>;
      /** No address of this machine or its network, by whatever name or redirect, unless it is listed. */
      readonly publicOnly?: true;
    }
  | ModelRequest
  /** The next piece of a streamed answer: `{chunk}` or `{response: ModelAnswer}`. */
  | { readonly kind: 'model_next'; readonly stream: string }
  /** `returns`: the declared type of the value; for `String` the answer is the text as the tool gave it. */
  | {
      readonly kind: 'mcp_call';
      readonly server: string;
      readonly tool: string;
      readonly arguments: Json;
      readonly returns?: string;
    }
  /** Answer: an array of `{name, description?, parameters}`. */
  | { readonly kind: 'mcp_tools'; readonly server: string }
  | AgentOpenRequest
  /** Answer: `{message: {type, …}}`, `{observed: "stderr", text}`, or an error whose kind is that of the AgentError. */
  | { readonly kind: 'agent_next'; readonly session: string }
  /** What the agent announced when it was last started, which it is when it never was. Answer: `{capabilities, version}`. */
  | { readonly kind: 'agent_about'; readonly agent: string }
  | { readonly kind: 'agent_shutdown'; readonly agent: string }
  /** Of an agent by its name, or the one that is supervised. Answer: for `usage`, `status` and `id` what was asked for. */
  | { readonly kind: 'session'; readonly session: string; readonly verb: SessionVerb; readonly text?: string };

export type SessionVerb = 'steer' | 'pause' | 'resume' | 'interrupt' | 'usage' | 'status' | 'id';

export type FileRequest =
  | { readonly kind: 'file'; readonly op: 'read' | 'exists' | 'list' | 'remove' | 'size'; readonly path: string }
  /** Answer: the text, null when there is no such file. */
  | { readonly kind: 'file'; readonly op: 'load'; readonly path: string }
  /** `replace`: readers see the old text or the new one, never a part; one after another. */
  | {
      readonly kind: 'file';
      readonly op: 'write' | 'append' | 'replace';
      readonly path: string;
      readonly text: string;
    };

/** One turn with a model. Answer: `ModelAnswer`. With `stream`, the answer is `{stream: ID}` and `model_next` follows. */
export interface ModelRequest {
  readonly kind: 'model';
  readonly model: string;
  readonly connection: string;
  /** The declaration's configuration with the builder's changes. */
  readonly config: JsonObject;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ModelTool[];
  /** MCP servers whose tools are offered too. */
  readonly servers: readonly string[];
  readonly schema: { readonly name: string; readonly schema: Json } | null;
  readonly timeoutMs: number | null;
  readonly stream: boolean;
  /** An answer to the same request that is not older may be given again; null: never. */
  readonly cacheMs: number | null;
}

export type ModelMessage =
  | { readonly role: 'system' | 'user'; readonly content: string }
  | { readonly role: 'assistant'; readonly content: string; readonly toolCalls?: readonly ModelToolCall[] }
  | {
      readonly role: 'tool';
      readonly id: string;
      readonly name: string;
      readonly content: string;
      readonly failed: boolean;
    };

export interface ModelToolCall {
  readonly id: string;
  /** `Tool::method`, or `server::tool` for MCP, as in `ModelTool`. */
  readonly name: string;
  readonly arguments: Json;
}

export interface ModelTool {
  readonly name: string;
  readonly description: string;
  readonly parameters: Json;
}

export interface ModelAnswer {
  readonly text: string;
  readonly tokens_in: number;
  readonly tokens_out: number;
  readonly model: string;
  readonly provider?: string;
  readonly latency_ms?: number;
  readonly cost?: number;
  readonly tool_calls?: readonly ModelToolCall[];
}

/** Starts a session: process (and init) if needed, then the prompt. Answer: `{session: ID}`. */
export interface AgentOpenRequest {
  readonly kind: 'agent_open';
  readonly agent: string;
  readonly connector: string;
  readonly config: JsonObject;
  readonly params: JsonObject | null;
  readonly prompt: string;
  readonly context: Json | undefined;
  readonly timeoutSeconds: number | null;
  readonly listen: boolean;
  /** Lines on stderr are wanted as `{observed: "stderr", text}` among the messages. */
  readonly stderr: boolean;
  /** Of a session that is supervised: the types of messages that there are handlers for; `_` for all. */
  readonly wants?: readonly string[];
}

export type Effect = Notice | (Request & { readonly id: number });

export interface WorldError {
  readonly message: string;
  /** For agents the kind of the AgentError; for models `rate_limited`, `auth` …; for others free. */
  readonly kind?: string;
  readonly code?: Json;
  readonly details?: Json;
}

export type Answer = { readonly ok: true; readonly value: Json } | { readonly ok: false; readonly error: WorldError };

/** A request as data, for snapshots: only `ask` holds a value of the program. */
export function encodeRequest(request: Request, value: (value: Value) => Json): Json {
  if (request.kind === 'ask') return { kind: 'ask', channel: request.channel, payload: value(request.payload) };
  return plainData(request);
}

export function decodeRequest(data: Json, value: (data: Json) => Value): Request {
  const request: unknown = data;
  if (!isRequest(request)) throw new Error('a damaged request');
  return request.kind === 'ask' ? { ...request, payload: value(payloadOf(data)) } : request;
}

function payloadOf(data: Json): Json {
  return Object.entries(data ?? {}).find(([key]) => key === 'payload')?.[1] ?? null;
}

/** Written by `encodeRequest` of the same version; the kind tells which it is. */
function isRequest(data: unknown): data is Request {
  return typeof data === 'object' && data !== null && 'kind' in data && typeof data.kind === 'string';
}

function plainData(data: unknown): Json {
  if (data === null || typeof data === 'boolean' || typeof data === 'number' || typeof data === 'string') return data;
  if (Array.isArray(data)) return data.map(plainData);
  if (typeof data !== 'object') return null;
  return Object.fromEntries(
    Object.entries(data)
      .filter(([, item]) => item !== undefined)
      .map(([key, item]) => [key, plainData(item)]),
  );
}
