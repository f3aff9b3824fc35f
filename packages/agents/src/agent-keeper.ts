import { randomUUID } from 'node:crypto';
import {
  defaultStepMs,
  type FromKeeper,
  type KeeperClient,
  KeeperError,
  type KeeperLine,
  type ListedAgent,
} from '@concerto/keeper';
import type { AgentExit, AgentSpec, KeptAgent, StartedWith } from './agent-connection.ts';
import { AgentError } from './agent-error.ts';
import { agentLaunch } from './agent-launch.ts';
import type { AgentProcess, ProcessOptions } from './agent-process.ts';
import { DirectProcess } from './direct-process.ts';
import { KeptProcess } from './kept-process.ts';

/** What a start is told again when its agent is taken up; secrets are in the keeper's memory only, as its environment is. */
type About = StartedWith & {
  readonly secrets: readonly string[];
  /** How the tries before this one ended. */
  readonly before: readonly AgentExit[];
};

const answersWithinMs = 30_000;

/** Starts agents so that they outlive us, and takes up those that others left. */
export class AgentKeeper {
  readonly #client: KeeperClient;
  readonly #keepMs: number;
  readonly #report: (message: string) => void;
  #couldNot: string | undefined;

  constructor(client: KeeperClient, keepMs: number, report: (message: string) => void = () => {}) {
    this.#client = client;
    this.#keepMs = keepMs;
    this.#report = report;
  }

