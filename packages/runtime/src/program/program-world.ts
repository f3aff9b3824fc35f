import type { Json } from '@concerto/base';
import type { IrModule } from '@concerto/ir';
import type { ModelAnswer, ModelRequest, Request, Value } from '@concerto/vm';

/** A connection of the manifest, as the compiled program carries it. */
export type ProgramConnection = { readonly [key: string]: Json };

/** Asks a real model. Rejects with a `WorldFailure` for what the program should see as a kind of its own. */
export type CallModel = (
  request: ModelRequest,
  connection: ProgramConnection,
  signal: AbortSignal,
) => Promise<ModelAnswer>;

/** A model's answer as plain data. */
export function answerJson(answer: ModelAnswer): { readonly [key: string]: Json } {
  const { tool_calls, ...rest } = answer;
  const calls = tool_calls?.map((call) => ({ id: call.id, name: call.name, arguments: call.arguments }));
  return { ...rest, ...(calls === undefined ? {} : { tool_calls: calls }) };
}

/** What a program's effects are performed with. The command line and a session of the server each bring their own. */
export type ProgramWorld = {
  /** Emits, and the language's own events (`system`), in order. */
  readonly emit: (channel: string, payload: Value, system: boolean) => void;
  readonly print: (text: string) => void;
  readonly log: (level: 'info' | 'warn' | 'error' | 'debug', text: string) => void;
  /** `await emit`; resolves with null when nobody answers. */
  readonly ask: (channel: string, payload: Value, signal: AbortSignal) => Promise<Json>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Relative paths of `std::fs` start here. */
  readonly directory: string;
  /** Relative paths of agents start here: where the manifest is. */
  readonly projectDirectory: string;
  /** Every model answers with the offline mock. */
  readonly mockModels: boolean;
  readonly callModel?: CallModel;
};

export type ProgramRequest = Request & { readonly id: number };

export type RequestContext = {
  readonly module: IrModule;
  readonly world: ProgramWorld;
  /** Aborts when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
};

/** A failure the program sees as an error value with this kind. */
export class WorldFailure extends Error {
  override readonly name = 'WorldFailure';
  readonly code: string;
  readonly kind: string;
  readonly details: Json | undefined;

  constructor(kind: string, message: string, options: { cause?: unknown; details?: Json } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = kind;
    this.kind = kind;
    this.details = options.details;
  }
}
