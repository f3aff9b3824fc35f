import {
  type AgentConnection,
  AgentError,
  type AgentExit,
  type AgentOutput,
  type AgentPrompt,
  type AgentReply,
  type AgentSpec,
  type AgentVerb,
  type ProcessIdentity,
} from '@concerto/agents';
import type { JsonObject } from '@concerto/base';
import { type AgentCapability, agentCapabilities, parseAgentLine } from '@concerto/protocol';
import type { VirtualClock } from '../../packages/runtime/test/virtual-clock.ts';
import type { Random } from './random.ts';

/** What the world hears from its agents: the truth about what reached them. */
export type AgentWitness = {
  received(session: string, message: { readonly id: string; readonly how: 'prompt' | 'steer' }): void;
  answered(session: string, questionId: string): void;
};

export type FakeAgentOptions = {
  readonly spec: AgentSpec;
  readonly random: Random;
  readonly clock: VirtualClock;
  readonly witness: AgentWitness;
  readonly pid: number;
  /** Nothing goes wrong by itself any more: it answers, confirms and ends its turns. */
  readonly calm: () => boolean;
};

type Work = 'progress' | 'partial' | 'question' | 'approval' | 'result' | 'error' | 'exit' | 'silence';

/** An agent that lives in the simulation: what it says, when, and how badly it behaves comes from its seed. */
export class FakeAgent implements AgentConnection {
  readonly spec: AgentSpec;
  readonly identity: ProcessIdentity;
  readonly capabilities: ReadonlySet<AgentCapability>;
  readonly version = undefined;
  readonly output: AsyncIterable<readonly AgentOutput[]>;
  readonly exited: Promise<AgentExit>;
  /** It can be found again by whoever comes after its runner. */
  registered = false;
  readonly #options: FakeAgentOptions;
  #said: AgentOutput[] = [];
  #wake: () => void = () => {};
  #resolveExit: (exit: AgentExit) => void = () => {};
  #dead = false;
  #held = false;
  #session = '';
  #turn = 0;
  #asked = 0;
  #steps = 0;
  #calls = 0;
  #open = new Set<string>();

  constructor(options: FakeAgentOptions) {
    this.#options = options;
    this.spec = options.spec;
    this.identity = { pid: options.pid, startTime: String(options.clock.now()), marker: `m${options.pid}` };
    this.capabilities = new Set(agentCapabilities.filter(() => options.random.chance(0.6)));
    this.exited = new Promise((resolve) => {
      this.#resolveExit = resolve;
    });
    this.output = this.#batches();
  }

  get alive(): boolean {
    return !this.#dead;
  }

  async prompt(prompt: AgentPrompt): Promise<void> {
    this.#takeOrFail();
    const session = prompt.session ?? '';
    this.#session = session;
    this.#options.witness.received(session, { id: prompt.id ?? '', how: 'prompt' });
    this.#turn += 1;
    this.#goOn(this.#turn, this.#options.random.between(1, 4));
    if (this.#options.random.chance(0.1)) await this.#pipeTakes(this.#options.random.between(5, 3_000));
  }

  async steer(steer: { readonly id: string; readonly text: string }): Promise<void> {
    this.#takeOrFail();
    this.#options.witness.received(this.#session, { id: steer.id, how: 'steer' });
  }

  async reply(reply: AgentReply): Promise<void> {
    this.#takeOrFail();
    const id = String(reply.inReplyToId);
    if (!this.#open.delete(id)) return;
    if ('value' in reply) this.#options.witness.answered(this.#session, `${this.identity.pid}:${id}`);
    this.#goOn(this.#turn, 1);
  }

  async request(verb: AgentVerb, id: string): Promise<void> {
    const { random } = this.#options;
    if (verb === 'pause') this.#held = true;
    if (verb === 'resume') this.#held = false;
    if (verb === 'interrupt') this.#stopWork();
    const acks = this.#options.calm() ? 1 : random.pick([1, 1, 1, 1, 1, 1, 1, 2, 2, 0]);
    for (let ack = 0; ack < (acks ?? 1); ack++) {
      this.#later(this.#patience(), () => this.#say({ type: 'ack', in_reply_to: verb, in_reply_to_id: id }));
    }
    if (verb === 'cancel') this.#later(this.#patience(), () => this.#exit(0));
  }

  async interruptProcess(): Promise<AgentExit | undefined> {
    this.#stopWork();
    if (this.#options.random.chance(0.5)) {
      this.#later(50, () => this.#say({ type: 'result', text: 'stopped' }));
      return undefined;
    }
    this.#later(50, () => this.#exit(130));
    return await this.exited;
  }

  freeze(): void {
    this.#held = true;
  }

  thaw(): void {
    this.#held = false;
  }

  async end(): Promise<AgentExit> {
    if (!this.#dead)
      this.#options.clock.at(this.#options.clock.now() + this.#options.random.below(300), () => this.#exit(0));
    return await this.exited;
  }

  /** Its runner is gone: stdin ends, and it leaves now or, if it was noted down, perhaps only when somebody ends it. */
  orphaned(): void {
    if (!this.registered || this.#options.random.chance(0.5)) this.#exit(1);
  }

  /** kill -9. */
  kill(): void {
    this.#exit(137);
  }

  /** It has read the line, and we hear of it later. */
  async #pipeTakes(ms: number): Promise<void> {
    const { clock } = this.#options;
    await new Promise<void>((resolve) => {
      clock.at(clock.now() + ms, resolve);
    });
  }

  #takeOrFail(): void {
    if (this.#dead) throw new AgentError('exited', 'the agent has ended');
    if (this.#options.calm() || !this.#options.random.chance(0.02)) return;
    this.#later(0, () => this.#exit(1));
    throw new AgentError('stdin-stalled', 'the agent does not read');
  }

  #goOn(turn: number, steps: number): void {
    this.#later(this.#options.random.pick([1, 5, 20, 200, 2_000]) ?? 1, () => {
      if (turn !== this.#turn || this.#open.size > 0) return;
      if (this.#held) return this.#goOn(turn, steps);
      this.#do(turn, steps > 0 && !this.#options.calm() ? this.#choose() : 'result', steps);
    });
  }

  #choose(): Work {
    return (
      this.#options.random.weighted<Work>({
        progress: 30,
        partial: 20,
        question: 14,
        approval: 8,
        result: 20,
        error: 4,
        exit: 3,
        silence: 1,
      }) ?? 'result'
    );
  }

