import type { Json } from '@concerto/base';
import type { IrModule } from '@concerto/ir';
import type { McpServers, ModelPart, ModelReply, Models, ModelTool, ModelTurn } from '@concerto/models';
import type { ModelRequest, Request } from '@concerto/vm';
import { AnswerCache } from './answer-cache.ts';
import type { CachedAnswer } from './open-work.ts';
import { type ProgramWorld, WorldFailure } from './program-world.ts';

type McpCallRequest = Extract<Request, { kind: 'mcp_call' }>;
type OpenStream = { readonly parts: AsyncGenerator<ModelPart>; readonly ending: AbortController };

/** The models and MCP servers of one program. What reaches them is loaded when the first is asked. */
export class ProgramModels {
  readonly #module: IrModule;
  readonly #world: ProgramWorld;
  readonly #streams = new Map<string, OpenStream>();
  readonly #answers = new AnswerCache();
  #models: Models | undefined;
  #servers: McpServers | undefined;
  #count = 0;
  /** Streams of an earlier process: names that are taken, and lead nowhere. */
  #lost = 0;

  constructor(module: IrModule, world: ProgramWorld) {
    this.#module = module;
    this.#world = world;
  }

  /** One turn; with `stream` the name to read it by. */
  async ask(request: ModelRequest, signal: AbortSignal): Promise<Json> {
    const models = await this.#open();
    const known = this.#answers.find(request);
    if (known !== undefined) return known;
    const turn = await this.#turn(request, signal);
    if (!request.stream) {
      const answer = answerJson(await seen(() => models.execute(turn)));
      this.#answers.keep(request, answer);
      return answer;
    }
    const name = `stream-${++this.#count}`;
    // The request that opens a stream is answered at once; its signal says nothing about the rest.
    const ending = new AbortController();
    this.#streams.set(name, { parts: models.stream({ ...turn, signal: ending.signal }), ending });
    return { stream: name };
  }

  /** Goes on for a program that was ended: it had opened so many streams, and knows these answers. */
  recover(streams: number, answers: readonly CachedAnswer[]): void {
    this.#count = streams;
    this.#lost = streams;
    for (const { request, answer, at } of answers) this.#answers.keep(request, answer, Date.now() - at);
  }

  /** The stream ends when nobody waits for its next piece. */
  async next(name: string, signal: AbortSignal): Promise<Json> {
    const stream = this.#streams.get(name);
    if (stream === undefined && Number(name.slice('stream-'.length)) <= this.#lost) {
      throw new WorldFailure('network', 'the run was ended while the answer came');
    }
    if (stream === undefined) throw new WorldFailure('stream', 'the answer has already ended');
    const onAbort = (): void => stream.ending.abort();
    signal.addEventListener('abort', onAbort, { once: true });
    let ended = true;
    try {
      const part = await seen(() => stream.parts.next());
      if (part.done === true) throw new WorldFailure('stream', 'the answer has already ended');
      if (part.value.type === 'reply') return { response: answerJson(part.value.reply) };
      ended = false;
      return { chunk: part.value.text };
    } finally {
      signal.removeEventListener('abort', onAbort);
      if (ended) this.#streams.delete(name);
    }
  }

  async callTool(request: McpCallRequest, signal: AbortSignal): Promise<Json> {
    const { server, tool, arguments: given, returns } = request;
    const servers = await this.#openServers();
    return seen(() =>
      returns === 'String'
        ? servers.callForText(server, tool, given, signal)
        : servers.call(server, tool, given, signal),
    );
  }

  async tools(server: string, signal: AbortSignal): Promise<Json> {
    const servers = await this.#openServers();
    const tools = await seen(() => servers.tools(server, signal));
    return tools.map(({ name, description, parameters }) => ({ name, description, parameters }));
  }

  async close(): Promise<void> {
    const streams = [...this.#streams.values()];
    this.#streams.clear();
    // A generator that waits for its provider can only be returned from after that wait: end the wait.
    for (const { ending } of streams) ending.abort();
    await Promise.all([this.#servers?.close(), ...streams.map(({ parts }) => parts.return(undefined))]);
  }

  async #open(): Promise<Models> {
    if (this.#models !== undefined) return this.#models;
    const { createModels, readPrices } = await import('@concerto/models');
    const { connections, prices } = this.#module.manifest ?? {};
    this.#models ??= createModels({
      connections: isTable(connections) ? connections : {},
      environment: this.#world.environment,
      mock: this.#world.mockModels,
      prices: readPrices(prices),
    });
    return this.#models;
  }

  async #openServers(): Promise<McpServers> {
    if (this.#servers !== undefined) return this.#servers;
    const { McpServers } = await import('@concerto/models');
    const settings = Object.fromEntries(this.#module.mcp.map(({ name, config }) => [name, config]));
    const { environment, projectDirectory } = this.#world;
    this.#servers ??= new McpServers(settings, { environment, directory: projectDirectory });
    return this.#servers;
  }

  async #turn(request: ModelRequest, signal: AbortSignal): Promise<ModelTurn> {
    const { connection, config, messages, schema, timeoutMs } = request;
    const { stop_sequences: stops } = config;
    return {
      connection,
      model: text(config.base),
      messages,
      tools: this.#isMock(connection) ? [] : [...request.tools, ...(await this.#serverTools(request.servers, signal))],
      schema,
      temperature: number(config.temperature),
      maxTokens: number(config.max_tokens),
      topP: number(config.top_p),
      stopSequences: Array.isArray(stops) ? stops.filter((stop) => typeof stop === 'string') : undefined,
      timeoutMs: timeoutMs ?? undefined,
      signal,
    };
  }

  /** The offline mock calls no tool, so no server is started for it. */
  #isMock(connection: string): boolean {
    if (this.#world.mockModels) return true;
    const connections = this.#module.manifest?.connections;
    const table = isTable(connections) && Object.hasOwn(connections, connection) ? connections[connection] : undefined;
    return isTable(table) && table.provider === 'mock';
  }

  /** A model knows them as `server::tool`. */
  async #serverTools(names: readonly string[], signal: AbortSignal): Promise<ModelTool[]> {
    if (names.length === 0) return [];
    const servers = await this.#openServers();
    const lists = await Promise.all(
      names.map(async (server) => {
        const tools = await seen(() => servers.tools(server, signal));
        return tools.map((tool) => ({ ...tool, name: `${server}::${tool.name}` }));
      }),
    );
    return lists.flat();
  }
}

/** What goes wrong in the models' room as the program sees it. */
async function seen<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    const { ModelFailure, McpFailure } = await import('@concerto/models');
    if (cause instanceof McpFailure) throw new WorldFailure(cause.code, cause.message, { cause });
    if (!(cause instanceof ModelFailure)) throw cause;
    throw new WorldFailure(cause.code, cause.message, { cause, details: cause.details });
  }
}

function answerJson(reply: ModelReply): Json {
  const { usage, toolCalls, cost } = reply;
  return {
    text: reply.text,
    tokens_in: usage.inputTokens,
    tokens_out: usage.outputTokens,
    model: reply.model,
    provider: reply.provider,
    latency_ms: reply.latencyMs,
    ...(cost === undefined ? {} : { cost }),
    ...(toolCalls.length === 0
      ? {}
      : { tool_calls: toolCalls.map(({ id, name, arguments: given }) => ({ id, name, arguments: given })) }),
  };
}

function isTable(data: Json | undefined): data is { readonly [key: string]: Json } {
  return typeof data === 'object' && data !== null && !Array.isArray(data);
}

function text(value: Json | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function number(value: Json | undefined): number | undefined {
  return typeof value === 'number' ? value : undefined;
}
