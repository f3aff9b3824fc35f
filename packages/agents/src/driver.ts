import { setTimeout as sleep } from 'node:timers/promises';
import type { EndOptions, InterruptOptions } from '@concerto/keeper';
import { type DriverParams, readDriverParams } from '@concerto/protocol';
import type { AgentConnection, AgentExit, AgentSpec, StartOptions } from './agent-connection.ts';
import { AgentError } from './agent-error.ts';
import { AgentLink } from './agent-link.ts';
import { startProcess } from './agent-process.ts';

export type DriverOptions = StartOptions & { readonly initTimeoutMs: number };

/** What a protocol makes of the process behind it; everything else is the same for all of them. */
export type Conversation = Pick<
  AgentConnection,
  'capabilities' | 'announced' | 'version' | 'prompt' | 'reply' | 'replyLine' | 'steer' | 'request' | 'configure'
>;

/** How an agent of one protocol is started. */
export type Driver = {
  /** Types of files that its agents take; undefined where they announce it. */
  readonly accepts?: readonly string[];
  /** Whether a new conversation of its agents can begin at a place in another one. */
  readonly forks?: true;
  /** Absent where params are whatever the agent understands. */
  readonly params?: Pick<DriverParams<unknown>, 'protocol' | 'shape' | 'settings'>;
  readonly start: (spec: AgentSpec, options: DriverOptions) => Promise<AgentConnection>;
};

/** A driver whose params are of a known shape, read before anything is started. */
export function driver<Params>(row: {
  readonly params: DriverParams<Params>;
  readonly accepts?: readonly string[];
  readonly forks?: true;
  readonly start: (spec: AgentSpec, params: Params, options: DriverOptions) => Promise<AgentConnection>;
}): Driver {
  const { params, start, accepts, forks } = row;
  return {
    ...(accepts === undefined ? {} : { accepts }),
    ...(forks === undefined ? {} : { forks }),
    params,
    start: async (spec, options) => {
      const read = readDriverParams(params, spec.params ?? {});
      if (!read.ok) throw new AgentError('init-refused', `agent "${spec.name}": ${read.error}`);
      return await start(spec, read.value, options);
    },
  };
}

/** Starts the process and opens the conversation; when that fails, nothing of the process is left. */
export async function openAgent(
  spec: AgentSpec,
  options: DriverOptions,
  launch: { readonly spec: AgentSpec; readonly variables?: Readonly<Record<string, string>> },
  open: (link: AgentLink) => Promise<Conversation>,
): Promise<AgentConnection> {
  // One that a keeper holds is there already, and is ended below.
  if (options.kept?.current === undefined) options.signal?.throwIfAborted();
  const { variables } = launch;
  const agentProcess = await startProcess(launch.spec, {
    ...options,
    ...(variables === undefined ? {} : { variables }),
  });
  try {
    await options.onProcess?.(agentProcess.identity);
    options.signal?.throwIfAborted();
    const link = new AgentLink(spec, agentProcess, options.onLine);
    return new DrivenAgent(link, await open(link));
  } catch (error) {
    await agentProcess.end({ stepMs: options.endGraceMs, atWork: true });
    throw error;
  }
}

/** The work in its time, or what to say when it takes longer. */
export async function withinStart<T>(
  work: Promise<T>,
  { initTimeoutMs, signal }: Pick<DriverOptions, 'initTimeoutMs' | 'signal'>,
  late: () => AgentError,
): Promise<T> {
  const settled = new AbortController();
  const limits = signal === undefined ? settled.signal : AbortSignal.any([settled.signal, signal]);
  // Nobody looks at it when the race is lost.
  work.catch(() => undefined);
  try {
    const limit = sleep(initTimeoutMs, undefined, { signal: limits }).then(() => {
      throw late();
    });
    return await Promise.race([work, limit]);
  } finally {
    settled.abort();
  }
}

class DrivenAgent implements AgentConnection {
  readonly spec: AgentSpec;
  readonly identity: AgentConnection['identity'];
  readonly output: AgentConnection['output'];
  readonly exited: Promise<AgentExit>;
  readonly prompt: AgentConnection['prompt'];
  readonly reply: AgentConnection['reply'];
  readonly replyLine?: NonNullable<AgentConnection['replyLine']>;
  readonly steer: AgentConnection['steer'];
  readonly request: AgentConnection['request'];
  readonly configure?: NonNullable<AgentConnection['configure']>;
  readonly #link: AgentLink;
  readonly #conversation: Conversation;

  constructor(link: AgentLink, conversation: Conversation) {
    this.#link = link;
    this.#conversation = conversation;
    this.spec = link.spec;
    this.identity = link.identity;
    this.output = link.output;
    this.exited = link.exited;
    this.prompt = (prompt) => conversation.prompt(prompt);
    this.reply = (reply) => conversation.reply(reply);
    if (conversation.replyLine !== undefined) this.replyLine = conversation.replyLine.bind(conversation);
    this.steer = (steer) => conversation.steer(steer);
    this.request = (verb, id) => conversation.request(verb, id);
    if (conversation.configure !== undefined) this.configure = conversation.configure.bind(conversation);
  }

  get capabilities() {
    return this.#conversation.capabilities;
  }

  get announced(): readonly string[] {
    return this.#conversation.announced ?? [...this.#conversation.capabilities];
  }

  get version(): string | undefined {
    return this.#conversation.version;
  }

  interruptProcess(options?: InterruptOptions): Promise<AgentExit | undefined> {
    return this.#link.interrupt(options);
  }

  freeze(): void {
    this.#link.freeze();
  }

  thaw(): void {
    this.#link.thaw();
  }

  end(options?: EndOptions): Promise<AgentExit> {
    return this.#link.end(options);
  }
}
