import type { Json } from '@concerto/base';
import {
  Client,
  type ElicitResult,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  SSEClientTransport,
  SseError,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import * as z from 'zod';
import type { ModelTool } from '../model-turn.ts';
import { reasonOf } from '../reason-of.ts';
import { redact } from '../redact.ts';
import { CallPatience } from './call-patience.ts';
import {
  asJson,
  type CallResult,
  callResult,
  contentOf,
  type McpContent,
  textOf,
  valueAndFiles,
} from './mcp-content.ts';
import { McpFailure, type McpFailureKind } from './mcp-failure.ts';
import type { McpSpec } from './mcp-settings.ts';
import { NeverSent, StdioTransport } from './stdio-transport.ts';
import { untilAborted } from './until-aborted.ts';

const MOST_PAGES = 100;
const CLOSE_TIMEOUT_MS = 5000;
/** Whether a call takes too long is ours to say: the library would count the time in which a person thinks. */
const longestTimerMs = 2 ** 31 - 1;

const elicitation = z.looseObject({ message: z.string(), requestedSchema: z.json() });
const elicited = z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]));

export type McpTool = ModelTool & { readonly returns: Json | undefined };

type ConnectionCall = {
  readonly tool: string;
  readonly given: { readonly [name: string]: Json };
  /** Hears what the server says while it works. */
  readonly onProgress?: ((status: string) => void) | undefined;
  /** Answers what the server asks for while it works. */
  readonly onElicit?: Elicit | undefined;
};

/** A form that a server wants filled in. */
export type McpElicitation = { readonly message: string; readonly schema: Json };

export type McpElicited =
  | { readonly action: 'accept'; readonly content: { readonly [name: string]: Json } }
  | { readonly action: 'decline' | 'cancel' };

/** `signal`: the server no longer waits. */
export type Elicit = (asked: McpElicitation, signal: AbortSignal) => Promise<McpElicited>;

type Watched = { readonly onElicit: Elicit; readonly patience: CallPatience };

/** One server that is connected. */
export class McpConnection {
  readonly #spec: McpSpec;
  readonly #client: Client;
  readonly #transport: Transport;
  #tools: Promise<readonly McpTool[]> | undefined;
  #ended = false;
  /** Calls under way whose caller can be asked, the latest last: a server does not say which of them it asks for. */
  readonly #watched: Watched[] = [];

