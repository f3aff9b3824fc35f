import { tmpdir } from 'node:os';
import { resolve } from 'node:path';
import type { JsonObject } from '@concerto/base';
import type { CodexParams } from '@concerto/protocol';
import { AccountResult, ConfigResult, InitializeResult, ModelsResult, ThreadResult } from '@concerto/protocol/codex';
import type { AgentConnection, AgentSpec } from '../agent-connection.ts';
import { AgentError } from '../agent-error.ts';
import type { AgentLink } from '../agent-link.ts';
import { type DriverOptions, openAgent } from '../driver.ts';
import { agentInfo } from '../driver-output.ts';
import { clientInfo, PeerHandshake } from '../peer-link.ts';
import { CodexConversation } from './codex-conversation.ts';
import { threadParams } from './codex-params.ts';
import { whyUnguarded, whyWithoutHelpers } from './codex-sandbox.ts';

/** What would only fill the pipe: the item that follows says it again, as a whole. */
const unwanted = ['item/fileChange/outputDelta', 'item/fileChange/patchUpdated', 'turn/diff/updated', 'thread/started'];

const howToLogIn = 'run `codex login` in a terminal, or name a provider in its `config.toml`';

/** Starts `codex app-server` and opens a thread, or takes up the one that it is given. */
export async function startCodex(
  spec: AgentSpec,
  params: CodexParams,
  options: DriverOptions,
): Promise<AgentConnection> {
  const unguarded = await whyUnguarded(spec);
  if (unguarded !== undefined && params.sandbox === 'read-only') {
    throw new AgentError(
      'init-refused',
      `agent "${spec.name}": \`sandbox = "read-only"\` cannot be held: ${unguarded}`,
    );
  }
  const workingDir = resolve(spec.workingDir ?? '.', params.work_dir ?? '.');
  const launched = { ...spec, workingDir, args: [...(spec.args ?? []), 'app-server'] };
  return await openAgent(spec, options, { spec: launched }, async (link) => {
    const codex = new CodexConversation(link, params);
    if (unguarded !== undefined) link.warn(unguarded);
    await new Opening(link, codex, options).run(params, workingDir);
    return codex;
  });
}

class Opening {
  readonly #link: AgentLink;
  readonly #codex: CodexConversation;
  readonly #options: DriverOptions;
  readonly #handshake: PeerHandshake;

  constructor(link: AgentLink, codex: CodexConversation, options: DriverOptions) {
    this.#link = link;
    this.#codex = codex;
    this.#options = options;
    this.#handshake = new PeerHandshake(link, codex.peer, options);
  }

  async run(params: CodexParams, workingDir: string): Promise<void> {
    const capabilities = { experimentalApi: true, requestAttestation: false, optOutNotificationMethods: unwanted };
    const { userAgent, codexHome } = await this.#handshake.ask(
      'initialize',
      { clientInfo, capabilities },
      InitializeResult,
    );
    await this.#codex.peer.notify('initialized', {});
    const opened = await this.#thread(threadParams(params, workingDir, await this.#others(params, workingDir)));
    const version = /\/(\d+\.\d+\.\d+\S*)/.exec(userAgent ?? '')?.[1];
    const { model } = opened;
    this.#codex.opened(opened.thread.id, { version, ...(model == null ? {} : { model }) });
    await this.#introduce(opened, version, params);
    const helpless = whyWithoutHelpers(codexHome, this.#link.spec.env?.TMPDIR ?? tmpdir());
    if (helpless !== undefined) this.#link.warn(helpless);
  }

  /** What it offers, and whether it can be asked anything at all; an older program may not know. */
  async #introduce(opened: ThreadResult, version: string | undefined, params: CodexParams): Promise<void> {
    const [models, login] = await Promise.all([
      this.#handshake.offer('model/list', {}, ModelsResult),
      this.#handshake.offer('account/read', { refreshToken: false }, AccountResult),
    ]);
    const isStranger = login?.requiresOpenaiAuth === true && login.account == null;
    const { model, cwd, approvalPolicy, sandbox, reasoningEffort, instructionSources } = opened;
    const extra = { cwd, approvalPolicy, sandbox, reasoningEffort, instructionSources, account: login?.account };
    this.#link.say(
      agentInfo({
        ...(models === undefined
          ? {}
          : {
              models: models.data
                .filter(({ hidden }) => hidden !== true)
                .map(({ id, displayName: name, description }) => ({
                  id,
                  ...(name == null ? {} : { name }),
                  ...(description == null ? {} : { description }),
                })),
            }),
        ...(model == null ? {} : { model }),
        modes: ['untrusted', 'on-request', 'never'].map((id) => ({ id })),
        mode: params.approval_policy,
        ...(version === undefined ? {} : { version }),
        ...(login === undefined ? {} : { login: isStranger ? howToLogIn : '' }),
        extra: JSON.parse(JSON.stringify(extra)),
      }),
    );
    if (isStranger) this.#link.warn(`not logged in: ${howToLogIn}`);
  }

  /** A session that says which tools it has, has no others: the servers of the program's own settings are left out. */
  async #others({ mcp_servers: own = {}, tools }: CodexParams, cwd: string): Promise<readonly string[]> {
    if (tools === undefined) return [];
    const { config } = await this.#handshake.ask('config/read', { includeLayers: false, cwd }, ConfigResult);
    return Object.keys(config.mcp_servers ?? {}).filter((name) => !Object.hasOwn(own, name));
  }

  async #thread(thread: JsonObject): Promise<ThreadResult> {
    const { conversation, fork } = this.#options;
    if (fork !== undefined) {
      const forked = { ...thread, threadId: fork.id, lastTurnId: fork.upTo, excludeTurns: true };
      return await this.#handshake.ask('thread/fork', forked, ThreadResult);
    }
    if (conversation === undefined) return await this.#handshake.ask('thread/start', thread, ThreadResult);
    try {
      const resumed = { ...thread, threadId: conversation, excludeTurns: true };
      return await this.#handshake.ask('thread/resume', resumed, ThreadResult);
    } catch (cause) {
      if (!(cause instanceof AgentError) || cause.code !== 'init-refused') throw cause;
      const begun = await this.#handshake.ask('thread/start', thread, ThreadResult);
      this.#link.warn(`conversation ${conversation} cannot be taken up; a new one begins (${cause.message})`);
      return begun;
    }
  }
}
