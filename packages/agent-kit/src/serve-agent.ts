import process from 'node:process';
import type { Readable, Writable } from 'node:stream';
import type { Json, JsonObject } from '@concerto/base';
import {
  type AgentCapability,
  agentCapabilities,
  type Line,
  LineError,
  LineSplitter,
  LlmContent,
  type Part,
  readDecision,
} from '@concerto/protocol';
import {
  NoAnswer,
  OpenQuestions,
  stopped,
  type ToolHandle,
  type ToolOptions,
  type ToolResultOptions,
  type Turn,
  type TurnUsage,
} from './turn.ts';

export type Prompt = {
  readonly text: string;
  /** All of it, in order, where it is more than text: a file is `inlineData` with its type and its bytes in base64. */
  readonly parts?: readonly Part[];
  readonly context?: Json;
  readonly session?: string;
  readonly id?: string;
};

/** A text, or any fields; the turn's `result`. */
export type Answer = string | JsonObject | undefined | void;

/**
 * What an agent can be asked beside prompts. A handler that is there is a capability that is announced; a request is
 * confirmed when its handler is done and, for `interrupt` and `cancel`, when the prompt's handler has returned too.
 */
export type CapabilityHandlers = {
  readonly steer?: (text: string, parts?: readonly Part[]) => void | Promise<void>;
  readonly interrupt?: () => void | Promise<void>;
  readonly pause?: () => void | Promise<void>;
  readonly resume?: () => void | Promise<void>;
  readonly cancel?: () => void | Promise<void>;
};

type Initialised = void | CapabilityHandlers;

export type AgentHandlers = CapabilityHandlers & {
  readonly version?: string;
  /** What its prompts and steers may hold beside text; without it, a message with a file is refused before it comes here. */
  readonly takes?: readonly ('images' | 'files')[];
  /**
   * Takes the params of the manifest; what it throws is told to the supervisor and the agent does not start. When
   * what the agent can do depends on them, it returns those handlers, which then replace the others.
   */
  readonly init?: (params: JsonObject) => Initialised | Promise<Initialised>;
  /** Works on one prompt; prompts come one at a time. What it throws is the turn's `error`. */
  readonly prompt: (prompt: Prompt, turn: Turn) => Answer | Promise<Answer>;
};

export type ServeOptions = { readonly input?: Readable; readonly output?: Writable };

/** Speaks the agent wire on stdin and stdout until stdin ends and the work that was asked for is done. */
export async function serveAgent(handlers: AgentHandlers, options: ServeOptions = {}): Promise<void> {
  const input = options.input ?? process.stdin;
  const output = options.output ?? process.stdout;
  // A supervisor that is gone reads nothing more: there is no point in working on.
  output.on('error', () => process.exit(1));
  const service = new AgentService(handlers, (message) => void output.write(`${JSON.stringify(message)}\n`));
  const splitter = new LineSplitter();
  for await (const chunk of input) {
    for (const line of splitter.push(Buffer.from(chunk))) service.read(line);
  }
  for (const line of splitter.end()) service.read(line);
  await service.inputEnded();
}

type Command = JsonObject & { readonly type: string };

class AgentService {
  readonly #handlers: AgentHandlers;
  readonly #write: (message: JsonObject) => void;
  #capabilityHandlers: CapabilityHandlers;
  readonly #questions = new OpenQuestions();
  /** The end of all work accepted so far. */
  #work: Promise<void> = Promise.resolve();
  #turn: AbortController | undefined;
  #hasIntroduced = false;
  #tools = 0;
  #resumed: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined;

  constructor(handlers: AgentHandlers, write: (message: JsonObject) => void) {
    this.#handlers = handlers;
    this.#write = write;
    this.#capabilityHandlers = handlers;
  }

