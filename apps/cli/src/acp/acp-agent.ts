import { randomUUID } from 'node:crypto';
import type { Readable, Writable } from 'node:stream';
import type { Json, JsonObject } from '@concerto/base';
import type { ConcertoClient, StartRequest } from '@concerto/client';
import { activeAtOf, liveSettings } from '@concerto/protocol';
import * as z from 'zod';
import { AcpSession } from './acp-session.ts';
import { AcpError, AcpWire, invalidParams, noSuchMethod } from './acp-wire.ts';
import { contentOf, PromptBlocks } from './prompt-blocks.ts';

type Target = Pick<StartRequest, 'agent' | 'program' | 'assistant'>;

export type AcpOptions = {
  readonly client: ConcertoClient;
  readonly target: Target;
  readonly version: string;
  readonly input: Readable;
  readonly output: Writable;
};

const Pair = z.object({ name: z.string(), value: z.string() });
const McpServer = z.union([
  z.object({ type: z.literal('http'), name: z.string(), url: z.string(), headers: z.array(Pair).default([]) }),
  z.object({ type: z.literal('sse'), name: z.string(), url: z.string(), headers: z.array(Pair).default([]) }),
  z.object({
    name: z.string(),
    command: z.string(),
    args: z.array(z.string()).default([]),
    env: z.array(Pair).default([]),
  }),
]);
const NewSession = z.object({ cwd: z.string(), mcpServers: z.array(McpServer).default([]) });
const Named = z.object({ sessionId: z.string() });
const Listed = z.object({ cursor: z.string().nullish() });
const Prompt = z.object({ sessionId: z.string(), prompt: PromptBlocks });
const Mode = z.object({ sessionId: z.string(), modeId: z.string() });
const Option = z.object({ sessionId: z.string(), configId: z.string(), value: z.string() });

/** An agent for an editor: each of its sessions is one of the server's, and everybody else sees it too. */
export async function serveAcp(options: AcpOptions): Promise<void> {
  const agent = new AcpAgent(options);
  await agent.wire.serve(options.input, {
    request: (method, params) => agent.request(method, params),
    notification: (method, params) => agent.notification(method, params),
  });
  agent.leave();
}

class AcpAgent {
  readonly wire: AcpWire;
  readonly #options: AcpOptions;
  readonly #sessions = new Map<string, AcpSession>();

  constructor(options: AcpOptions) {
    this.#options = options;
    this.wire = new AcpWire(options.output);
  }