  private constructor(spec: McpSpec, client: Client, transport: Transport) {
    this.#spec = spec;
    this.#client = client;
    this.#transport = transport;
    client.onclose = () => {
      this.#ended = true;
    };
    // The session is that of the stream: on another one the server would not know us.
    client.onerror = (error) => {
      if (error instanceof SseError) void this.close();
    };
    client.setNotificationHandler('notifications/tools/list_changed', () => {
      this.#tools = undefined;
    });
    if (spec.elicits)
      client.setRequestHandler('elicitation/create', (request, ctx) => this.#elicit(request.params, ctx.mcpReq.signal));
  }

  static async open(spec: McpSpec, signal: AbortSignal): Promise<McpConnection> {
    const transport = openTransport(spec);
    const capabilities = spec.elicits ? { elicitation: { form: {} } } : {};
    const client = new Client({ name: 'concerto', version: '0.1.0' }, { capabilities });
    const connection = new McpConnection(spec, client, transport);
    const ms = spec.connectTimeoutMs;
    const late = AbortSignal.timeout(ms);
    try {
      await untilAborted(client.connect(transport, { timeout: ms }), AbortSignal.any([signal, late]));
      return connection;
    } catch (cause) {
      await connection.close();
      // Asking here also keeps the timeout: `any` holds it weakly, and one that is collected never comes.
      throw connection.#failure(late.aborted ? late.reason : cause, 'connection', { signal, ms });
    }
  }

  /** False once the server has gone. */
  get alive(): boolean {
    return !this.#ended;
  }

  /** False until they were asked for, and again when the server says that they have changed. */
  get knowsTools(): boolean {
    return this.#tools !== undefined;
  }

  /** Asked once for all who want to know. */
  async tools(): Promise<readonly McpTool[]> {
    this.#tools ??= this.#listTools();
    const listed = this.#tools;
    try {
      return await listed;
    } catch (cause) {
      if (this.#tools === listed) this.#tools = undefined;
      throw cause;
    }
  }

  /** A program writes `get_sum` for a tool called `get-sum`. Of two that could be meant, neither is. */
  async realName(written: string, signal: AbortSignal): Promise<string> {
    if (!written.includes('_')) return written;
    let names: readonly string[];
    try {
      names = (await untilAborted(this.tools(), signal)).map((tool) => tool.name);
    } catch {
      // The call itself will say what is wrong.
      return written;
    }
    if (names.includes(written)) return written;
    const alike = names.filter((name) => writtenName(name) === written);
    return alike.length === 1 ? (alike[0] ?? written) : written;
  }

  async #listTools(): Promise<readonly McpTool[]> {
    const tools: McpTool[] = [];
    const ms = this.#spec.callTimeoutMs;
    let cursor: string | undefined;
    try {
      for (let page = 0; page < MOST_PAGES; page++) {
        const listed = await this.#client.listTools(cursor === undefined ? {} : { cursor }, { timeout: ms });
        for (const { name, description = '', inputSchema, outputSchema } of listed.tools) {
          tools.push({
            name,
            description,
            parameters: asJson(inputSchema),
            returns: outputSchema === undefined ? undefined : asJson(outputSchema),
          });
        }
        cursor = listed.nextCursor;
        if (cursor === undefined) break;
      }
    } catch (cause) {
      throw this.#failure(cause, 'refused', { ms });
    }
    return tools;
  }

  /** What the tool gives back: its structured content, else its one text (as data when it is JSON), else all parts. */
  async call(call: ConnectionCall, signal: AbortSignal): Promise<Json> {
    return contentOf(await this.#result(call, signal));
  }

  /** Its text as it came, where it has any. */
  async callForText(call: ConnectionCall, signal: AbortSignal): Promise<Json> {
    const result = await this.#result(call, signal);
    return textOf(result) ?? contentOf(result);
  }

  /** As `call`, with pictures, sounds and resources apart from what is told in words. */
  async callForContent(call: ConnectionCall, signal: AbortSignal): Promise<McpContent> {
    return valueAndFiles(await this.#result(call, signal));
  }

  async #elicit(asked: unknown, signal: AbortSignal): Promise<ElicitResult> {
    const form = elicitation.safeParse(asked);
    const caller = this.#watched.at(-1);
    if (!form.success || caller === undefined) return { action: 'decline' };
    const { message, requestedSchema: schema } = form.data;
    const said = { message: redact(message, this.#spec.secrets), schema };
    const given = await caller.patience.during(caller.onElicit(said, signal));
    if (given.action !== 'accept') return { action: given.action };
    return { action: 'accept', content: elicited.parse(given.content) };
  }

  async #result(call: ConnectionCall, signal: AbortSignal): Promise<CallResult> {
    const { tool, given, onProgress, onElicit } = call;
    const ms = this.#spec.callTimeoutMs;
    let result: CallResult;
    const patience = new CallPatience(ms);
    const watched = onElicit === undefined ? undefined : { onElicit, patience };
    if (watched !== undefined) this.#watched.push(watched);
    try {
      const answer = await this.#client.callTool(
        { name: tool, arguments: { ...given } },
        {
          signal: AbortSignal.any([signal, patience.late]),
          timeout: longestTimerMs,
          // A server is asked for progress only where somebody listens.
          ...(onProgress === undefined
            ? {}
            : {
                onprogress: ({ progress, total, message }) => {
                  patience.progressed();
                  onProgress(message ?? progressText(progress, total));
                },
              }),
        },
      );
      result = callResult.parse(answer);
    } catch (cause) {
      throw this.#failure(patience.late.aborted && !signal.aborted ? lateError() : cause, 'refused', { signal, ms });
    } finally {
      patience.end();
      if (watched !== undefined) this.#watched.splice(this.#watched.indexOf(watched), 1);
    }
    if (result.isError) {
      const said = result.content.flatMap((part) => (typeof part.text === 'string' ? [part.text] : []));
      const shown = redact(said.join('\n'), this.#spec.secrets);
      throw new McpFailure('execution', this.#spec.name, `${tool}: ${shown === '' ? 'failed' : shown}`);
    }
    return result;
  }

  /** Never rejects. */
  async close(): Promise<void> {
    this.#ended = true;
    const ending = async (): Promise<void> => {
      if (this.#transport instanceof StreamableHTTPClientTransport) await this.#transport.terminateSession();
    };
    const late = AbortSignal.timeout(CLOSE_TIMEOUT_MS);
    await untilAborted(ending(), late).catch(() => undefined);
    // A client that never connected does not close its transport.
    await this.#client.close().catch(() => undefined);
    await this.#transport.close().catch(() => undefined);
  }

  #failure(cause: unknown, kind: McpFailureKind, { signal, ms }: { signal?: AbortSignal; ms: number }): McpFailure {
    const { name, secrets } = this.#spec;
    if (cause instanceof McpFailure) return cause;
    if (signal?.aborted === true) return new McpFailure('cancelled', name, 'the call was cancelled');
    const isTimeout =
      (cause instanceof SdkError && cause.code === SdkErrorCode.RequestTimeout) ||
      (cause instanceof Error && cause.name === 'TimeoutError');
    if (isTimeout) return new McpFailure('timeout', name, `no answer within ${ms / 1000} s${this.#stderr()}`);
    // Before there is a session nobody can have forgotten it.
    const isForgotten = kind !== 'connection' && (isUnknownSession(cause) || cause instanceof NeverSent);
    if (isForgotten) this.#ended = true;
    const gone = this.#ended || (cause instanceof SdkError && cause.code === SdkErrorCode.ConnectionClosed);
    const text = cause instanceof Error ? wordsOf(cause) : String(cause);
    const shown = `${redact(text, secrets)}${this.#stderr()}`;
    return new McpFailure(gone ? 'connection' : kind, name, shown, { isForgotten });
  }

  #stderr(): string {
    const said = this.#transport instanceof StdioTransport ? this.#transport.stderr : '';
    return said === '' ? '' : `; it said: ${redact(said, this.#spec.secrets)}`;
  }
}

/** As a server answers that was started again. 404 by the protocol; many that are made after the SDK's example say 400. */
function isUnknownSession(cause: unknown): boolean {
  return cause instanceof SdkHttpError && (cause.status === 404 || cause.status === 400);
}

/** Why nobody could be reached is said one deeper. */
function wordsOf(error: Error): string {
  return error instanceof TypeError ? `cannot be reached: ${reasonOf(error).message}` : error.message;
}

function lateError(): Error {
  return new DOMException('the call took too long', 'TimeoutError');
}

/** As a name of the language. */
function writtenName(tool: string): string {
  return tool.replaceAll(/\W/g, '_');
}

function progressText(progress: number, total: number | undefined): string {
  return total === undefined ? `${progress}` : `${progress} of ${total}`;
}

function openTransport({ reach }: McpSpec): Transport {
  switch (reach.kind) {
    case 'stdio':
      return new StdioTransport(reach);
    case 'http':
      return new StreamableHTTPClientTransport(reach.url, { requestInit: { headers: { ...reach.headers } } });
    case 'sse': {
      const headers = { ...reach.headers };
      return new SSEClientTransport(reach.url, {
        requestInit: { headers },
        // The request that opens the stream does not read `requestInit`.
        eventSourceInit: {
          fetch: (url, init) => fetch(url, { ...init, headers: { ...Object(init.headers), ...headers } }),
        },
      });
    }
  }
}
