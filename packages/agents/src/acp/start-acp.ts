import { resolve } from 'node:path';
import type { JsonObject } from '@concerto/base';
import type { AcpParams } from '@concerto/protocol';
import { acpVersion, InitializeResult, SessionResult, SessionSwitches } from '@concerto/protocol/acp';
import type { AgentConnection, AgentSpec } from '../agent-connection.ts';
import { AgentError } from '../agent-error.ts';
import type { AgentLink } from '../agent-link.ts';
import { type DriverOptions, openAgent } from '../driver.ts';
import { JsonRpcRefusal } from '../json-rpc-peer.ts';
import { clientInfo, PeerHandshake, refusalText } from '../peer-link.ts';
import { AcpConversation } from './acp-conversation.ts';
import { switchesInfo } from './acp-info.ts';
import { acpServers } from './acp-servers.ts';
import { acpSwitches } from './acp-switch.ts';
import { toolNaming, whyUnruled } from './acp-tool-rules.ts';

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
export function startAcp(spec: AgentSpec, params: AcpParams, options: DriverOptions): Promise<AgentConnection> {
  return openAgent(spec, options, { spec }, async (link) => {
    const acp = new AcpConversation(link, params);
    await new Opening(link, acp, params, options).run();
    return acp;
  });
}

class Opening {
  readonly #link: AgentLink;
  readonly #acp: AcpConversation;
  readonly #params: AcpParams;
  readonly #options: DriverOptions;
  readonly #handshake: PeerHandshake;
  readonly #notes: string[] = [];
  #switches: SessionSwitches = {};

  constructor(link: AgentLink, acp: AcpConversation, params: AcpParams, options: DriverOptions) {
    this.#link = link;
    this.#acp = acp;
    this.#params = params;
    this.#options = options;
    this.#handshake = new PeerHandshake(link, acp.peer, options);
  }

  async run(): Promise<void> {
    const agent = await this.#handshake.ask(
      'initialize',
      { protocolVersion: acpVersion, clientCapabilities, clientInfo },
      InitializeResult,
    );
    if (agent.protocolVersion !== acpVersion) {
      throw this.#link.failure(
        'init-refused',
        `speaks version ${agent.protocolVersion} of its protocol, and we speak ${acpVersion}`,
      );
    }
    const naming = toolNaming(this.#params, agent.agentInfo?.name ?? undefined);
    const unruled = whyUnruled(this.#params, naming);
    if (unruled !== undefined) throw this.#link.failure('init-refused', unruled);
    if (this.#params.auth_method !== undefined)
      await this.#handshake.call('authenticate', { methodId: this.#params.auth_method });
    const sessionId = await this.#open(agent);
    await this.#configure(sessionId);
    const { agentCapabilities: can } = agent;
    const session = {
      sessionId,
      version: agent.agentInfo?.version ?? undefined,
      naming,
      steers: agent._meta?.steering?.supported === true,
      takes: [
        ...(can?.promptCapabilities?.image === true ? (['images'] as const) : []),
        ...(can?.promptCapabilities?.embeddedContext === true ? (['files'] as const) : []),
      ],
      isKept: can?.loadSession === true || can?.sessionCapabilities?.resume != null,
      isTakenUp: sessionId === this.#options.conversation,
      notes: this.#notes,
      switches: this.#switches,
    };
    const { spentMicroUsd } = this.#options;
    this.#acp.opened(session, spentMicroUsd === undefined ? undefined : spentMicroUsd / 1e6);
    const { version } = session;
    const offered = { promptCapabilities: can?.promptCapabilities ?? null, agent: agent.agentInfo ?? null };
    const extra: JsonObject = JSON.parse(JSON.stringify(offered));
    this.#link.say(
      switchesInfo(this.#switches, { ...chosen(this.#params), ...(version === undefined ? {} : { version }), extra }),
    );
  }

  async #open({ agentCapabilities: can, authMethods }: InitializeResult): Promise<string> {
    const { servers, left } = acpServers(this.#params.mcp_servers, {
      http: can?.mcpCapabilities?.http === true,
      sse: can?.mcpCapabilities?.sse === true,
    });
    if (left.length > 0)
      throw this.#link.failure('init-refused', `cannot have all of the session's servers: ${left.join('; ')}`);
    const { meta } = this.#params;
    const { extra_dirs: folders } = this.#params;
    if (folders !== undefined && can?.sessionCapabilities?.additionalDirectories == null) {
      throw this.#link.failure('init-refused', 'cannot be given `extra_dirs`: it works in one folder only');
    }
    const place = {
      cwd: resolve(this.#link.spec.workingDir ?? '.'),
      mcpServers: servers,
      ...(folders === undefined ? {} : { additionalDirectories: folders }),
      ...(meta === undefined ? {} : { _meta: meta }),
    };
    try {
      const takenUp = await this.#takeUp(can, place);
      if (takenUp !== undefined) return takenUp;
      const begun = await this.#handshake.ask('session/new', place, SessionResult);
      this.#switches = begun;
      return begun.sessionId;
    } catch (cause) {
      if (!(cause instanceof AgentError && cause.cause instanceof JsonRpcRefusal) || cause.cause.code !== authRequired)
        throw cause;
      const methods = (authMethods ?? []).map(({ id, name }) => (name == null ? id : `${id} (${name})`));
      const own = `run \`${this.#link.spec.command}\` in a terminal and log in`;
      const how = methods.length === 0 ? own : `${own}, or set params.auth_method to one of ${methods.join(', ')}`;
      throw this.#link.failure('init-refused', `is not logged in: ${how} (${cause.cause.message})`, cause.cause);
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
      this.#switches = await this.#handshake.ask(method, { ...place, sessionId }, SessionSwitches);
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
    const silent = new Promise<void>((told) => {
      const silence = this.#link.later(silentMs, told);
      this.#link.onHeard = () => silence.refresh();
      this.#link.later(retoldMs, told);
    });
    await this.#handshake.until(silent);
    this.#link.onHeard = undefined;
  }

  async #configure(sessionId: string): Promise<void> {
    const { model, mode, effort, config = {} } = this.#params;
    const { modes } = this.#switches;
    // One that does not say which modes it has may have them all the same.
    if (mode !== undefined && modes?.availableModes == null) {
      await this.#handshake.call('session/set_mode', { sessionId, modeId: mode });
    }
    const calls = acpSwitches(this.#switches, {
      ...(model === undefined ? {} : { model }),
      ...(mode === undefined || modes?.availableModes == null ? {} : { mode }),
      ...(effort === undefined ? {} : { effort }),
    });
    if (!calls.ok) {
      // An agent that goes on with a conversation may leave out what it offers: what stood then stands.
      if (sessionId !== this.#options.conversation) throw this.#link.failure('init-refused', calls.error);
      this.#notes.push(`the agent goes on as it was: it ${calls.error}`);
      return;
    }
    for (const { method, params } of calls.value) await this.#handshake.call(method, { sessionId, ...params });
    for (const [configId, value] of Object.entries(config)) {
      await this.#handshake.call('session/set_config_option', { sessionId, configId, value });
    }
  }
}

/** What was asked for and not refused stands. */
function chosen({ model, mode, effort }: AcpParams) {
  return {
    ...(model === undefined ? {} : { model }),
    ...(mode === undefined ? {} : { mode }),
    ...(effort === undefined ? {} : { effort }),
  };
}