  leave(): void {
    for (const session of this.#sessions.values()) session.leave();
  }

  async request(method: string, params: Json): Promise<Json> {
    switch (method) {
      case 'initialize':
        return this.#introduction();
      case 'authenticate':
        return {};
      case 'session/new':
        return await this.#new(read(NewSession, params));
      case 'session/load':
        return await this.#join(read(Named, params).sessionId, true);
      case 'session/resume':
        return await this.#join(read(Named, params).sessionId, false);
      case 'session/fork': {
        const { id } = await this.#options.client.fork(read(Named, params).sessionId);
        return { sessionId: id, ...(await this.#join(id, false)) };
      }
      case 'session/list':
        return await this.#list(read(Listed, params ?? {}).cursor ?? undefined);
      case 'session/close': {
        const { sessionId } = read(Named, params);
        this.#sessions.get(sessionId)?.leave();
        this.#sessions.delete(sessionId);
        return {};
      }
      case 'session/prompt': {
        const { sessionId, prompt } = read(Prompt, params);
        return { stopReason: await this.#session(sessionId).prompt(contentOf(prompt)) };
      }
      case 'session/set_mode': {
        const { sessionId, modeId } = read(Mode, params);
        await this.#session(sessionId).set('mode', modeId);
        return {};
      }
      case 'session/set_config_option': {
        const { sessionId, configId, value } = read(Option, params);
        const session = this.#session(sessionId);
        await session.set(configId, value);
        return asJson({ configOptions: session.options() });
      }
      default:
        throw new AcpError(noSuchMethod, `there is no ${method} here`);
    }
  }

  notification(method: string, params: Json): void {
    const named = Named.safeParse(params);
    if (method !== 'session/cancel' || !named.success) return;
    this.#sessions
      .get(named.data.sessionId)
      ?.cancel()
      .catch(() => undefined);
  }

  #introduction(): Json {
    return {
      protocolVersion: 1,
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { image: true, audio: true, embeddedContext: true },
        mcpCapabilities: { http: true, sse: true },
        sessionCapabilities: { list: {}, resume: {}, close: {}, fork: {} },
      },
      agentInfo: { name: 'concerto', title: 'Concerto', version: this.#options.version },
      authMethods: [],
    };
  }

  async #new({ cwd, mcpServers }: z.infer<typeof NewSession>): Promise<Json> {
    const { client, target } = this.#options;
    const entry = (await client.agents()).agents.find(({ kind, name }) => target[kind] === name);
    const allowed = entry?.perSession ?? [];
    const start = {
      ...target,
      ...(mcpServers.length === 0 ? {} : { tools: { servers: toolServers(mcpServers) } }),
      // Where sessions may not choose, they work where the manifest says.
      ...(allowed.includes('working_dir') ? { workingDir: cwd } : {}),
    };
    const settable = liveSettings.filter((name) => allowed.includes(name));
    const id = `acp-${randomUUID()}`;
    const session = new AcpSession(this.wire, client, { id, start, offers: entry?.offers ?? {}, settable });
    this.#sessions.set(id, session);
    return asJson({ sessionId: id, ...session.choices() });
  }

  async #join(id: string, isReplayed: boolean): Promise<JsonObject> {
    const { client } = this.#options;
    const { live: settable, ...offers } = await client.agent(id);
    this.#sessions.get(id)?.leave();
    const session = new AcpSession(this.wire, client, { id, offers, settable });
    this.#sessions.set(id, session);
    await session.load(isReplayed);
    return asJson(session.choices());
  }

  async #list(cursor: string | undefined): Promise<Json> {
    const page = await this.#options.client.list({ limit: 50, ...(cursor === undefined ? {} : { cursor }) });
    return {
      sessions: page.sessions.map((session) => ({
        sessionId: session.id,
        cwd: session.settings?.workingDir ?? process.cwd(),
        title: session.title,
        updatedAt: activeAtOf(session),
      })),
      ...(page.nextCursor === undefined ? {} : { nextCursor: page.nextCursor }),
    };
  }

  #session(id: string): AcpSession {
    const session = this.#sessions.get(id);
    if (session === undefined)
      throw new AcpError(invalidParams, `there is no session ${JSON.stringify(id)}; load it first`);
    return session;
  }
}

function read<S extends z.core.$ZodType>(schema: S, params: Json): z.output<S> {
  const parsed = z.safeParse(schema, params);
  if (parsed.success) return parsed.data;
  throw new AcpError(invalidParams, z.prettifyError(parsed.error).replaceAll(/\s+/g, ' '));
}

function asJson(value: object): JsonObject {
  return JSON.parse(JSON.stringify(value));
}

/** The servers that the editor hands on; what they are told in secret is theirs to keep out of here. */
function toolServers(servers: readonly z.infer<typeof McpServer>[]): { [name: string]: Json } {
  const named = (pairs: readonly z.infer<typeof Pair>[]): { [name: string]: Json } =>
    Object.fromEntries(pairs.map(({ name, value }) => [name, value]));
  return Object.fromEntries(
    servers.map((server) => {
      if (!('command' in server)) {
        return [server.name, { transport: server.type, url: server.url, headers: named(server.headers) }];
      }
      const { name, command, args, env } = server;
      return [name, { transport: 'stdio', command, args, env: named(env) }];
    }),
  );
}
