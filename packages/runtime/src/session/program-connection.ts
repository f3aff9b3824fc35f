import {
  type AgentConnection,
  AgentError,
  type AgentExit,
  type AgentOutput,
  type AgentPrompt,
  type AgentReply,
  type AgentSpec,
  type AgentVerb,
} from '@concerto/agents';
import type { Json, JsonObject } from '@concerto/base';
import type { AgentCapability } from '@concerto/protocol';
import { display, toJson, type Value } from '@concerto/vm';
import type { LoadedProgram } from '../catalog.ts';
import type { ProgramWorld } from '../program/program-world.ts';
import { runProgram } from '../program/run-program.ts';
import { MessageQueue } from './message-queue.ts';

type Spoken = Extract<AgentOutput, { kind: 'message' }>;

/**
 * A Concerto program in the place of an agent: a session drives it, and everybody sees it, like any other. Its emits
 * are messages, `await emit` is a question, its end is the result. Each prompt runs it once from the beginning.
 */
export class ProgramConnection implements AgentConnection {
  readonly spec: AgentSpec;
  readonly identity = { pid: 0, startTime: 'in-process', marker: '' };
  readonly capabilities: ReadonlySet<AgentCapability> = new Set(['interrupt', 'cancel']);
  readonly version = undefined;
  readonly output = new MessageQueue<AgentOutput>();
  readonly exited: Promise<AgentExit>;
  readonly #program: LoadedProgram;
  readonly #asked = new Map<string, (answer: Json) => void>();
  #running = new AbortController();
  #finished: Promise<void> = Promise.resolve();
  #questions = 0;
  #exit: AgentExit | undefined;
  #resolveExit: (exit: AgentExit) => void = () => {};

  constructor(spec: AgentSpec, program: LoadedProgram) {
    this.spec = spec;
    this.#program = program;
    this.exited = new Promise((resolve) => {
      this.#resolveExit = resolve;
    });
  }

  async prompt(prompt: AgentPrompt): Promise<void> {
    this.#running = new AbortController();
    this.#finished = this.#run(prompt, this.#running.signal).catch((cause: unknown) => {
      this.#fail(cause instanceof Error ? cause.message : String(cause));
    });
  }

  async reply(reply: AgentReply): Promise<void> {
    this.#asked.get(String(reply.inReplyToId))?.('value' in reply ? reply.value : null);
  }

  async steer(): Promise<void> {
    throw new AgentError('not-announced', `program "${this.spec.name}" cannot be steered`);
  }

  async request(verb: AgentVerb, id: string): Promise<void> {
    await this.#stopRunning();
    const ack = { type: 'ack' as const, in_reply_to: verb, in_reply_to_id: id };
    this.#say(ack, ack);
  }

  async interruptProcess(): Promise<undefined> {
    await this.#stopRunning();
  }

  freeze(): void {
    // There is no process to stop; a program is held where its next prompt would start.
  }

  thaw(): void {
    // See freeze.
  }

  async end(): Promise<AgentExit> {
    await this.#stopRunning();
    if (this.#exit === undefined) {
      this.#exit = { code: 0, signal: null, stderr: '' };
      const error = new AgentError('exited', `program "${this.spec.name}" was ended`);
      this.output.push({ kind: 'exit', exit: this.#exit, error });
      this.output.end();
      this.#resolveExit(this.#exit);
    }
    return this.#exit;
  }

  async #stopRunning(): Promise<void> {
    this.#running.abort();
    await this.#finished;
  }

  async #run(prompt: AgentPrompt, signal: AbortSignal): Promise<void> {
    const outcome = await runProgram(this.#program.module, this.#world(prompt), { entry: 'main', signal });
    if (signal.aborted) return;
    if (outcome.status === 'failed') return this.#fail(outcome.failure.message);
    const { value } = outcome;
    if (value !== null && typeof value === 'object' && value.kind === 'err') return this.#fail(display(value.value));
    const result = { ...resultOf(value), type: 'result' as const };
    this.#say(result, result);
  }

  #world(prompt: AgentPrompt): ProgramWorld {
    const log = (level: string, message: string): void =>
      this.#say({ type: 'log', level, message }, { type: 'log', level, message });
    return {
      emit: (channel, payload) => {
        if (channel === 'listen:log' || channel === 'listen:stale') return;
        const fields = { ...fieldsOf(payload), type: channel };
        this.#say(fields, { type: 'custom', name: channel, fields });
      },
      print: (text) => log('info', text.trimEnd()),
      log,
      ask: (channel, payload, signal) => this.#ask(channel, payload, signal),
      environment: { ...process.env, CONCERTO_PROMPT: prompt.text },
      directory: this.#program.projectDirectory,
      projectDirectory: this.#program.projectDirectory,
      mockModels: this.#program.mockModels ?? false,
    };
  }

  async #ask(channel: string, payload: Value, signal: AbortSignal): Promise<Json> {
    this.#questions++;
    const id = `ask-${this.#questions}`;
    const question = questionOf(channel, payload, id);
    const answered = new Promise<Json>((resolve) => this.#asked.set(id, resolve));
    const left = new Promise<Json>((resolve) => signal.addEventListener('abort', () => resolve(null), { once: true }));
    this.#say(question, question);
    return await Promise.race([answered, left]).finally(() => this.#asked.delete(id));
  }

  #fail(message: string): void {
    this.#say({ type: 'error', message }, { type: 'error', message });
  }

  #say(raw: Spoken['raw'], message: Spoken['message']): void {
    if (this.#exit === undefined) this.output.push({ kind: 'message', message, raw });
  }
}

type Question =
  | {
      readonly type: 'question';
      readonly id: string;
      readonly question: string;
      readonly channel: string;
      readonly options?: string[];
      readonly context?: Json;
    }
  | {
      readonly type: 'approval';
      readonly id: string;
      readonly description: string;
      readonly channel: string;
      readonly risk_level?: string;
    };

/** A payload that looks like an agent's own question or approval keeps its form; anything else is asked as text. */
function questionOf(channel: string, payload: Value, id: string): Question {
  const json = toJson(payload);
  const fields: JsonObject = isObject(json) ? json : {};
  if (typeof fields.description === 'string') {
    const risk = typeof fields.risk_level === 'string' ? { risk_level: fields.risk_level } : {};
    return { type: 'approval', id, description: fields.description, channel, ...risk };
  }
  const question = typeof fields.question === 'string' ? fields.question : display(payload);
  const options = Array.isArray(fields.options) ? { options: fields.options.map(String) } : {};
  return { type: 'question', id, question, channel, ...options };
}

function fieldsOf(payload: Value): JsonObject {
  const json = toJson(payload);
  return isObject(json) ? json : { value: json };
}

function resultOf(value: Value): JsonObject {
  const inner = value !== null && typeof value === 'object' && value.kind === 'ok' ? value.value : value;
  const json = toJson(inner);
  if (isObject(json)) return json;
  if (json === null) return { text: 'done' };
  return typeof json === 'string' ? { text: json } : { text: display(inner), value: json };
}

function isObject(value: Json): value is JsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
