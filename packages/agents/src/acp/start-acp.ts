import type { Json, JsonObject } from '@concerto/base';
import { type AcpParams, type Shape, whyNot } from '@concerto/protocol';
import { acpVersion, InitializeResult, SessionResult } from '@concerto/protocol/acp';
import type { AgentConnection, AgentSpec, StartOptions } from '../agent-connection.ts';
import { AgentError } from '../agent-error.ts';
import { type AgentProcess, startProcess } from '../agent-process.ts';
import { JsonRpcRefusal, JsonRpcTimeout } from '../json-rpc-peer.ts';
import { stderrExcerpt } from '../stderr-tail.ts';
import { AcpConnection } from './acp-connection.ts';
import { acpParams, acpServers } from './acp-params.ts';
import { refusalText } from './acp-reason.ts';

const clientInfo = { name: 'concerto', title: 'Concerto', version: '0.1.0' };

/** Without files and terminals: an agent then uses its own, under its own rules. */
const clientCapabilities = {
  fs: { readTextFile: false, writeTextFile: false },
  terminal: false,
  elicitation: { form: {} },
};

/** After an old conversation was loaded: so long a silence means that all of it was told, and so long we wait for one. */
const silentMs = 200;
const retoldMs = 2_000;

/** Of the protocol: the agent wants a login first. */
const authRequired = -32000;

/** Starts the agent and opens its conversation, or takes up the one that it is given. */
export async function startAcp(
  spec: AgentSpec,
  options: StartOptions & { readonly initTimeoutMs: number },
): Promise<AgentConnection> {
  const params = acpParams(spec);
  options.signal?.throwIfAborted();
  const agentProcess = await startProcess(spec, options);
  try {
    await options.onProcess?.(agentProcess.identity);
    options.signal?.throwIfAborted();
    const connection = new AcpConnection(spec, agentProcess, params, options.onLine);
    await new Handshake(connection, agentProcess, params, options).run();
    return connection;
  } catch (error) {
    await agentProcess.end({ stepMs: options.endGraceMs, atWork: true });
    throw error;
  }
}

/** All of it has one deadline. */
class Handshake {
  readonly #connection: AcpConnection;
  readonly #process: AgentProcess;
  readonly #params: AcpParams;
  readonly #options: StartOptions & { readonly initTimeoutMs: number };
  readonly #deadline: number;
  readonly #aborted: Promise<never>;
  readonly #notes: string[] = [];