  /** For `startAgent`. */
  begin(agent: string, epoch: number): KeptAgent {
    return new NewAgent({
      client: this.#client,
      agent,
      epoch,
      keepMs: this.#keepMs,
      couldNot: (why) => {
        if (why !== undefined && why !== this.#couldNot) this.#report(`agents will end with this process: ${why}`);
        this.#couldNot = why;
      },
    });
  }

  /** Undefined when it is not held, or cannot be taken up; then what is left of it is ended. */
  async attach(agent: string, epoch: number): Promise<KeptAgent | undefined> {
    const held = await attached(this.#client, agent, epoch);
    if (held !== 'cut') return held;
    await this.#client.end(agent, { epoch });
    return undefined;
  }

  async list(): Promise<readonly ListedAgent[]> {
    return await this.#client.list();
  }

  async end(agent: string, options: { readonly epoch?: number; readonly stepMs?: number } = {}): Promise<boolean> {
    return await this.#client.end(agent, options);
  }
}

type Beginning = {
  readonly client: KeeperClient;
  readonly agent: string;
  readonly epoch: number;
  readonly keepMs: number;
  /** Why there was no keeper to start it; undefined when there was. */
  readonly couldNot: (why: string | undefined) => void;
};

class NewAgent implements KeptAgent {
  readonly marks: ReadonlySet<string> = new Set();
  readonly recorded = undefined;
  current: KeptProcess | undefined;
  readonly #beginning: Beginning;
  readonly #before: AgentExit[] = [];
  #told: StartedWith | undefined;

  constructor(beginning: Beginning) {
    this.#beginning = beginning;
  }

  tell(started: StartedWith): void {
    this.#told = started;
  }

  async process(spec: AgentSpec, options: ProcessOptions): Promise<AgentProcess> {
    const { client, agent, epoch, keepMs, couldNot } = this.#beginning;
    const { argv, workingDir: cwd, variables, secrets } = await agentLaunch(spec);
    const launch = { ...argv, cwd, env: { ...variables, ...options.variables }, marker: randomUUID() };
    const about: About = { ...(this.#told ?? { spec }), secrets, before: this.#before };
    const stepMs = options.endGraceMs ?? defaultStepMs;
    const started = await opened(client, (line) => {
      line.send({ type: 'start', agent, epoch, launch, stepMs, keepMs }, Buffer.from(JSON.stringify(about)));
    }).catch((cause: unknown) => {
      if (!(cause instanceof KeeperError) || cause.code !== 'unavailable') throw cause;
      couldNot(cause.message);
    });
    // An agent that ends with us is better than none.
    if (started === undefined) return await DirectProcess.start(spec, options);
    couldNot(undefined);
    if (started.head.type !== 'started') throw spawnFailed(spec, started.head);
    const { identity } = started.head;
    const process_ = started.own({ agent: spec.name, identity, stepMs, recorded: undefined });
    process_.complains(secrets, options.onStderr);
    this.current = process_;
    void process_.exited.then((exit) => this.#before.push(exit));
    return process_;
  }
}

function spawnFailed(spec: AgentSpec, head: FromKeeper): AgentError {
  const reason = head.type === 'refused' ? head.message : 'the keeper did not start it';
  return new AgentError('spawn-failed', `agent "${spec.name}" cannot start: ${reason}`);
}

class HeldAgent implements KeptAgent {
  readonly marks: ReadonlySet<string>;
  readonly recorded: KeptAgent['recorded'];
  readonly current: KeptProcess;
  readonly #about: About;
  #tries = 0;

  constructor(current: KeptProcess, about: About, marks: ReadonlySet<string>) {
    this.current = current;
    this.#about = about;
    this.marks = marks;
    const { secrets: _secrets, before: _before, ...started } = about;
    this.recorded = { ...started, identity: current.identity };
  }

  tell(): void {}

  /** A start that was tried several times is told again how the tries before ended. */
  async process(spec: AgentSpec, options: ProcessOptions): Promise<AgentProcess> {
    const failed = this.#about.before[this.#tries++];
    if (failed === undefined) {
      this.current.complains(this.#about.secrets, options.onStderr);
      return this.current;
    }
    throw new AgentError('exited', `agent "${spec.name}" ended in an earlier try to start it`, {
      stderr: failed.stderr,
    });
  }
}

async function attached(client: KeeperClient, agent: string, epoch: number): Promise<HeldAgent | 'cut' | undefined> {
  const answer = await opened(client, (line) => line.send({ type: 'attach', agent, epoch }), true);
  if (answer === undefined) return undefined;
  const { head, body } = answer;
  if (head.type !== 'attached') {
    answer.close();
    return head.type === 'refused' && head.code === 'cut' ? 'cut' : undefined;
  }
  const about: About = JSON.parse(body.toString());
  const { identity, notes, bytes, written } = head;
  const recorded = { notes, bytes, written };
  const current = answer.own({ agent: about.spec.name, identity, stepMs: undefined, recorded });
  return new HeldAgent(current, about, await answer.marks);
}

type Opened = {
  readonly head: FromKeeper;
  readonly body: Buffer;
  /** What was asked of it before, once all of it has come. */
  readonly marks: Promise<ReadonlySet<string>>;
  readonly own: (parts: Omit<ConstructorParameters<typeof KeptProcess>[0], 'line'>) => KeptProcess;
  readonly close: () => void;
};

type Told = { readonly head: FromKeeper; readonly body: Buffer };

/** Asks, and gives the first answer; what comes after it waits for its owner. Undefined when there is no keeper to ask. */
function opened(client: KeeperClient, ask: (line: KeeperLine) => void): Promise<Opened>;
function opened(client: KeeperClient, ask: (line: KeeperLine) => void, ifThere: true): Promise<Opened | undefined>;
async function opened(
  client: KeeperClient,
  ask: (line: KeeperLine) => void,
  ifThere = false,
): Promise<Opened | undefined> {
  const mail = new Mail();
  const listener = { frame: (told: Told) => mail.take(told), closed: () => mail.close() };
  const line = ifThere ? await client.openIfThere(listener) : await client.open(listener);
  if (line === undefined) return undefined;
  ask(line);
  const { head, body } = await mail.first();
  return {
    head,
    body,
    marks: mail.marks(head.type === 'attached' ? head.notes : 0),
    own: (parts) => {
      const owned = new KeptProcess({ ...parts, line });
      mail.deliver(owned);
      return owned;
    },
    close: () => line.close(),
  };
}

/** What the keeper says before its listener is there. */
class Mail {
  readonly #waiting: Told[] = [];
  readonly #marks = new Set<string>();
  #first: ((told: Told | undefined) => void) | undefined;
  #answer: Told | undefined;
  #notes = 0;
  #notesWanted: { readonly count: number; readonly resolve: () => void } | undefined;
  #owner: KeptProcess | undefined;
  #isClosed = false;

  take(told: Told): void {
    if (this.#answer === undefined) {
      this.#answer = told;
      this.#first?.(told);
      return;
    }
    if (told.head.type === 'note') this.#note(told.body);
    if (this.#owner === undefined) this.#waiting.push(told);
    else this.#owner.hear(told.head, told.body);
  }

  close(): void {
    this.#isClosed = true;
    this.#first?.(undefined);
    this.#notesWanted?.resolve();
    this.#owner?.closed();
  }

  async first(): Promise<Told> {
    const timer = AbortSignal.timeout(answersWithinMs);
    const told =
      this.#answer ??
      (await new Promise<Told | undefined>((resolve) => {
        this.#first = resolve;
        timer.addEventListener('abort', () => resolve(undefined), { once: true });
      }));
    if (told === undefined) throw new KeeperError('closed', 'the keeper did not answer');
    return told;
  }

  async marks(count: number): Promise<ReadonlySet<string>> {
    if (this.#notes < count && !this.#isClosed) {
      await new Promise<void>((resolve) => {
        this.#notesWanted = { count, resolve };
      });
    }
    return this.#marks;
  }

  deliver(owner: KeptProcess): void {
    this.#owner = owner;
    for (const { head, body } of this.#waiting.splice(0)) owner.hear(head, body);
    if (this.#isClosed) owner.closed();
  }

  #note(body: Buffer): void {
    // It is what we wrote ourselves.
    const { mark }: { readonly mark?: string } = JSON.parse(body.toString());
    if (mark !== undefined) this.#marks.add(mark);
    if (++this.#notes === this.#notesWanted?.count) this.#notesWanted.resolve();
  }
}
