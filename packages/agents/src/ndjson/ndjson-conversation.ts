import { isNestedTooDeep, type Json, type JsonObject, jsonDepthMax, unreachable } from '@concerto/base';
import {
  type AgentCapability,
  type AgentCommand,
  type AgentLine,
  agentCapabilities,
  encodeAgentCommand,
  type InitAckMessage,
  parseAgentLine,
} from '@concerto/protocol';
import type {
  AgentConnection,
  AgentOutput,
  AgentPrompt,
  AgentReply,
  AgentSpec,
  AgentSteer,
  AgentVerb,
  StartOptions,
} from '../agent-connection.ts';
import { AgentError } from '../agent-error.ts';
import type { AgentLink } from '../agent-link.ts';
import { type Conversation, type DriverOptions, openAgent, withinStart } from '../driver.ts';
import { PlainTextAnswer } from './plain-text.ts';

type TypedLine = Extract<AgentLine, { kind: 'message' }>;
type SaidLine = Extract<AgentOutput, { kind: 'message' }>;
type Handshake = { readonly accept: () => void; readonly refuse: (error: AgentError) => void };

/** Starts an agent of our own wire; one with params is up when it has taken them. */
export function startNdjson(spec: AgentSpec, options: DriverOptions): Promise<AgentConnection> {
  return openAgent(spec, options, { spec }, async (link) => {
    const conversation = new NdjsonConversation(link, options.onNotice);
    if (hasParams(spec)) await conversation.initialise(options);
    return conversation;
  });
}

/** The agent wire of our own: one JSON object a line, in both directions. */
class NdjsonConversation implements Conversation {
  readonly capabilities = new Set<AgentCapability>();
  announced: readonly string[] = [];
  version: string | undefined;
  readonly #link: AgentLink;
  readonly #plain: PlainTextAnswer;
  readonly #onNotice: StartOptions['onNotice'];
  #isTold = false;
  #handshake: Handshake | undefined;

