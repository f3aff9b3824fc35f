import { resolve } from 'node:path';
import type { Json, JsonObject } from '@concerto/base';
import type { CodexParams, Shape } from '@concerto/protocol';
import { ConfigResult, InitializeResult, ThreadResult } from '@concerto/protocol/codex';
import type { AgentConnection, AgentSpec, StartOptions } from '../agent-connection.ts';
import { AgentError } from '../agent-error.ts';
import { startProcess } from '../agent-process.ts';
import { readParams } from '../driver-params.ts';
import { JsonRpcRefusal, JsonRpcTimeout } from '../json-rpc-peer.ts';
import { CodexConnection } from './codex-connection.ts';
import { threadParams } from './codex-params.ts';

const clientInfo = { name: 'concerto', title: 'Concerto', version: '0.1.0' };

/** What would only fill the pipe: the item that follows says it again, as a whole. */
const unwanted = [
  'item/commandExecution/outputDelta',
  'item/fileChange/outputDelta',
  'item/fileChange/patchUpdated',
  'turn/diff/updated',
  'thread/started',
];

/** Starts `codex app-server` and opens a thread, or takes up the one that it is given. */
export async function startCodex(
  spec: AgentSpec,
  options: StartOptions & { readonly initTimeoutMs: number },
): Promise<AgentConnection> {
  const params = readParams(spec, 'codex');
  const workingDir = resolve(spec.workingDir ?? '.', params.work_dir ?? '.');
  options.signal?.throwIfAborted();
  const agentProcess = await startProcess({ ...spec, workingDir, args: [...(spec.args ?? []), 'app-server'] }, options);
  try {
    await options.onProcess?.(agentProcess.identity);
    options.signal?.throwIfAborted();
    const connection = new CodexConnection(spec, agentProcess, { params, onLine: options.onLine });
    await new Handshake(connection, options).run(params, workingDir);
    return connection;
  } catch (error) {
    await agentProcess.end({ stepMs: options.endGraceMs, atWork: true });
    throw error;
  }
}

/** All of it has one deadline. */
class Handshake {
  readonly #connection: CodexConnection;
  readonly #options: StartOptions & { readonly initTimeoutMs: number };
  readonly #deadline: number;

  constructor(connection: CodexConnection, options: StartOptions & { readonly initTimeoutMs: number }) {
    this.#connection = connection;
    this.#options = options;
    this.#deadline = Date.now() + options.initTimeoutMs;
  }

  async run(params: CodexParams, workingDir: string): Promise<void> {
    const capabilities = { experimentalApi: true, requestAttestation: false, optOutNotificationMethods: unwanted };
    const { userAgent } = await this.#ask('initialize', { clientInfo, capabilities }, InitializeResult);
    await this.#connection.peer.notify('initialized', {});
    const { id } = await this.#thread(threadParams(params, workingDir, await this.#others(params, workingDir)));
    this.#connection.opened(id, /\/(\d+\.\d+\.\d+\S*)/.exec(userAgent ?? '')?.[1]);
  }

  /** A session that says which tools it has, has no others: the servers of the program's own settings are left out. */
  async #others({ mcp_servers: own = {}, tools }: CodexParams, cwd: string): Promise<readonly string[]> {
    if (tools === undefined) return [];
    const { config } = await this.#ask('config/read', { includeLayers: false, cwd }, ConfigResult);
    return Object.keys(config.mcp_servers ?? {}).filter((name) => !Object.hasOwn(own, name));
  }

  async #thread(thread: JsonObject): Promise<{ readonly id: string }> {
    const { conversation } = this.#options;
    if (conversation === undefined) return (await this.#ask('thread/start', thread, ThreadResult)).thread;
    try {
      const resumed = { ...thread, threadId: conversation, excludeTurns: true };
      return (await this.#ask('thread/resume', resumed, ThreadResult)).thread;
    } catch (cause) {
      if (!(cause instanceof AgentError) || cause.code !== 'init-refused') throw cause;
      const begun = await this.#ask('thread/start', thread, ThreadResult);
      this.#connection.note(`conversation ${conversation} cannot be taken up; a new one begins (${cause.message})`);
      return begun.thread;
    }
  }

  async #ask<T>(method: string, params: JsonObject, shape: Shape<T>): Promise<T> {
    const { name } = this.#connection.spec;
    let answer: Json;
    try {
      const left = Math.max(1, this.#deadline - Date.now());
      answer = await abortable(this.#connection.peer.request(method, params, left), this.#options.signal);
    } catch (cause) {
      if (cause instanceof JsonRpcTimeout) {
        const within = this.#options.initTimeoutMs / 1000;
        const message = `agent "${name}" did not answer \`${method}\` within ${within} s; is it \`codex\`?`;
        throw new AgentError('init-timeout', message, { cause });
      }
      if (!(cause instanceof JsonRpcRefusal)) throw cause;
      throw new AgentError('init-refused', `agent "${name}": ${cause.message}`, { cause });
    }
    const read = shape.safeParse(answer);
    if (read.success) return read.data;
    throw new AgentError('protocol', `agent "${name}" answered \`${method}\` in a shape that is not known`);
  }
}

async function abortable<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return await work;
  signal.throwIfAborted();
  // The peer goes with the process; until then nobody looks at its answer.
  work.catch(() => undefined);
  return await new Promise<T>((accept, refuse) => {
    const abort = (): void => refuse(signal.reason instanceof Error ? signal.reason : new Error('aborted'));
    signal.addEventListener('abort', abort, { once: true });
    work.then(accept, refuse).finally(() => signal.removeEventListener('abort', abort));
  });
}