  read(line: Line): void {
    if (line instanceof LineError) {
      this.#complain(line.message);
      return;
    }
    if (line.trim() === '') return;
    const command = parseCommand(line);
    switch (command.type) {
      case 'init':
        this.#enqueue(() => this.#init(asObject(command.params)));
        return;
      case 'prompt':
        this.#enqueue(() => this.#prompt(readPrompt(command)));
        return;
      case 'response':
        this.#respond(command);
        return;
      case 'steer':
        void this.#confirm(command, () =>
          this.#capabilityHandlers.steer?.(asText(command.text) ?? '', partsOf(command)),
        );
        return;
      case 'interrupt':
      case 'cancel':
        this.#stop(command, command.type === 'cancel' ? 'cancel' : 'interrupt');
        return;
      case 'pause':
        void this.#confirm(command, () => this.#pause());
        return;
      case 'resume':
        void this.#confirm(command, () => this.#resume());
        return;
      default:
        this.#complain(`no such command: ${JSON.stringify(command.type)}`);
    }
  }

  async inputEnded(): Promise<void> {
    this.#questions.close('nobody is there to answer: stdin has ended');
    this.#resumed?.resolve();
    await this.#work;
  }

  #enqueue(task: () => Promise<void>): void {
    this.#work = this.#work.then(task);
  }

  async #init(params: JsonObject): Promise<void> {
    try {
      this.#capabilityHandlers = (await this.#handlers.init?.(params)) ?? this.#capabilityHandlers;
    } catch (error) {
      this.#write({ type: 'error', message: messageOf(error) });
      return;
    }
    this.#introduce();
  }

  #introduce(): void {
    if (this.#hasIntroduced) return;
    this.#hasIntroduced = true;
    const { version } = this.#handlers;
    this.#write({
      type: 'init_ack',
      ...(version === undefined ? {} : { version }),
      capabilities: this.#capabilities(),
    });
  }

  #capabilities(): AgentCapability[] {
    const { takes = [] } = this.#handlers;
    return agentCapabilities.filter((capability) =>
      capability === 'images' || capability === 'files'
        ? takes.includes(capability)
        : this.#capabilityHandlers[capability] !== undefined,
    );
  }

  async #prompt(prompt: Prompt): Promise<void> {
    // Without params there was no `init` to answer; what the agent can do must be known all the same.
    if (this.#capabilities().length > 0) this.#introduce();
    const stop = new AbortController();
    this.#turn = stop;
    try {
      const answer = await this.#handlers.prompt(prompt, this.#turnFor(stop.signal));
      // The confirmation of an interrupt ends the turn; a result after it would be taken for the next turn's.
      if (!stop.signal.aborted)
        this.#write(typed('result', typeof answer === 'string' ? { text: answer } : (answer ?? {})));
    } catch (error) {
      if (!stop.signal.aborted) this.#write({ type: 'error', message: messageOf(error), ...codeOf(error) });
    } finally {
      this.#turn = undefined;
    }
  }

  #turnFor(signal: AbortSignal): Turn {
    // After its end a turn has no voice: what a forgotten callback says would land in the next turn.
    const say = (message: JsonObject): void => {
      if (this.#turn?.signal === signal && !signal.aborted) this.#write(message);
    };
    const request = (type: string, fields: JsonObject = {}): Promise<Json> =>
      this.#questions.ask(type, signal, (id) => say(typed(type, { ...fields, id })));
    const decide: Turn['decide'] = async (description, { riskLevel, ...rest } = {}) =>
      readDecision(await request('approval', present({ description, risk_level: riskLevel, ...rest })));
    return {
      signal,
      ask: (question, options = {}) => request('question', present({ question, ...options })),
      decide,
      approve: async (description, options) => (await decide(description, options)).isApproved,
      progress: (message, options = {}) => say({ type: 'progress', message, ...present(options) }),
      partial: (text, message) => say({ type: 'partial', text, ...present({ message }) }),
      message: (text, id) => say({ type: 'message', text, ...present({ id }) }),
      thought: (text, message) => say({ type: 'thought', text, ...present({ message }) }),
      tool: (name, options = {}) => this.#tool(say, name, options),
      plan: (steps) => say({ type: 'plan', entries: steps.map((step) => present({ ...step })) }),
      usage: (used) => say({ type: 'usage', ...usageFields(used) }),
      log: (message, level = 'info') => say({ type: 'log', level, message }),
      send: (type, fields = {}) => say(typed(type, fields)),
      request,
      checkpoint: () => this.#checkpoint(signal),
    };
  }

  #tool(say: (message: JsonObject) => void, name: string, options: ToolOptions): ToolHandle {
    this.#tools += 1;
    const id = `tool-${this.#tools}`;
    say({ type: 'tool_call', id, name, ...jsonFields(options) });
    return {
      id,
      output: (text) => say({ type: 'tool_output', id, text }),
      result: (content, result = {}) =>
        say({ type: 'tool_result', id, ...present({ content }), ...jsonFields(result) }),
    };
  }

  async #checkpoint(signal: AbortSignal): Promise<void> {
    while (this.#resumed !== undefined && !signal.aborted) {
      await Promise.race([
        this.#resumed.promise,
        new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true })),
      ]);
    }
    if (signal.aborted) throw stopped(signal);
  }

  #respond(command: JsonObject): void {
    const isAwaited = this.#questions.answer({
      type: asText(command.in_reply_to),
      id: asText(command.in_reply_to_id),
      value: command.value ?? null,
      error: command.error,
    });
    if (!isAwaited)
      this.#complain(`an answer that no question waits for: ${asText(command.in_reply_to_id) ?? '(without id)'}`);
  }

  #stop(command: Command, verb: 'interrupt' | 'cancel'): void {
    this.#turn?.abort(verb === 'interrupt' ? 'the turn was interrupted' : 'the session was cancelled');
    const handled = Promise.resolve().then(() => this.#capabilityHandlers[verb]?.());
    // It is looked at below, perhaps later; until then a failure is nobody's unhandled rejection.
    handled.catch(() => {});
    // In the queue of prompts, so that the confirmation comes after the stopped turn and before the next.
    this.#enqueue(() => this.#confirm(command, () => handled));
  }

  async #pause(): Promise<void> {
    if (this.#resumed === undefined) {
      let resolve = (): void => {};
      const promise = new Promise<void>((settle) => {
        resolve = settle;
      });
      this.#resumed = { promise, resolve };
    }
    await this.#capabilityHandlers.pause?.();
  }

  async #resume(): Promise<void> {
    await this.#capabilityHandlers.resume?.();
    this.#resumed?.resolve();
    this.#resumed = undefined;
  }

  /** Confirms a request when it is done. One that fails is not confirmed: the supervisor's deadline then decides. */
  async #confirm(command: Command, handle: () => void | Promise<void>): Promise<void> {
    try {
      await handle();
    } catch (error) {
      this.#complain(`${command.type} failed: ${messageOf(error)}`);
      return;
    }
    const id = asText(command.id);
    this.#write({ type: 'ack', in_reply_to: command.type, ...(id === undefined ? {} : { in_reply_to_id: id }) });
  }

  /** stderr is the supervisor's place to look when something is odd. */
  #complain(what: string): void {
    process.stderr.write(`agent-kit: ${what}\n`);
  }
}

