import { randomUUID } from 'node:crypto';
import type { Readable, Writable } from 'node:stream';
import type { Json } from '@concerto/base';
import type { ConcertoClient, StartRequest } from '@concerto/client';
import * as z from 'zod';
import { AcpSession } from './acp-session.ts';
import { AcpError, AcpWire, invalidParams, noSuchMethod } from './acp-wire.ts';

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
const Block = z.looseObject({ type: z.string() });
const Prompt = z.object({ sessionId: z.string(), prompt: z.array(Block) });

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
        return this.#new(read(NewSession, params));
      case 'session/load':
        await this.#join(read(Named, params).sessionId, true);
        return {};
      case 'session/resume':
        await this.#join(read(Named, params).sessionId, false);
        return {};
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
        return { stopReason: await this.#session(sessionId).prompt(textOfBlocks(prompt)) };
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
        promptCapabilities: { image: false, audio: false, embeddedContext: true },
        mcpCapabilities: { http: true, sse: true },
        sessionCapabilities: { list: {}, resume: {}, close: {} },
      },
      agentInfo: { name: 'concerto', title: 'Concerto', version: this.#options.version },
      authMethods: [],
    };
  }

  #new({ mcpServers }: z.infer<typeof NewSession>): Json {
    const tools = mcpServers.length === 0 ? {} : { tools: { servers: toolServers(mcpServers) } };
    const id = `acp-${randomUUID()}`;
    const start = { ...this.#options.target, ...tools };
    this.#sessions.set(id, new AcpSession(this.wire, this.#options.client, { id, start }));
    return { sessionId: id };
  }

  async #join(id: string, isReplayed: boolean): Promise<void> {
    this.#sessions.get(id)?.leave();
    const session = new AcpSession(this.wire, this.#options.client, { id });
    this.#sessions.set(id, session);
    await session.load(isReplayed);
  }

  async #list(cursor: string | undefined): Promise<Json> {
    const page = await this.#options.client.list({ limit: 50, ...(cursor === undefined ? {} : { cursor }) });
    const cwd = process.cwd();
    return {
      sessions: page.sessions.map(({ id, title, updatedAt }) => ({ sessionId: id, cwd, title, updatedAt })),
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

/** Of what an editor adds to a prompt: texts stand in it, links are named, pictures cannot be taken yet. */
function textOfBlocks(blocks: readonly z.infer<typeof Block>[]): string {
  const texts = blocks.map((block) => {
    const resource: unknown = block.resource;
    if (block.type === 'text' && typeof block.text === 'string') return block.text;
    if (block.type === 'resource_link' && typeof block.uri === 'string') return `@${block.uri}`;
    if (block.type === 'resource' && isText(resource)) return `${resource.uri}:\n${resource.text}`;
    throw new AcpError(invalidParams, `a ${block.type} cannot be taken; text, links and embedded texts can`);
  });
  const text = texts.join('\n');
  if (text.trim() === '') throw new AcpError(invalidParams, 'the prompt is empty');
  return text;
}

function isText(value: unknown): value is { readonly uri: string; readonly text: string } {
  return (
    typeof value === 'object' && value !== null && 'uri' in value && 'text' in value && typeof value.text === 'string'
  );
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