  #do(turn: number, work: Work, steps: number): void {
    switch (work) {
      case 'progress':
        this.#steps += 1;
        this.#say({ type: 'progress', message: `${this.identity.pid} ${this.#steps}` });
        this.#endCall();
        return this.#goOn(turn, steps - 1);
      case 'partial':
        this.#say({ type: 'partial', text: 'some text' });
        this.#calls += 1;
        if (this.#calls % 2 === 0) this.#say({ type: 'tool_call', id: this.#callId(), name: 'Bash', kind: 'execute' });
        return this.#goOn(turn, steps - 1);
      case 'question':
      case 'approval': {
        this.#asked += 1;
        const id = `q${this.#asked}`;
        this.#open.add(id);
        return this.#say(
          work === 'question'
            ? { type: 'question', id, question: 'Why?' }
            : { type: 'approval', id, description: 'Do it' },
        );
      }
      case 'result':
      case 'error':
        this.#turn += 1;
        return this.#say(work === 'result' ? { type: 'result', text: 'done' } : { type: 'error', message: 'no luck' });
      case 'exit':
        return this.#exit(1);
      case 'silence':
        return this.#later(20_000, () => this.#goOn(turn, 0));
    }
  }

  /** It ends some of its calls, one of them twice, and leaves the others to whoever closes the turn. */
  #endCall(): void {
    if (this.#calls === 0 || this.#calls % 2 !== 0) return;
    const result = { type: 'tool_result', id: this.#callId(), content: 'done' };
    this.#say(result);
    if (this.#calls % 4 === 0) this.#say(result);
  }

  #callId(): string {
    return `call-${this.identity.pid}-${this.#calls}`;
  }

  #stopWork(): void {
    this.#turn += 1;
    this.#open = new Set();
  }

  #patience(): number {
    const { random, calm } = this.#options;
    return calm() ? 5 : (random.pick([1, 5, 50, 500, 4_000, 11_000]) ?? 1);
  }

  #later(ms: number, work: () => void): void {
    const { clock } = this.#options;
    clock.at(clock.now() + ms, () => {
      if (!this.#dead) work();
    });
  }

  #say(raw: JsonObject & { readonly type: string }): void {
    if (this.#dead) return;
    const line = parseAgentLine(JSON.stringify(raw));
    if (line.kind !== 'message' || line.message.type === 'init_ack') throw new Error('not a message');
    this.#push({ kind: 'message', message: line.message, raw: line.raw });
  }

  #push(output: AgentOutput): void {
    this.#said.push(output);
    this.#wake();
  }

  #exit(code: number): void {
    if (this.#dead) return;
    this.#dead = true;
    const exit = { code, signal: null, stderr: '' };
    this.#push({ kind: 'exit', exit, error: new AgentError('exited', `the agent exited with code ${code}`) });
    this.#resolveExit(exit);
  }

  async *#batches(): AsyncGenerator<readonly AgentOutput[]> {
    for (;;) {
      if (this.#said.length === 0) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
      const batch = this.#said;
      this.#said = [];
      if (batch.length > 0) yield batch;
      if (batch.at(-1)?.kind === 'exit') return;
    }
  }
}
