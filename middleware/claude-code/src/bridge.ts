import { type AgentConnection, AgentError, type AgentSpec, startAgent } from '@concerto/agents';
import type { Json, JsonObject } from '@concerto/base';

type Message = JsonObject & { readonly type: string };

export type BridgePorts = {
  /** One message of ours to whoever speaks to us. */
  readonly say: (message: JsonObject) => void;
  /** The variables that Claude Code gets. */
  readonly environment: Readonly<Record<string, string | undefined>>;
};

/** Concerto's agent wire on one side, the driver of Claude Code on the other: what either says is passed on as it is. */
export class Bridge {
  readonly #ports: BridgePorts;
  #params: JsonObject = {};
  #agent: Promise<AgentConnection> | undefined;
  /** Goes on in a new process when the old one has died. */
  #conversation: string | undefined;
  #isAtWork = false;

  constructor(ports: BridgePorts) {
    this.#ports = ports;
  }

  /** Never rejects: what cannot be done is told on the wire. */
  async take(message: Message): Promise<void> {
    try {
      await this.#obey(message);
    } catch (cause) {
      const code = cause instanceof AgentError ? cause.code : 'internal';
      this.#failed(code, cause instanceof Error ? cause.message : String(cause));
    }
  }

  async end(): Promise<void> {
    const agent = await this.#agent?.catch(() => undefined);
    await agent?.end();
  }

  async #obey(message: Message): Promise<void> {
    switch (message.type) {
      case 'init': {
        this.#params = isObject(message.params) ? message.params : {};
        const { version, capabilities } = await this.#up();
        return this.#ports.say({
          type: 'init_ack',
          capabilities: [...capabilities],
          ...(version === undefined ? {} : { version }),
        });
      }
      case 'prompt': {
        const agent = await this.#up();
        this.#isAtWork = true;
        const { context } = message;
        return await agent.prompt({ text: textIn(message.text), ...(context === undefined ? {} : { context }) });
      }
      case 'response':
        return await (await this.#up()).reply(replyOf(message));
      case 'steer': {
        const id = textIn(message.id);
        await (await this.#up()).steer({ id, text: textIn(message.text) });
        return this.#ports.say({ type: 'ack', in_reply_to: 'steer', in_reply_to_id: id });
      }
      case 'interrupt':
      case 'pause':
      case 'resume':
      case 'cancel':
        this.#isAtWork = false;
        return await (await this.#up()).request(message.type, textIn(message.id));
      default:
        return undefined;
    }
  }

  /** The program, started when it is first needed and again when it has died. */
  #up(): Promise<AgentConnection> {
    this.#agent ??= this.#start();
    return this.#agent;
  }

  async #start(): Promise<AgentConnection> {
    const { command = 'claude', ...params } = this.#params;
    const spec: AgentSpec = { name: 'claude', protocol: 'claude', command: textIn(command), params, env: this.#env() };
    const conversation = this.#conversation === undefined ? {} : { conversation: this.#conversation };
    try {
      const agent = await startAgent(spec, conversation);
      void this.#hear(agent);
      return agent;
    } catch (cause) {
      this.#agent = undefined;
      throw cause;
    }
  }

  async #hear(agent: AgentConnection): Promise<void> {
    for await (const batch of agent.output) {
      for (const said of batch) {
        if (said.kind === 'exit') this.#gone(said.error.message);
        if (said.kind === 'violation') this.#ports.say({ type: 'log', level: 'warn', message: said.error.message });
        if (said.kind !== 'message') continue;
        const { raw } = said;
        if (raw.type === 'conversation' && typeof raw.id === 'string') this.#conversation = raw.id;
        if (raw.type === 'result' || raw.type === 'error') this.#isAtWork = false;
        this.#ports.say(raw);
      }
    }
  }

  #gone(why: string): void {
    this.#agent = undefined;
    if (this.#isAtWork) this.#failed('exited', why);
  }

  #failed(code: string, message: string): void {
    this.#isAtWork = false;
    this.#ports.say({ type: 'error', code, message });
  }

  /** All of ours, as they are: whoever started us chose them. A text that looks like a reference of the driver is left out. */
  #env(): Readonly<Record<string, string>> {
    const entries = Object.entries(this.#ports.environment).flatMap(([name, value]) =>
      value === undefined || value.includes('${') ? [] : [[name, value] as const],
    );
    return Object.fromEntries(entries);
  }
}

function replyOf({ in_reply_to: inReplyTo, in_reply_to_id: id, value = null, reason, error }: Message) {
  const named = typeof id === 'string' || typeof id === 'number' ? { inReplyToId: id } : {};
  const to = { inReplyTo: textIn(inReplyTo), ...named };
  if (error !== undefined) return { ...to, error };
  return { ...to, value: typeof reason === 'string' ? { approved: false, reason } : value };
}

function textIn(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

function isObject(value: Json | undefined): value is JsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
