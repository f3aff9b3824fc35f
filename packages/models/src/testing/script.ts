import type { Json } from '@concerto/base';

/** What the model does, one after another, in one turn. */
export type ScriptStep =
  /** Sent in pieces of `pieces` characters when streamed. */
  | { readonly text: string; readonly pieces?: number }
  /** Shown by `openai-chat` when streamed; the other wires say nothing. */
  | { readonly thought: string }
  /** A tool in a `namespace` is known to `openai-responses` only. */
  | { readonly tool: string; readonly arguments: Json; readonly id?: string; readonly namespace?: string }
  /** Arguments as the model wrote them, which need not be JSON. Only for wires that send them as text. */
  | { readonly tool: string; readonly rawArguments: string; readonly id?: string }
  /** A tool whose input is text and no JSON; known to `openai-responses` only. */
  | { readonly tool: string; readonly input: string; readonly id?: string; readonly namespace?: string }
  /** Waits until the gate is opened: slow tokens without a clock. */
  | { readonly gate: string }
  /** Says nothing more until the other side goes away. */
  | { readonly hang: true }
  /** Cuts the connection. */
  | { readonly drop: true }
  /** Ends the response like one that is complete, without the words that end an answer. */
  | { readonly cut: true }
  /** In a stream that has begun it is told there. */
  | { readonly error: ScriptedError }
  | { readonly usage: { readonly input: number; readonly output: number; readonly cached?: number } }
  | { readonly finish: 'stop' | 'length' | 'filter' };

export type ScriptedError = {
  readonly status: number;
  readonly message?: string;
  /** The provider's own word for it, for example `insufficient_quota`. */
  readonly code?: string;
  readonly headers?: Readonly<Record<string, string>>;
};

export type ScriptTurn = string | readonly ScriptStep[];

export type WireName = 'openai-chat' | 'openai-responses' | 'anthropic' | 'google';

export type ScriptedRequest = {
  readonly wire: WireName;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The body, with `model` put in for wires that have it in the path. */
  readonly body: RequestBody;
  readonly streamed: boolean;
};

export type RequestBody = { readonly [key: string]: Json } & { readonly model: string };

export type ScriptedToolCall = {
  readonly id: string;
  readonly name: string;
  readonly namespace?: string;
  readonly arguments: string;
  /** They are text and no JSON. */
  readonly isFreeform?: boolean;
};

/** A turn as far as it was said. */
export type Said = {
  readonly text: string;
  readonly calls: readonly ScriptedToolCall[];
  readonly finish: 'stop' | 'length' | 'filter';
  readonly usage: { readonly input: number; readonly output: number; readonly cached: number };
};

/** A provider's wire. */
export type Wire = {
  /** Undefined when the request is not for this wire. */
  readonly match: (
    path: string,
    body: { readonly [key: string]: Json },
  ) => { model: string; streamed: boolean } | undefined;
  readonly whole: (said: Said, about: Conversation) => Json;
  /** A text is sent as it is, anything else as JSON. */
  readonly stream: (send: (event: Json, name?: string) => void, about: Conversation) => WireStream;
  readonly error: (error: ScriptedError) => Json;
  /** What tells it in a stream. */
  readonly streamedError: (error: ScriptedError) => { readonly event: Json; readonly name?: string };
};

export type Conversation = { readonly id: string; readonly model: string; readonly body: RequestBody };

type WireStream = {
  readonly start: () => void;
  readonly text: (piece: string) => void;
  readonly thought?: (piece: string) => void;
  readonly call: (call: ScriptedToolCall) => void;
  readonly end: (said: Said) => void;
};
