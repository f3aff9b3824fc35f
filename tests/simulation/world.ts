import type { AgentConnection, AgentSpec, ProcessIdentity } from '@concerto/agents';
import { type EventLog, memoryEventLog } from '@concerto/log';
import type { SessionRecord } from '@concerto/protocol';
import {
  type CatalogEntry,
  catalogOf,
  PoolKeeper,
  type ProcessNote,
  RuleBook,
  Runner,
  type RunnerOptions,
  SessionStore,
  Sessions,
} from '@concerto/runtime';
import type { SessionState } from '@concerto/session';
import { VirtualClock } from '../../packages/runtime/test/virtual-clock.ts';
import { FakeAgent } from './fake-agent.ts';
import { farMachines } from './far-machines.ts';
import { type Fate, logBehind, PortGate } from './faulty-log.ts';
import type { Random } from './random.ts';

export type Received = {
  readonly session: string;
  readonly id: string;
  readonly how: 'prompt' | 'steer';
  readonly at: number;
};

/** One process of ours: a server, a runner, or both in one. */
export type Process = {
  readonly gate: PortGate;
  readonly sessions: Sessions;
  readonly runner: Runner | undefined;
};

/** What was read of a session so far. */
export type Known = { readonly records: SessionRecord[]; state: SessionState | undefined };

export const agentNames = ['alpha', 'beta'];

type WorldOptions = {
  readonly programs?: readonly CatalogEntry[];
  /** The store takes an append and what follows from it in another session at once. */
  readonly joins?: boolean;
  /** Programs compute in another process, as in a server. */
  readonly far?: boolean;
};

/** The machine: one store, one clock, agents, and processes that come and go. */
export class World {
  readonly clock = new VirtualClock();
  readonly log: EventLog = memoryEventLog({ now: () => this.clock.now() });
  readonly received: Received[] = [];
  readonly answered: string[] = [];
  /** What processes said to their operator. */
  readonly complaints: string[] = [];
  readonly known = new Map<string, Known>();
  calm = false;
  readonly #random: Random;
  readonly #programs: readonly CatalogEntry[];
  readonly #joins: boolean;
  readonly #far: boolean;
  readonly #agents = new Map<number, FakeAgent>();
  #pids = 0;
  #names = 0;
  #minted = 0;

  constructor(random: Random, { programs = [], joins = false, far = false }: WorldOptions = {}) {
    this.#random = random;
    this.#programs = programs;
    this.#joins = joins;
    this.#far = far;
  }

  mint(prefix: string): string {
    this.#minted += 1;
    return `${prefix}_${this.#minted}`;
  }