  constructor(
    connection: AcpConnection,
    agentProcess: AgentProcess,
    params: AcpParams,
    options: StartOptions & { readonly initTimeoutMs: number },
  ) {
    this.#connection = connection;
    this.#process = agentProcess;
    this.#params = params;
    this.#options = options;
    this.#deadline = Date.now() + options.initTimeoutMs;
    const { signal } = options;
    this.#aborted = new Promise((_, reject) => {
      signal?.addEventListener(
        'abort',
        () => reject(signal.reason instanceof Error ? signal.reason : new Error('aborted')),
        {
          once: true,
        },
      );
    });
    // It is looked at in every race; between two of them it is nobody's unhandled rejection.
    this.#aborted.catch(() => undefined);
  }

  async run(): Promise<void> {
    const agent = await this.#ask(
      'initialize',
      { protocolVersion: acpVersion, clientCapabilities, clientInfo },
      InitializeResult,
    );
    if (agent.protocolVersion !== acpVersion) {
      throw this.#failure(
        'init-refused',
        `speaks version ${agent.protocolVersion} of its protocol, and we speak ${acpVersion}`,
      );
    }
    if (this.#params.auth_method !== undefined)
      await this.#call('authenticate', { methodId: this.#params.auth_method });
    const sessionId = await this.#open(agent);
    await this.#configure(sessionId);
    const { agentCapabilities: can } = agent;
    this.#connection.opened({
      sessionId,
      version: agent.agentInfo?.version ?? undefined,
      steers: agent._meta?.steering?.supported === true,
      isKept: can?.loadSession === true || can?.sessionCapabilities?.resume != null,
      isTakenUp: sessionId === this.#options.conversation,
      notes: this.#notes,
    });
  }

  async #open({ agentCapabilities: can, authMethods }: InitializeResult): Promise<string> {
    const { servers, left } = acpServers(this.#params.mcp_servers, {
      http: can?.mcpCapabilities?.http === true,
      sse: can?.mcpCapabilities?.sse === true,
    });
    if (left.length > 0)
      throw this.#failure('init-refused', `cannot have all of the session's servers: ${left.join('; ')}`);
    const { meta } = this.#params;
    const place = {
      cwd: this.#connection.workingDir,
      mcpServers: servers,
      ...(meta === undefined ? {} : { _meta: meta }),
    };
    try {
      return (await this.#takeUp(can, place)) ?? (await this.#ask('session/new', place, SessionResult)).sessionId;
    } catch (cause) {
      if (!(cause instanceof AgentError && cause.cause instanceof JsonRpcRefusal) || cause.cause.code !== authRequired)
        throw cause;
      const methods = (authMethods ?? []).map(({ id, name }) => (name == null ? id : `${id} (${name})`));
      const how =
        methods.length === 0 ? 'log in with its own program' : `params.auth_method may be one of ${methods.join(', ')}`;
      throw this.#failure('init-refused', `wants a login: ${cause.cause.message}; ${how}`, cause.cause);
    }
  }

  /** The conversation that we were given, if the agent still has it. */
  async #takeUp(can: InitializeResult['agentCapabilities'], place: JsonObject): Promise<string | undefined> {
    const { conversation: sessionId } = this.#options;
    if (sessionId === undefined) return undefined;
    // Resuming tells nothing again, which loading does.
    const method = can?.sessionCapabilities?.resume != null ? 'session/resume' : 'session/load';
    if (method === 'session/load' && can?.loadSession !== true) return undefined;
    try {
      await this.#call(method, { ...place, sessionId });
      if (method === 'session/load') await this.#retold();
      return sessionId;
    } catch (cause) {
      if (!(cause instanceof AgentError && cause.cause instanceof JsonRpcRefusal)) throw cause;
      this.#notes.push(
        `the agent could not go on with its earlier conversation and begins a new one: ${refusalText(cause.cause)}`,
      );
      return undefined;
    }
  }

  /** Some tell part of the old conversation after they have answered; it must not be taken for the answer to a prompt. */
  async #retold(): Promise<void> {
    const silent = new Promise<void>((resolve) => {
      const silence = this.#process.later(silentMs, resolve);
      this.#connection.onHeard = () => silence.refresh();
      this.#process.later(retoldMs, resolve);
    });
    await Promise.race([silent, this.#aborted]);
    this.#connection.onHeard = undefined;
  }

  async #configure(sessionId: string): Promise<void> {
    const { mode, config = {} } = this.#params;
    if (mode !== undefined) await this.#call('session/set_mode', { sessionId, modeId: mode });
    for (const [configId, value] of Object.entries(config)) {
      await this.#call('session/set_config_option', { sessionId, configId, value });
    }
  }

  async #ask<T>(method: string, params: JsonObject, shape: Shape<T>): Promise<T> {
    const parsed = shape.safeParse(await this.#call(method, params));
    if (parsed.success) return parsed.data;
    throw this.#failure('protocol', `answered \`${method}\` with what cannot be read: ${whyNot(parsed.error)}`);
  }

  async #call(method: string, params: JsonObject): Promise<Json> {
    try {
      const left = Math.max(1, this.#deadline - Date.now());
      return await Promise.race([this.#connection.peer.request(method, params, left), this.#aborted]);
    } catch (cause) {
      if (cause instanceof JsonRpcRefusal) {
        throw this.#failure('init-refused', `refused ${refusalText(cause)}`, cause);
      }
      if (cause instanceof JsonRpcTimeout) {
        const within = this.#options.initTimeoutMs / 1000;
        throw this.#failure('init-timeout', `was not ready within ${within} s: no answer to \`${method}\``, cause);
      }
      throw cause;
    }
  }

  #failure(code: 'init-refused' | 'init-timeout' | 'protocol', why: string, cause?: Error): AgentError {
    const stderr = this.#connection.stderrText();
    const said = this.#connection.conceal(why);
    return new AgentError(code, `agent "${this.#connection.spec.name}" ${said}; ${stderrExcerpt(stderr)}`, {
      stderr,
      ...(cause === undefined ? {} : { cause }),
    });
  }
}
