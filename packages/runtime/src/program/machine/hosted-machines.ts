import { availableParallelism } from 'node:os';
import type { IrModule } from '@concerto/ir';
import { SnapshotError, type TraceEntry } from '@concerto/vm';
import { HostEnded, HostProcess, hostFile, JobFailed } from '../../hosts/host-process.ts';
import { defaultLimits } from '../program-limits.ts';
import {
  type Given,
  type Machine,
  MachineLost,
  type MachineStart,
  type Machines,
  type ProgramRequest,
  type Turn,
} from './machine.ts';
import type { BeginReply, MachineJob, MoreReply, TurnReply } from './machine-jobs.ts';

const mebibyte = 1024 * 1024;

const sharedHeapMiB = 1024;
/** Beside the values that are counted: a call of a built-in makes more before anybody counts. */
const heapOfMemory = 3;

/** Hosts that machines share: more would not compute more, and each costs what a process costs. */
const hostsMax = 4;

/** Modules that a host keeps; one that is not there is sent again. */
const modulesMax = 32;

/** A host with nothing in it is ended after so long. */
const idleMs = 30_000;

/** Taking up a machine is as much work as what it holds, whatever its slices may take. */
const beginMs = 30_000;
const triesMax = 3;

export type HostsOptions = {
  /** Hosts that machines share; about as many as there are cores unless given. */
  readonly hosts?: number;
  /** What machines that share a host may take together; one that may take more by itself has a host of its own. */
  readonly heapMiB?: number;
  /** Flags of Node for a host; those of this process unless given. */
  readonly flags?: readonly string[];
};

/** Machines in a few processes beside this one. There is none before the first machine. */
export class HostedMachines implements Machines {
  readonly #most: number;
  readonly #flags: readonly string[] | undefined;
  readonly #heapMiB: number;
  readonly #shared = new Set<MachineHost>();
  readonly #own = new Set<MachineHost>();

  constructor({ hosts = hostsUsual(), heapMiB = sharedHeapMiB, flags }: HostsOptions = {}) {
    this.#most = hosts;
    this.#flags = flags;
    this.#heapMiB = heapMiB;
  }

  async begin(start: MachineStart): Promise<Machine> {
    const ownHeapMiB = Math.ceil((heapOfMemory * (start.limits?.memory ?? defaultLimits.memory)) / mebibyte);
    const isAlone = start.isSuspect === true || ownHeapMiB > this.#heapMiB;
    for (let tries = 1; ; tries++) {
      const host = isAlone ? this.#ownHost(Math.max(ownHeapMiB, this.#heapMiB)) : this.#sharedHost();
      try {
        return await host.begin(start, isAlone);
      } catch (cause) {
        const isAnothers = cause instanceof HostEnded && !cause.isAtWork && cause.code !== 'closed';
        if (!isAnothers || tries >= triesMax) throw cause;
      }
    }
  }