  startProcess(fate: Fate, runs: boolean): Process {
    const gate = new PortGate(fate, this.clock);
    const log = logBehind(gate, this.log, this.#joins);
    const clock = {
      now: () => this.clock.now(),
      elapsed: () => this.clock.elapsed(),
      at: (instant: number, call: () => void) => gate.at(instant, call),
    };
    const report = (message: string, cause?: unknown): void => {
      this.complaints.push(`${message}: ${cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)}`);
    };
    const store = new SessionStore(log);
    const mintId = (prefix: string): string => this.mint(prefix);
    const agents = agentNames.map((name): CatalogEntry => ({ kind: 'agent', name, spec: { name, command: name } }));
    const catalog = catalogOf([...agents, ...this.#programs]);
    const pool = new PoolKeeper({ log, store, clock, report, initialMax: 3 });
    const rules = new RuleBook({ log, catalog, mintId });
    const sessions = new Sessions({ log, store, pool, rules, catalog, clock, mintId, environment: {} });
    this.#names += 1;
    const runner = runs
      ? new Runner({
          log,
          store,
          pool,
          rules,
          catalog,
          clock,
          mintId,
          report,
          environment: {},
          name: `runner-${this.#names}`,
          startAgent: (spec, options) => gate.pipe('startAgent', () => this.#startAgent(gate, spec, options)),
          processes: this.#register(log),
          ...(this.#far ? { machines: farMachines(gate) } : {}),
        })
      : undefined;
    runner?.start();
    return { gate, sessions, runner };
  }

  async #startAgent(
    gate: PortGate,
    spec: AgentSpec,
    options: {
      readonly signal?: AbortSignal;
      readonly onProcess?: (identity: ProcessIdentity) => void | Promise<void>;
    },
  ): Promise<AgentConnection> {
    options.signal?.throwIfAborted();
    if (!this.calm && this.#random.chance(0.02)) throw new Error('no such command');
    this.#pids += 1;
    const agent = new FakeAgent({
      spec,
      random: this.#random.fork(),
      clock: this.clock,
      pid: this.#pids,
      calm: () => this.calm,
      witness: {
        received: (session, { id, how }) => this.received.push({ session, id, how, at: this.clock.now() }),
        answered: (session, question) => this.answered.push(`${session} ${question}`),
      },
    });
    this.#agents.set(this.#pids, agent);
    gate.onDeath(() => agent.orphaned());
    try {
      await options.onProcess?.(agent.identity);
      options.signal?.throwIfAborted();
    } catch (cause) {
      agent.kill();
      throw cause;
    }
    return wired(agent, gate);
  }

  /** As the real one, with our own processes instead of the system's. */
  #register(log: EventLog): RunnerOptions['processes'] {
    const collection = 'processes';
    const keyOf = (note: ProcessNote): string => JSON.stringify([note.session, note.epoch]);
    const notes = async (): Promise<readonly { note: ProcessNote; pid: number }[]> => {
      const page = await log.listDocuments({ collection, limit: 100 });
      return page.documents.map(({ key, value }) => {
        const [session, epoch]: [string, number] = JSON.parse(key);
        return { note: { session, epoch }, pid: Number(value) };
      });
    };
    const forget = (note: ProcessNote): Promise<void> =>
      log.putDocument({ collection, key: keyOf(note), value: undefined });
    const end = async (fits: (note: ProcessNote) => boolean): Promise<void> => {
      for (const { note, pid } of await notes()) {
        if (!fits(note)) continue;
        this.#agents.get(pid)?.kill();
        await forget(note);
      }
    };
    const remember = async (note: ProcessNote, { pid }: ProcessIdentity): Promise<void> => {
      await log.putDocument({ collection, key: keyOf(note), value: String(pid) });
      const agent = this.#agents.get(pid);
      if (agent !== undefined) agent.registered = true;
    };
    return {
      remember,
      // Nobody keeps agents here: one that was killed with its runner is gone.
      adopt: remember,
      forget,
      endAllOf: (session) => end((note) => note.session === session),
      end: (one) => end((note) => keyOf(note) === keyOf(one)),
      here: async () => (await notes()).map(({ note }) => note),
      isElsewhere: async () => false,
    };
  }

  get livingAgents(): number {
    return [...this.#agents.values()].filter((agent) => agent.alive).length;
  }

  killSomeAgent(): void {
    this.#random.pick([...this.#agents.values()].filter((agent) => agent.alive))?.kill();
  }

  /** Time passes; whatever is due happens in its order, and everything that follows at once follows at once. */
  async pass(ms: number): Promise<void> {
    const until = this.clock.now() + ms;
    for (;;) {
      await quiet();
      const { next } = this.clock;
      if (next === undefined || next > until) break;
      this.clock.step(Math.max(0, next - this.clock.now()));
    }
    this.clock.step(Math.max(0, until - this.clock.now()));
  }
}

/** An agent's pipes are ports too: a process may die right before or right after each word. */
function wired(agent: FakeAgent, gate: PortGate): AgentConnection {
  return {
    spec: agent.spec,
    identity: agent.identity,
    capabilities: agent.capabilities,
    version: agent.version,
    output: agent.output,
    exited: agent.exited,
    prompt: (prompt) => gate.pipe('prompt', () => agent.prompt(prompt)),
    steer: (steer) => gate.pipe('steer', () => agent.steer(steer)),
    reply: (reply) => gate.pipe('reply', () => agent.reply(reply)),
    request: (verb, id) => gate.pipe('request', () => agent.request(verb, id)),
    interruptProcess: () => agent.interruptProcess(),
    freeze: () => agent.freeze(),
    thaw: () => agent.thaw(),
    end: () => gate.pipe('end', () => agent.end()),
  };
}

/** Until nothing is left that only waits for a promise. */
export async function quiet(): Promise<void> {
  await new Promise<void>((resolve) => {
    setImmediate(resolve);
  });
}