  constructor(link: AgentLink, onNotice: StartOptions['onNotice']) {
    this.#link = link;
    this.#onNotice = onNotice;
    this.#plain = new PlainTextAnswer({
      result: (text) => this.#sayPlain({ type: 'result', text }),
      log: (text) => this.#sayPlain({ type: 'log', message: text }),
      later: (ms, call) => link.later(ms, call),
    });
    link.read({
      line: (line) => this.#readLine(line),
      end: (error) => {
        this.#plain.exited();
        this.#handshake?.refuse(error);
      },
    });
  }

  /** Sends the params and waits for `init_ack`. Until it resolves nothing else may be asked. */
  async initialise(options: DriverOptions): Promise<void> {
    const acknowledged = new Promise<void>((accept, refuse) => {
      this.#handshake = { accept, refuse };
    });
    const asked = Promise.all([this.#send({ type: 'init', params: { ...this.#link.spec.params } }), acknowledged]);
    const within = options.initTimeoutMs / 1000;
    const late = `did not answer \`init\` with \`init_ack\` within ${within} s; an agent with params must`;
    try {
      await withinStart(asked, options, () => this.#link.failure('init-timeout', late));
    } finally {
      this.#handshake = undefined;
    }
  }

  async prompt({ text, parts, context, session, id }: AgentPrompt): Promise<void> {
    const isBareLine = parts === undefined && this.#takesBareLine(text, context);
    this.#plain.prompted();
    if (isBareLine) {
      const shown = context === undefined ? '' : `\nContext: ${displayed(context)}`;
      await this.#link.write(oneLine(`${text}${shown}`));
      return;
    }
    // Each by its name: nothing else that a caller has reaches the agent. What is undefined is no key of the line.
    const rest = { parts: parts === undefined ? undefined : [...parts], context, session, id };
    await this.#send({ type: 'prompt', text, prompt: text, ...rest });
  }

  reply({ inReplyTo, inReplyToId, ...outcome }: AgentReply): Promise<void> {
    const id = inReplyToId === undefined ? {} : { in_reply_to_id: inReplyToId };
    return this.#send({ type: 'response', in_reply_to: inReplyTo, ...id, ...outcome });
  }

  async replyLine(line: string): Promise<void> {
    await this.#link.write(line);
  }

  async steer({ id, text, parts }: AgentSteer): Promise<void> {
    this.#checkAnnounced('steer');
    await this.#send({ type: 'steer', id, text, ...(parts === undefined ? {} : { parts: [...parts] }) });
  }

  async request(verb: AgentVerb, id: string): Promise<void> {
    this.#checkAnnounced(verb);
    await this.#send({ type: verb, id });
  }

  #send(command: AgentCommand): Promise<void> {
    return this.#link.write(encodeAgentCommand(command));
  }

  #takesBareLine(text: string, context: Json | undefined): boolean {
    const { name, inputFormat = 'json' } = this.#link.spec;
    if (inputFormat === 'json' || hasParams(this.#link.spec)) return false;
    const isOneLine = !/[\r\n]/.test(text);
    if (inputFormat === 'line-or-json') {
      if (isOneLine && context === undefined) return true;
      this.#tellOnce(
        `agent "${name}" got this prompt as a JSON object, because it is no single line; \`input_format = "json"\` sends all of them so`,
      );
      return false;
    }
    if (!isOneLine)
      this.#tellOnce(
        `agent "${name}" got the lines of this prompt as one, with \\n between them, because it takes a line of text (\`input_format = "text"\`); \`input_format = "json"\` sends them as they are`,
      );
    return true;
  }

  /** Where nobody else listens for it, whoever looks at the session reads it. */
  #tellOnce(notice: string): void {
    if (this.#isTold) return;
    this.#isTold = true;
    if (this.#onNotice === undefined) this.#link.warn(notice);
    else this.#onNotice(notice);
  }

  #checkAnnounced(capability: AgentCapability): void {
    if (this.capabilities.has(capability)) return;
    throw new AgentError(
      'not-announced',
      `agent "${this.#link.spec.name}" has not announced that it can ${capability}`,
    );
  }

  #readLine(line: string): void {
    const parsed = parseAgentLine(line);
    if (parsed.kind === 'plain') this.#readPlain(parsed.text);
    else if (isTooDeep(parsed.raw, line)) this.#violates(`wrote a line that nests deeper than ${jsonDepthMax} levels`);
    else this.#readTyped(parsed);
  }

  #readTyped(line: TypedLine): void {
    if (line.message.type === 'init_ack') {
      this.#plain.acknowledged();
      this.#announced(line.message);
      // It announces less than its author thinks, and has nothing else by which that is seen.
      if (line.problem !== undefined)
        this.#link.warn(`${line.problem}; \`concerto doctor ${this.#link.spec.name}\` shows how it should look`);
    }
    if (!isSaid(line)) return;
    this.#plain.typedMessage();
    if (this.#handshake !== undefined && this.#settlesHandshake(line, this.#handshake)) return;
    this.#link.say(line);
  }

  #readPlain(text: string): void {
    const rule = this.#link.spec.plainText ?? 'result';
    switch (rule) {
      case 'result':
        this.#plain.line(text);
        return;
      case 'log':
        if (text.trim() !== '') this.#sayPlain({ type: 'log', message: text });
        return;
      case 'error':
        if (text.trim() !== '') this.#violates(`wrote a line that is no typed message: ${shortly(text)}`);
        return;
      default:
        unreachable(rule);
    }
  }

  #announced(ack: InitAckMessage): void {
    const announced = agentCapabilities.filter((capability) => ack.capabilities?.includes(capability));
    this.capabilities.clear();
    for (const capability of announced) this.capabilities.add(capability);
    this.announced = [...new Set(ack.capabilities)];
    this.version = ack.version;
    if (this.#handshake !== undefined) {
      this.#handshake.accept();
      return;
    }
    const version = ack.version === undefined ? {} : { version: ack.version };
    this.#link.say({ kind: 'announced', capabilities: announced, ...version });
  }

  /** Before its ack an agent may report on its start; anything that belongs to a turn means it has not understood. */
  #settlesHandshake({ message }: TypedLine, handshake: Handshake): boolean {
    switch (message.type) {
      case 'error':
        handshake.refuse(this.#link.failure('init-refused', `refused its params: ${message.message}`));
        return true;
      case 'result':
      case 'question':
      case 'approval': {
        const why = `sent \`${message.type}\` before \`init_ack\`; an agent with params answers \`init\` first`;
        handshake.refuse(this.#link.failure('protocol', why));
        return true;
      }
      default:
        return false;
    }
  }

  #sayPlain(message: { type: 'result'; text: string } | { type: 'log'; message: string }): void {
    this.#link.say({ kind: 'message', message, raw: message, plain: true });
  }

  #violates(why: string): void {
    const error = new AgentError('protocol', `agent "${this.#link.spec.name}" ${why}`);
    this.#link.say({ kind: 'violation', error, fatal: true });
  }
}

/** As a program's `emit` would show it. */
function displayed(value: Json): string {
  if (value === null) return 'nil';
  if (typeof value !== 'object') return String(value);
  if (Array.isArray(value)) return `[${value.map(displayed).join(', ')}]`;
  return `{${Object.entries(value)
    .map(([key, item]) => `"${key}": ${displayed(item)}`)
    .join(', ')}}`;
}

/** One prompt is one line: a raw line end would make the agent read several prompts. */
function oneLine(text: string): string {
  return text.replaceAll(/\r\n|\r|\n/g, '\\n');
}

function shortly(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

function isSaid(line: TypedLine): line is SaidLine {
  return line.message.type !== 'init_ack';
}

/** A short line, which nearly every one is, has no room for that many brackets. */
function isTooDeep(raw: JsonObject, line: string): boolean {
  return line.length > 2 * jsonDepthMax && isNestedTooDeep(raw);
}

function hasParams(spec: AgentSpec): boolean {
  return spec.params !== undefined && Object.keys(spec.params).length > 0;
}
