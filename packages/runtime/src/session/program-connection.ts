import {
  AgentError,
  type AgentExit,
  type AgentPrompt,
  type AgentReply,
  type AgentSpec,
  type AgentVerb,
} from '@concerto/agents';
import type { Json } from '@concerto/base';
import type { AgentCapability } from '@concerto/protocol';
import { display, type Value } from '@concerto/vm';
import type { LoadedProgram } from '../catalog.ts';
import type { SessionConnection, SessionOutput, WorkOptions } from '../ports.ts';
import type { StartProgramAgent } from '../program/program-agent.ts';
import type { ProgramWorld } from '../program/program-world.ts';
import { runProgram } from '../program/run-program.ts';
import { ChildAgent } from './child-agent.ts';
import { type ChildPorts, ChildSessions } from './child-sessions.ts';
import { MessageQueue } from './message-queue.ts';
import { ModelCalls } from './program-calls.ts';
import { asked, emitted, type ProgramWord, resultOf } from './program-words.ts';

/** So long a pause waits for the program's agents to hold; they go on holding after it. */
const childrenHoldMs = 15_000;

export type ProgramStart = {
  readonly program: LoadedProgram;
  /** The digest of its code. */
  readonly code: string;
  readonly session: string;
  readonly root: string;
  readonly ports: ChildPorts;
  readonly options: Pick<WorkOptions, 'writer' | 'epoch'>;
};

/**
 * A Concerto program at work in a session. Its emits are messages, `await emit` is a question, its end is the result; its
 * agents are sessions that it opens. Each prompt runs it once from the beginning.
 */
export class ProgramConnection implements SessionConnection {
  readonly spec: AgentSpec;
  readonly identity = { pid: 0, startTime: 'in-process', marker: '' };
  readonly capabilities: ReadonlySet<AgentCapability> = new Set(['interrupt', 'cancel', 'pause', 'resume']);
  readonly version: string;
  readonly output = new MessageQueue<SessionOutput>();
  readonly exited: Promise<AgentExit>;
  readonly #start: ProgramStart;
  readonly #asked = new Map<string, (answer: Json) => void>();
  readonly #agents = new Set<ChildAgent>();
  readonly #models = new ModelCalls((output) => this.#push(output));
  #children: ChildSessions | undefined;
  #held: { readonly until: Promise<void>; readonly goOn: () => void } | undefined;
  #running = new AbortController();
  #finished: Promise<void> = Promise.resolve();
  #questions = 0;
  #exit: AgentExit | undefined;
  #resolveExit: (exit: AgentExit) => void = () => {};

  constructor(spec: AgentSpec, start: ProgramStart) {
    this.spec = spec;
    this.version = start.code;
    this.#start = start;
    this.exited = new Promise((resolve) => {
      this.#resolveExit = resolve;
    });
  }

  async prompt(prompt: AgentPrompt): Promise<void> {
    this.#running = new AbortController();
    const { session, root, code, ports, options } = this.#start;
    this.#children = new ChildSessions(ports, { session, root, code, run: prompt.id ?? 'run', ...options });
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
    switch (verb) {
      case 'pause':
        await this.#pause(id);
        break;
      case 'resume':
        await this.#resume(id);
        break;
      case 'interrupt':
      case 'cancel':
        await this.#stopRunning();
        break;
    }
    this.#sayPlainly({ type: 'ack', in_reply_to: verb, in_reply_to_id: id });
  }

  async interruptProcess(): Promise<undefined> {
    await this.#stopRunning();
  }

  freeze(): void {
    // There is no process to stop, and the program holds where it is since it was asked to pause.
  }

  thaw(): void {
    this.#goOn();
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

  /** Its agents first, then itself: it holds at once, but whoever paused it waits for all of them. */
  async #pause(id: string): Promise<void> {
    this.#hold();
    const children = this.#children;
    if (children === undefined) return;
    const agents = [...this.#agents];
    await Promise.all(agents.map(async (agent) => children.control(agent.id, 'pause', `${id}-${agent.id}`)));
    const late = new Promise<void>((resolve) => {
      setTimeout(resolve, childrenHoldMs).unref();
    });
    await Promise.race([Promise.all(agents.map(async (agent) => agent.holds())), late]);
  }

  async #resume(id: string): Promise<void> {
    const children = this.#children;
    if (children !== undefined) {
      await Promise.all([...this.#agents].map((agent) => children.control(agent.id, 'resume', `${id}-${agent.id}`)));
    }
    this.#goOn();
  }

  #hold(): void {
    if (this.#held !== undefined) return;
    let goOn = (): void => {};
    const until = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    this.#held = { until, goOn };
  }

  #goOn(): void {
    this.#held?.goOn();
    this.#held = undefined;
  }

  async #stopRunning(): Promise<void> {
    this.#running.abort();
    this.#goOn();
    await this.#finished;
  }

  async #run(prompt: AgentPrompt, signal: AbortSignal): Promise<void> {
    const { module } = this.#start.program;
    const outcome = await runProgram(module, this.#world(prompt), { entry: 'main', signal });
    if (signal.aborted) return;
    if (outcome.status === 'failed') return this.#fail(outcome.failure.message);
    const { value } = outcome;
    if (value !== null && typeof value === 'object' && value.kind === 'err') return this.#fail(display(value.value));
    this.#sayPlainly({ ...resultOf(value), type: 'result' });
  }

  #world(prompt: AgentPrompt): ProgramWorld {
    const { projectDirectory, mockModels = false } = this.#start.program;
    const log = (level: string, message: string): void => this.#sayPlainly({ type: 'log', level, message });
    return {
      emit: (channel, payload) => {
        if (channel === 'listen:log' || channel === 'listen:stale') return;
        this.#say(emitted(channel, payload));
      },
      print: (text) => log('info', text.trimEnd()),
      log,
      ask: (channel, payload, signal) => this.#ask(channel, payload, signal),
      watch: (request, answer) => this.#models.watch(request, answer),
      held: async () => await this.#held?.until,
      startAgent: this.#startAgent,
      environment: { ...process.env, CONCERTO_PROMPT: prompt.text },
      directory: projectDirectory,
      projectDirectory,
      mockModels,
    };
  }

  readonly #startAgent: StartProgramAgent = async (declared, { name, signal }) => {
    const children = this.#children;
    if (children === undefined) throw new Error('a program that was not prompted starts no agent');
    const { name: agent } = declared;
    const child = new ChildAgent({
      children,
      id: children.idOf('s', name),
      agent,
      peopleAnswer: true,
      written: () => this.output.read(),
      onQueued: () => this.#push(queued(name, agent)),
    });
    this.#agents.add(child);
    void child.exited.then(() => this.#agents.delete(child));
    await child.start(signal);
    return child;
  };

  async #ask(channel: string, payload: Value, signal: AbortSignal): Promise<Json> {
    this.#questions++;
    const id = `ask-${this.#questions}`;
    const answered = new Promise<Json>((resolve) => this.#asked.set(id, resolve));
    const left = new Promise<Json>((resolve) => {
      signal.addEventListener(
        'abort',
        () => {
          if (this.#asked.has(id))
            this.#push({ kind: 'withdrawn', id, reason: 'the program does not wait for it any more' });
          resolve(null);
        },
        { once: true },
      );
    });
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
    this.#push({ kind: 'message', ...word });
  }

  #push(output: SessionOutput): void {
    if (this.#exit === undefined) this.output.push(output);
  }
}

function queued(callId: string, agent: string): SessionOutput {
  const status = `${agent} waits for a place in the pool`;
  return { kind: 'events', events: [{ type: 'functionCallUpdate', callId, status }] };
}
