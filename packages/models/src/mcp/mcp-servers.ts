import type { Json } from '@concerto/base';
import { isTable } from '../json-table.ts';
import type { Elicit, McpConnection, McpTool } from './mcp-connection.ts';
import type { McpContent } from './mcp-content.ts';
import { McpFailure } from './mcp-failure.ts';
import { type McpPlace, readMcpSettings } from './mcp-settings.ts';
import { untilAborted } from './until-aborted.ts';

type Watching = { readonly onProgress?: (status: string) => void; readonly onElicit?: Elicit };
type McpCall = Watching & { readonly tool: string; readonly given: Json };
type Table = { readonly [name: string]: Json };
type Ready = Watching & { readonly tool: string; readonly given: Table };

/** The servers of a program or a session. Each is connected when it is first needed, and again after it has gone. */
export class McpServers {
  readonly #settings: Readonly<Record<string, unknown>>;
  readonly #place: McpPlace;
  readonly #open = new Map<string, Promise<McpConnection>>();
  readonly #connected = new Map<string, McpConnection>();
  readonly #ending = new AbortController();

  constructor(settings: Readonly<Record<string, unknown>>, place: McpPlace) {
    this.#settings = settings;
    this.#place = place;
  }

  /** Whether one has other tools than it had when it was asked: it said so, or it was started again. */
  get hasOtherTools(): boolean {
    return [...this.#connected.values()].some(({ alive, knowsTools }) => alive && !knowsTools);
  }

  async tools(server: string, signal?: AbortSignal): Promise<readonly McpTool[]> {
    const list = async (): Promise<readonly McpTool[]> => {
      const work = this.#connect(server).then((connection) => connection.tools());
      return await this.#waitFor(server, work, signal);
    };
    return await again(list);
  }

  /** `given` is a table, or null for none. */
  async call(server: string, tool: string, given: Json, signal?: AbortSignal): Promise<Json> {
    return await again(async () => {
      const { connection, call, until } = await this.#prepare(server, { tool, given }, signal);
      return await connection.call(call, until);
    });
  }

  /** The text as it came, even when it is JSON or there is structured content beside it. */
  async callForText(server: string, tool: string, given: Json, signal?: AbortSignal): Promise<Json> {
    return await again(async () => {
      const { connection, call, until } = await this.#prepare(server, { tool, given }, signal);
      return await connection.callForText(call, until);
    });
  }

  /** As `call`, with the files apart; the server is asked to say how far it is. */
  async callWatched(
    server: string,
    tool: string,
    given: Json,
    { signal, ...watching }: Watching & { readonly signal: AbortSignal },
  ): Promise<McpContent> {
    return await again(async () => {
      const { connection, call, until } = await this.#prepare(server, { tool, given, ...watching }, signal);
      return await connection.callForContent(call, until);
    });
  }

  /** Ends every server, whatever it is doing. */
  async close(): Promise<void> {
    this.#ending.abort();
    const open = [...this.#open.values()];
    this.#open.clear();
    await Promise.all(
      open.map(async (opening) => {
        const connection = await opening.catch(() => undefined);
        await connection?.close();
      }),
    );
  }

  async #prepare(
    server: string,
    { tool, given, ...how }: McpCall,
    signal: AbortSignal | undefined,
  ): Promise<{ readonly connection: McpConnection; readonly call: Ready; readonly until: AbortSignal }> {
    if (given !== null && !isTable(given)) {
      throw new McpFailure('refused', server, `${tool}: the arguments are named; pass a map`);
    }
    const connection = await this.#waitFor(server, this.#connect(server), signal);
    const until = signal ?? this.#ending.signal;
    // Who watches was offered the tool by its own name.
    const real = how.onProgress === undefined ? await connection.realName(tool, until) : tool;
    return { connection, call: { tool: real, given: given ?? {}, ...how }, until };
  }

  async #connect(server: string): Promise<McpConnection> {
    if (this.#ending.signal.aborted) throw new McpFailure('connection', server, 'is closed');
    const known = this.#open.get(server);
    if (known !== undefined) {
      const connection = await known;
      if (connection.alive) return connection;
      if (this.#open.get(server) === known) this.#open.delete(server);
      await connection.close();
      return this.#connect(server);
    }
    const opening = this.#openServer(server);
    this.#open.set(server, opening);
    try {
      return await opening;
    } catch (cause) {
      if (this.#open.get(server) === opening) this.#open.delete(server);
      throw cause;
    }
  }

  async #openServer(server: string): Promise<McpConnection> {
    if (!Object.hasOwn(this.#settings, server)) {
      throw new McpFailure('connection', server, `is not known; add [mcp.${server}] to Concerto.toml`);
    }
    const spec = readMcpSettings(server, this.#settings[server], this.#place);
    const { McpConnection } = await import('./mcp-connection.ts');
    const connection = await McpConnection.open(spec, this.#ending.signal);
    this.#connected.set(server, connection);
    return connection;
  }

  /** Several may wait for one connection: who gives up does not take it from the others. */
  async #waitFor<T>(server: string, work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
    if (signal === undefined) return work;
    try {
      return await untilAborted(work, signal);
    } catch (cause) {
      throw signal.aborted ? new McpFailure('cancelled', server, 'the call was cancelled') : cause;
    }
  }
}

/** Once more where the server has forgotten us: the next connection is a new one. */
async function again<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (!(cause instanceof McpFailure) || !cause.isForgotten) throw cause;
    return await work();
  }
}
