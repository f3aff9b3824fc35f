import { setTimeout as sleep } from 'node:timers/promises';
import { isNestedTooDeep, type Json, type JsonObject, jsonDepthMax, unreachable } from '@concerto/base';
import type { EndOptions, InterruptOptions, ProcessIdentity } from '@concerto/keeper';
import {
  type AgentCapability,
  type AgentCommand,
  type AgentLine,
  agentCapabilities,
  encodeAgentCommand,
  type InitAckMessage,
  type Line,
  LineError,
  parseAgentLine,
} from '@concerto/protocol';
import type {
  AgentConnection,
  AgentExit,
  AgentOutput,
  AgentPrompt,
  AgentReply,
  AgentSpec,
  AgentVerb,
  StartOptions,
} from './agent-connection.ts';
import { AgentError } from './agent-error.ts';
import type { AgentProcess } from './agent-process.ts';
import { OutputBuffer } from './output-buffer.ts';
import { PlainTextAnswer } from './plain-text.ts';
import { stderrExcerpt } from './stderr-tail.ts';

type TypedLine = Extract<AgentLine, { kind: 'message' }>;
type SaidLine = Extract<AgentOutput, { kind: 'message' }>;
type Handshake = { readonly accept: () => void; readonly refuse: (error: AgentError) => void };

/** The agent wire of our own: one JSON object a line, in both directions. */
export class NdjsonConnection implements AgentConnection {
  readonly spec: AgentSpec;
  readonly identity: ProcessIdentity;
  readonly exited: Promise<AgentExit>;
  readonly capabilities = new Set<AgentCapability>();
  readonly output: OutputBuffer<AgentOutput>;
  announced: readonly string[] = [];
  version: string | undefined;
  readonly #process: AgentProcess;
  readonly #plain: PlainTextAnswer;
  readonly #onLine: ((line: Line) => void) | undefined;
  #notice: ((message: string) => void) | undefined;
  #handshake: Handshake | undefined;

