import { createHash } from 'node:crypto';
import type { EndOptions, InterruptOptions, ProcessIdentity } from '@concerto/keeper';
import type { AgentCapability } from '@concerto/protocol';
import type {
  AgentConnection,
  AgentExit,
  AgentOutput,
  AgentPrompt,
  AgentReply,
  AgentSettings,
  AgentSpec,
  AgentSteer,
  AgentVerb,
  Kept,
  OutputPlace,
  Placed,
} from './agent-connection.ts';
import type { KeptProcess } from './kept-process.ts';
import type { KeptNote } from './kept-steps.ts';

type Asked = Exclude<KeptNote, { readonly alarm: number }>;
type Batch = readonly (AgentOutput & Placed)[];

const over = { done: true, value: undefined } as const;

/** A driver whose agent a keeper holds: what is asked of it is noted first, so that the next owner's can be asked the same. */
export class KeptConnection implements AgentConnection {
  readonly spec: AgentSpec;
  readonly identity: ProcessIdentity;
  readonly exited: Promise<AgentExit>;
  readonly kept: Kept;
  /** Only where the driver has it. */
  readonly replyLine?: (line: string) => Promise<void>;
  readonly configure?: (settings: AgentSettings) => Promise<void>;
  readonly #driver: AgentConnection;
  readonly #process: KeptProcess;
  #batches: AsyncIterator<Batch> | undefined;
  #isDetached = false;
  #isIdle = false;
  #mark: string | undefined;
  #isCaughtUp = false;
  #isTakenUp = false;
  #takenUpNow: () => void = () => {};

  constructor(driver: AgentConnection, agentProcess: KeptProcess, marks: ReadonlySet<string>) {
    this.spec = driver.spec;
    this.identity = driver.identity;
    this.exited = driver.exited;
    this.#driver = driver;
    this.#process = agentProcess;
    if (driver.replyLine !== undefined) {
      this.replyLine = (line) => this.#ask({ op: 'line', line }, async () => await driver.replyLine?.(line));
    }
    if (driver.configure !== undefined) {
      this.configure = (settings) =>
        this.#ask({ op: 'configure', settings }, async () => await driver.configure?.(settings));
    }
    const takenUp = new Promise<void>((resolve) => {
      this.#takenUpNow = resolve;
    });
    this.kept = {
      marks,
      mark: (name) => {
        this.#mark = name;
      },
      takenUp,
      idAt: (place) => this.#idAt(place),
      detach: () => {
        this.#isDetached = true;
        agentProcess.detach();
        void this.#batches?.return?.();
      },
      forget: () => agentProcess.forget(),
    };
    void agentProcess.caughtUp.then(() => {
      this.#isCaughtUp = true;
      this.#look();
    });
    agentProcess.performing((note) => this.#redo(note));
  }

  get capabilities(): ReadonlySet<AgentCapability> {
    return this.#driver.capabilities;
  }

  get announced(): readonly string[] {
    return this.#driver.announced ?? [...this.#driver.capabilities];
  }

  get version(): string | undefined {
    return this.#driver.version;
  }

  get output(): AsyncIterable<Batch> {
    return { [Symbol.asyncIterator]: () => this.#heard() };
  }

  async prompt(prompt: AgentPrompt): Promise<void> {
    await this.#ask({ op: 'prompt', prompt }, () => this.#driver.prompt(prompt));
  }

  async reply(reply: AgentReply): Promise<void> {
    await this.#ask({ op: 'reply', reply }, () => this.#driver.reply(reply));
  }

  async steer(steer: AgentSteer): Promise<void> {
    await this.#ask({ op: 'steer', steer }, () => this.#driver.steer(steer));
  }

  async request(verb: AgentVerb, id: string): Promise<void> {
    await this.#ask({ op: 'request', verb, mark: id }, () => this.#driver.request(verb, id));
  }

  interruptProcess(options?: InterruptOptions): Promise<AgentExit | undefined> {
    return this.#driver.interruptProcess(options);
  }

  freeze(): void {
    this.#driver.freeze();
  }

  thaw(): void {
    this.#driver.thaw();
  }

  end(options?: EndOptions): Promise<AgentExit> {
    return this.#driver.end(options);
  }

  async #ask(note: Asked, ask: () => Promise<void>): Promise<void> {
    const mark = this.#mark;
    this.#mark = undefined;
    this.#process.note(mark === undefined ? note : { mark, ...note });
    await ask();
    await this.#process.flushed();
  }

  /** What it said to it then is known: the lines are not written again, and a refusal was heard. */
  #redo(note: KeptNote): void {
    this.#asked(note).catch(() => undefined);
  }

  async #asked(note: KeptNote): Promise<void> {
    if ('alarm' in note) return;
    switch (note.op) {
      case 'prompt':
        return await this.#driver.prompt(note.prompt);
      case 'reply':
        return await this.#driver.reply(note.reply);
      case 'line':
        return await this.#driver.replyLine?.(note.line);
      case 'steer':
        return await this.#driver.steer(note.steer);
      case 'configure':
        return await this.#driver.configure?.(note.settings);
      case 'request':
        return await this.#driver.request(note.verb, note.mark);
    }
  }

  #heard(): AsyncIterator<Batch, undefined> {
    const batches = this.#driver.output[Symbol.asyncIterator]();
    this.#batches = batches;
    return {
      next: async () => {
        this.#isIdle = true;
        this.#look();
        const next = await batches.next();
        this.#isIdle = false;
        return next.done === true || this.#isDetached ? over : next;
      },
      return: async () => {
        await batches.return?.();
        return over;
      },
    };
  }

  /** Its reader waits for more, and there is no more of what was said before. */
  #look(): void {
    if (!this.#isIdle || !this.#isCaughtUp || this.#isTakenUp) return;
    setImmediate(() => {
      if (!this.#isIdle) return;
      this.#isTakenUp = true;
      this.#takenUpNow();
    });
  }

  /** Unguessable, and the same for the same place. */
  #idAt({ step, index }: OutputPlace): string {
    const name = `${this.identity.marker}@${step}.${index}`;
    return createHash('sha256').update(name).digest('base64url').slice(0, 16);
  }
}