  /** Ends the hosts: nothing that is in them goes on. */
  close(): void {
    for (const host of [...this.#shared, ...this.#own]) host.end();
  }

  /** The one with the fewest machines, or another as long as there may be more. */
  #sharedHost(): MachineHost {
    for (const host of this.#shared) if (host.hasEnded) this.#shared.delete(host);
    const [emptiest] = [...this.#shared].toSorted((left, right) => left.machines - right.machines);
    if (emptiest !== undefined && (emptiest.machines === 0 || this.#shared.size >= this.#most)) return emptiest;
    const host = new MachineHost(this.#heapMiB, this.#flags);
    this.#shared.add(host);
    return host;
  }

  #ownHost(heapMiB: number): MachineHost {
    for (const host of this.#own) if (host.hasEnded) this.#own.delete(host);
    const host = new MachineHost(heapMiB, this.#flags);
    this.#own.add(host);
    return host;
  }
}

/** One core is left to the server. */
function hostsUsual(): number {
  return Math.min(hostsMax, Math.max(1, availableParallelism() - 1));
}

class MachineHost {
  readonly #process: HostProcess;
  readonly #modules = new Map<IrModule, number>();
  readonly #machines = new Set<number>();
  #numbers = 0;
  #idle: NodeJS.Timeout | undefined;

  constructor(heapMiB: number, flags: readonly string[] | undefined) {
    this.#process = new HostProcess({ entry: hostFile('./machine-host', import.meta.url), heapMiB, flags });
  }

  get hasEnded(): boolean {
    return this.#process.hasEnded;
  }

  get machines(): number {
    return this.#machines.size;
  }

  async begin({ module, sliceMs, isSuspect: _isSuspect, ...start }: MachineStart, isAlone: boolean): Promise<Machine> {
    clearTimeout(this.#idle);
    const machine = ++this.#numbers;
    this.#machines.add(machine);
    const job: MachineJob = { kind: 'begin', machine, module: this.#moduleOf(module), start };
    try {
      const reply = await this.do(job, beginMs);
      const pending = isBegin(reply) ? reply.pending : [];
      return new HostedMachine(this, { machine, pending, sliceMs: sliceMs ?? defaultLimits.slice, isAlone });
    } catch (cause) {
      this.close(machine);
      if (cause instanceof JobFailed && cause.kind === 'SnapshotError') throw new SnapshotError(cause.message, cause);
      throw cause;
    }
  }

  #moduleOf(code: IrModule): number {
    const known = this.#modules.get(code);
    if (known !== undefined) return known;
    const module = ++this.#numbers;
    this.#modules.set(code, module);
    this.#tell({ kind: 'module', module, code });
    const [oldest] = this.#modules;
    if (this.#modules.size > modulesMax && oldest !== undefined) {
      this.#modules.delete(oldest[0]);
      this.#tell({ kind: 'forget', module: oldest[1] });
    }
    return module;
  }

  async do(job: MachineJob, withinMs: number): Promise<unknown> {
    return await this.#process.do(job, withinMs);
  }

  close(machine: number): void {
    if (!this.#machines.delete(machine)) return;
    this.#tell({ kind: 'close', machine });
    if (this.#machines.size > 0) return;
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.end(), idleMs).unref();
  }

  end(): void {
    this.#process.close();
  }

  #tell(job: MachineJob): void {
    // What is told to a host that has ended is of no interest any more.
    this.do(job, beginMs).catch(() => undefined);
  }
}

type Placed = {
  readonly machine: number;
  readonly pending: readonly ProgramRequest[];
  readonly sliceMs: number;
  readonly isAlone: boolean;
};

class HostedMachine implements Machine {
  readonly pending: readonly ProgramRequest[];
  readonly isElsewhere = true;
  readonly #host: MachineHost;
  readonly #placed: Placed;
  #places: readonly TraceEntry[] = [];

  constructor(host: MachineHost, placed: Placed) {
    this.pending = placed.pending;
    this.#host = host;
    this.#placed = placed;
  }

  async turn(given: Given): Promise<readonly Turn[]> {
    const { machine, sliceMs } = this.#placed;
    try {
      const reply = await this.#host.do({ kind: 'turn', machine, given }, sliceMs);
      if (!isTurn(reply)) throw new MachineLost('a machine came back with nothing');
      this.#places = reply.places;
      return reply.isMore ? await this.#withMore(reply.turns) : reply.turns;
    } catch (cause) {
      if (!(cause instanceof HostEnded)) throw cause;
      const message = this.#faultOf(cause);
      if (message === undefined) throw new MachineLost(cause.message, cause.isAtWork);
      return [{ status: 'failed', failure: { type: 'LimitError', message, trace: [], panic: false }, effects: [] }];
    }
  }

  async #withMore(turns: readonly Turn[]): Promise<readonly Turn[]> {
    const last = turns.at(-1);
    if (last === undefined) return turns;
    const effects = [...last.effects];
    for (let isMore = true; isMore; ) {
      const reply = await this.#host.do({ kind: 'more', machine: this.#placed.machine }, beginMs);
      if (!isMoreReply(reply)) break;
      for (const effect of reply.effects) effects.push(effect);
      isMore = reply.isMore;
    }
    return [...turns.slice(0, -1), { ...last, effects }];
  }

  /** What the program did to its host; undefined where it may have been another's fault. */
  #faultOf({ code, isAtWork }: HostEnded): string | undefined {
    const { sliceMs, isAlone } = this.#placed;
    if (!isAtWork) return undefined;
    if (code === 'late') {
      return `the program has computed for more than ${sliceMs / 1000} s at one go, its limit \`slice\`: a built-in was given too much at once`;
    }
    if (code === 'broken') return 'the process of the program has broken';
    return code === 'died' && isAlone ? 'the program has taken more memory than its process may have' : undefined;
  }

  places(): readonly TraceEntry[] {
    return this.#places;
  }

  async snapshot(): Promise<string> {
    try {
      return String(await this.#host.do({ kind: 'snapshot', machine: this.#placed.machine }, beginMs));
    } catch (cause) {
      throw cause instanceof HostEnded ? new MachineLost(cause.message) : cause;
    }
  }

  close(): void {
    this.#host.close(this.#placed.machine);
  }
}

/** Written by this version of ourselves. */
function isBegin(reply: unknown): reply is BeginReply {
  return typeof reply === 'object' && reply !== null && 'pending' in reply;
}

function isMoreReply(reply: unknown): reply is MoreReply {
  return typeof reply === 'object' && reply !== null && 'effects' in reply;
}

function isTurn(reply: unknown): reply is TurnReply {
  return typeof reply === 'object' && reply !== null && 'turns' in reply;
}