  constructor(spec: AgentSpec, agentProcess: AgentProcess, taps: Pick<StartOptions, 'onLine' | 'onNotice'> = {}) {
    this.#onLine = taps.onLine;
    this.#notice = taps.onNotice;
    this.spec = spec;
    this.identity = agentProcess.identity;
    this.exited = agentProcess.exited;
    this.#process = agentProcess;
    this.output = new OutputBuffer(agentProcess);
    this.#plain = new PlainTextAnswer({
      result: (text) => this.#sayPlain({ type: 'result', text }),
      log: (text) => this.#sayPlain({ type: 'log', message: text }),
      later: (ms, call) => agentProcess.later(ms, call),
    });
    agentProcess.readLines({
      line: (line) => this.#takeLine(line),
      isFull: () => this.output.isFull,
      end: (exit) => this.#finish(exit),
    });
  }

  /** Sends the params and waits for `init_ack`. Until it resolves nothing else may be asked. */
  async initialise(timeoutMs: number, signal: AbortSignal | undefined): Promise<void> {
    const acknowledged = new Promise<void>((accept, refuse) => {
      this.#handshake = { accept, refuse };
    });
    const settled = new AbortController();
    const limits = signal === undefined ? settled.signal : AbortSignal.any([settled.signal, signal]);
    try {
      await Promise.race([
        Promise.all([this.#send({ type: 'init', params: { ...this.spec.params } }), acknowledged]),
        sleep(timeoutMs, undefined, { signal: limits }).then(() => {
          throw this.#initTimeout(timeoutMs);
        }),
      ]);
    } finally {
      this.#handshake = undefined;
      settled.abort();
    }
  }

  async prompt({ text, ...rest }: AgentPrompt): Promise<void> {
    const isBareLine = this.#takesBareLine(text, rest.context);
    this.#plain.prompted();
    if (isBareLine) {
      const context = rest.context === undefined ? '' : `\\nContext: ${JSON.stringify(rest.context)}`;
      await this.#process.write(`${text}${context}`);
      return;
    }
    await this.#send({ type: 'prompt', text, prompt: text, ...rest });
  }

  async reply({ inReplyTo, inReplyToId, ...outcome }: AgentReply): Promise<void> {
    const id = inReplyToId === undefined ? {} : { in_reply_to_id: inReplyToId };
    await this.#send({ type: 'response', in_reply_to: inReplyTo, ...id, ...outcome });
  }

  async replyLine(line: string): Promise<void> {
    await this.#process.write(line);
  }

  async steer(steer: { readonly id: string; readonly text: string }): Promise<void> {
    this.#checkAnnounced('steer');
    await this.#send({ type: 'steer', ...steer });
  }

  async request(verb: AgentVerb, id: string): Promise<void> {
    this.#checkAnnounced(verb);
    await this.#send({ type: verb, id });
  }

  interruptProcess(options?: InterruptOptions): Promise<AgentExit | undefined> {
    return this.#process.interrupt(options);
  }

  freeze(): void {
    this.#process.freeze();
  }

  thaw(): void {
    this.#process.thaw();
  }

  end(options?: EndOptions): Promise<AgentExit> {
    return this.#process.end(options);
  }

  async #send(command: AgentCommand): Promise<void> {
    await this.#process.write(encodeAgentCommand(command));
  }

  /** One prompt is one line: a raw line end would make the agent read several prompts. */
  #takesBareLine(text: string, context: Json | undefined): boolean {
    const { name, inputFormat = 'json' } = this.spec;
    if (inputFormat === 'json' || hasParams(this.spec)) return false;
    const isOneLine = !/[\r\n]/.test(text);
    if (inputFormat === 'line-or-json') {
      if (isOneLine && context === undefined) return true;
      this.#notice?.(
        `agent "${name}" got this prompt as a JSON object, because it is no single line; \`input_format = "json"\` sends all of them so`,
      );
      this.#notice = undefined;
      return false;
    }
    if (isOneLine) return true;
    throw new AgentError(
      'prompt-refused',
      `agent "${name}" takes a prompt as one line of text (\`input_format = "text"\`), and this one has several; set \`input_format = "json"\` and read {"type":"prompt","text":…}, or prompt it with one line`,
    );
  }

  #checkAnnounced(capability: AgentCapability): void {
    if (this.capabilities.has(capability)) return;
    throw new AgentError('not-announced', `agent "${this.spec.name}" has not announced that it can ${capability}`);
  }

  #takeLine(line: Line): void {
    this.#onLine?.(line);
    this.#readLine(line);
  }

  #readLine(line: Line): void {
    if (line instanceof LineError) {
      this.#sayViolation(line);
      if (line.text !== undefined) this.#readLine(line.text);
      return;
    }
    const parsed = parseAgentLine(line);
    if (parsed.kind === 'message' && isTooDeep(parsed.raw, line)) this.#sayTooDeep();
    else if (parsed.kind === 'message') this.#readTyped(parsed, line.length);
    else this.#readPlain(parsed.text);
  }

  #readTyped(line: TypedLine, length: number): void {
    if (line.message.type === 'init_ack') {
      this.#plain.acknowledged();
      this.#announced(line.message);
    }
    if (!isSaid(line)) return;
    this.#plain.typedMessage();
    if (this.#handshake !== undefined && this.#settlesHandshake(line, this.#handshake)) return;
    this.output.push(line, length);
  }

  #readPlain(text: string): void {
    const rule = this.spec.plainText ?? 'result';
    switch (rule) {
      case 'result':
        this.#plain.line(text);
        return;
      case 'log':
        if (text.trim() !== '') this.#sayPlain({ type: 'log', message: text });
        return;
      case 'error':
        if (text.trim() !== '') this.#sayNotTyped(text);
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
    this.output.push({ kind: 'announced', capabilities: announced, ...version }, 0);
  }

  /** Before its ack an agent may report on its start; anything that belongs to a turn means it has not understood. */
  #settlesHandshake({ message }: TypedLine, handshake: Handshake): boolean {
    const name = this.spec.name;
    switch (message.type) {
      case 'error':
        handshake.refuse(
          new AgentError(
            'init-refused',
            `agent "${name}" refused its params: ${message.message}; ${this.#stderrExcerpt()}`,
            {
              stderr: this.#process.stderrText(),
            },
          ),
        );
        return true;
      case 'result':
      case 'question':
      case 'approval':
        handshake.refuse(
          new AgentError(
            'protocol',
            `agent "${name}" sent \`${message.type}\` before \`init_ack\`; an agent with params answers \`init\` first`,
            {
              stderr: this.#process.stderrText(),
            },
          ),
        );
        return true;
      default:
        return false;
    }
  }

  #initTimeout(timeoutMs: number): AgentError {
    return new AgentError(
      'init-timeout',
      `agent "${this.spec.name}" did not answer \`init\` with \`init_ack\` within ${timeoutMs / 1000} s; an agent with params must; ${this.#stderrExcerpt()}`,
      { stderr: this.#process.stderrText() },
    );
  }

  #stderrExcerpt(): string {
    return stderrExcerpt(this.#process.stderrText());
  }

  #sayPlain(message: { type: 'result'; text: string } | { type: 'log'; message: string }): void {
    const length = message.type === 'result' ? message.text.length : message.message.length;
    this.output.push({ kind: 'message', message, raw: message, plain: true }, length);
  }

  #sayNotTyped(text: string): void {
    const shown = text.length > 200 ? `${text.slice(0, 200)}…` : text;
    const error = new AgentError(
      'protocol',
      `agent "${this.spec.name}" wrote a line that is no typed message: ${shown}`,
    );
    this.output.push({ kind: 'violation', error, fatal: true }, shown.length);
  }

  #sayTooDeep(): void {
    const error = new AgentError(
      'protocol',
      `agent "${this.spec.name}" wrote a line that nests deeper than ${jsonDepthMax} levels`,
    );
    this.output.push({ kind: 'violation', error, fatal: true }, error.message.length);
  }

  #sayViolation(cause: LineError): void {
    const error = new AgentError(cause.code, `agent "${this.spec.name}": ${cause.message}`, { cause });
    // A line that was only repaired follows; one that was skipped may have been the result.
    this.output.push({ kind: 'violation', error, fatal: cause.code === 'line-too-long' }, error.message.length);
  }

  #finish(exit: AgentExit): void {
    this.#plain.exited();
    const error = this.#process.exitError(exit);
    this.#handshake?.refuse(error);
    this.output.push({ kind: 'exit', exit, error }, 0);
    this.output.end();
  }
}

function isSaid(line: TypedLine): line is SaidLine {
  return line.message.type !== 'init_ack';
}

/** A short line, which nearly every one is, has no room for that many brackets. */
function isTooDeep(raw: JsonObject, line: string): boolean {
  return line.length > 2 * jsonDepthMax && isNestedTooDeep(raw);
}

export function hasParams(spec: AgentSpec): boolean {
  return spec.params !== undefined && Object.keys(spec.params).length > 0;
}
