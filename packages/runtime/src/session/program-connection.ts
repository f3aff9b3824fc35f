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
import type { Json } from '@concerto/base';
import type { AgentCapability } from '@concerto/protocol';
import { display, type Value } from '@concerto/vm';
import type { LoadedProgram } from '../catalog.ts';
import type { ProgramWorld } from '../program/program-world.ts';
import { runProgram } from '../program/run-program.ts';
import { MessageQueue } from './message-queue.ts';
import { asked, emitted, type ProgramWord, resultOf } from './program-words.ts';

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
    this.#sayPlainly({ type: 'ack', in_reply_to: verb, in_reply_to_id: id });
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
    this.#sayPlainly({ ...resultOf(value), type: 'result' });
  }

  #world(prompt: AgentPrompt): ProgramWorld {
    const log = (level: string, message: string): void => this.#sayPlainly({ type: 'log', level, message });
    return {
      emit: (channel, payload) => {
        if (channel === 'listen:log' || channel === 'listen:stale') return;
        this.#say(emitted(channel, payload));
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
    const answered = new Promise<Json>((resolve) => this.#asked.set(id, resolve));
    const left = new Promise<Json>((resolve) => signal.addEventListener('abort', () => resolve(null), { once: true }));
    this.#say(asked(channel, payload, id));
    return await Promise.race([answered, left]).finally(() => this.#asked.delete(id));
  }

  #fail(message: string): void {
    this.#sayPlainly({ type: 'error', message });
  }

  #sayPlainly(message: ProgramWord['message'] & ProgramWord['raw']): void {
    this.#say({ message, raw: message });
  }

  #say(word: ProgramWord): void {
    if (this.#exit === undefined) this.output.push({ kind: 'message', ...word });
  }
}