/** A line that is no typed command is a prompt: that is how an agent with `input_format = "text"` is asked. */
function parseCommand(line: string): Command {
  try {
    const value: Json = JSON.parse(line);
    if (isObject(value) && typeof value.type === 'string') return { ...value, type: value.type };
  } catch {
    // Not JSON: a bare prompt.
  }
  return { type: 'prompt', text: line };
}

function readPrompt(command: JsonObject): Prompt {
  const session = asText(command.session);
  const id = asText(command.id);
  const parts = partsOf(command);
  return {
    text: asText(command.text) ?? asText(command.prompt) ?? '',
    ...(parts === undefined ? {} : { parts }),
    ...(command.context === undefined ? {} : { context: command.context }),
    ...(session === undefined ? {} : { session }),
    ...(id === undefined ? {} : { id }),
  };
}

function partsOf({ parts }: JsonObject): readonly Part[] | undefined {
  const read = LlmContent.safeParse({ parts });
  return read.success ? read.data.parts : undefined;
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function asObject(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}

function asText(value: Json | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** The type comes first, for whoever reads along, and no field of the same name replaces it. */
function typed(type: string, fields: JsonObject): JsonObject {
  const { type: _, ...rest } = fields;
  return { type, ...rest };
}

/** The fields that are there: `undefined` is no JSON. */
function present(fields: { readonly [name: string]: Json | undefined }): JsonObject {
  const found: Record<string, Json> = {};
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) found[name] = value;
  return found;
}

/** As the wire has them: `undefined` is no JSON, and a list is one of our own. */
function jsonFields(options: ToolOptions | ToolResultOptions): JsonObject {
  const copy: Json = JSON.parse(JSON.stringify(options));
  return asObject(copy);
}

function usageFields({ inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, ...used }: TurnUsage): JsonObject {
  return present({
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    cache_read_tokens: cacheReadTokens,
    cache_write_tokens: cacheWriteTokens,
    cost_usd: used.costUsd,
    model: used.model,
    context: used.context,
  });
}

function messageOf(error: unknown): string {
  if (error instanceof NoAnswer) return `no answer: ${error.message}`;
  if (!(error instanceof Error)) return String(error);
  if (error.message !== '') return error.message;
  // Node says nothing itself where several addresses were tried, and none answered.
  const causes = error instanceof AggregateError ? error.errors.map(messageOf).join('; ') : '';
  return causes === '' ? error.name : causes;
}

function codeOf(error: unknown): JsonObject {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' || typeof code === 'number' ? { code } : {};
}
