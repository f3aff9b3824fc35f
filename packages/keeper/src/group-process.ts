import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { endOrphan } from './end-orphan.ts';
import {
  describeProcess,
  markerVariable,
  type ProcessIdentity,
  processesMarked,
  sendSignal,
} from './process-identity.ts';

/** What a process is started from; nothing is inherited but this. */
export type Launch = {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly marker: string;
};

export type GroupExit = { readonly code: number | null; readonly signal: string | null };

/** How long each step towards the end of a process is given. */
export type InterruptOptions = { readonly stepMs?: number | undefined; readonly settled?: AbortSignal | undefined };
export type EndOptions = { readonly stepMs?: number | undefined; readonly atWork?: boolean };

export type GroupOptions = {
  readonly stepMs?: number | undefined;
  /** Called once after the exit with what it had started and left running, before that is ended. */
  readonly onLeftovers?: ((pids: readonly number[]) => void) | undefined;
};

export const defaultStepMs = 2_000;
/** A process that SIGKILL does not end hangs in the kernel; nothing is gained by waiting for it. */
const killedMs = 5_000;
/** For what a process started to notice that it has ended. */
const leftoverMs = 500;
const leftoverPollMs = 25;

type Child = ChildProcessByStdio<Writable, Readable, Readable>;
type Exited = { readonly code: number | null; readonly signal: string | null };

/** Those that live now; see `endAllAtExit`. */
const living = new Set<number>();

/** A process in a group of its own, ended with all that it started. */
export class GroupProcess {
  readonly identity: ProcessIdentity;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** It and whatever it started have ended. */
  readonly exited: Promise<GroupExit>;
  readonly #child: Child;
  readonly #stepMs: number;
  readonly #onLeftovers: GroupOptions['onLeftovers'];
  #isOver = false;
  #ending: Promise<GroupExit> | undefined;

  private constructor(child: Child, identity: ProcessIdentity, exit: Promise<Exited>, options: GroupOptions) {
    this.identity = identity;
    this.stdin = child.stdin;
    this.stdout = child.stdout;
    this.stderr = child.stderr;
    this.#child = child;
    this.#stepMs = options.stepMs ?? defaultStepMs;
    this.#onLeftovers = options.onLeftovers;
    this.exited = this.#watch(exit);
  }

  /** Rejects with the reason of the system when it cannot be started. `onSpawn` may listen to its pipes at once. */
  static async start(
    { command, args, cwd, env, marker }: Launch,
    options: GroupOptions & { readonly onSpawn?: (child: Pick<Child, 'stdout' | 'stderr'>) => void } = {},
  ): Promise<GroupProcess> {
    const child = spawn(command, [...args], {
      cwd,
      env: { ...env, [markerVariable]: marker },
      stdio: ['pipe', 'pipe', 'pipe'],
      // A group of its own: a signal then reaches all that it starts, and a Ctrl-C in our terminal does not reach it.
      detached: true,
    });
    // Out of descriptors it has not even pipes; with nobody who listens, its error would end our whole process.
    if (child.pid === undefined) await once(child, 'spawn');
    const exit = new Promise<Exited>((resolve) => {
      child.once('exit', (code, signal) => resolve({ code, signal }));
    });
    options.onSpawn?.(child);
    for (const pipe of [child.stdout, child.stderr]) if (pipe.listenerCount('data') === 0) holdWords(pipe);
    // A pipe that breaks is told to whoever writes; as an unhandled event it would end our whole process.
    for (const pipe of [child.stdin, child.stdout, child.stderr]) pipe.on('error', () => {});
    await once(child, 'spawn');
    // A later failure, of a signal for example, shows in what we wait for; as an unhandled event it would end us.
    child.on('error', () => {});
    const { pid } = child;
    if (pid === undefined) throw new Error('it got no pid');
    endAllAtExit(pid);
    // It can be gone before it can be described; its start time then never matches, which is right.
    const startTime = (await describeProcess(pid))?.startTime ?? 'gone';
    return new GroupProcess(child, { pid, startTime, marker }, exit, options);
  }

  /** stdin's end, SIGTERM, SIGKILL; each with a step's time to work, but the first has none when it is `atWork`. */
  end({ stepMs = this.#stepMs, atWork = false }: EndOptions = {}): Promise<GroupExit> {
    if (this.#ending !== undefined) return this.#ending;
    if (atWork) this.stdin.end();
    this.#ending = this.#climb(stepMs, [...(atWork ? [] : [() => this.stdin.end()]), 'SIGTERM', 'SIGKILL']);
    return this.#ending;
  }

  /** SIGINT, SIGTERM, SIGKILL; undefined when `settled` came first. */
  async interrupt({ stepMs = this.#stepMs, settled }: InterruptOptions = {}): Promise<GroupExit | undefined> {
    const whenSettled = settled === undefined ? new Promise<never>(() => {}) : aborted(settled);
    return await Promise.race([this.#climb(stepMs, ['SIGINT', 'SIGTERM', 'SIGKILL'], settled), whenSettled]);
  }

  /** To all of the group. */
  signal(signal: NodeJS.Signals): void {
    if (!this.#isOver) sendSignal(-this.identity.pid, signal);
  }

  async #climb(
    stepMs: number,
    steps: readonly ((() => void) | NodeJS.Signals)[],
    stop?: AbortSignal,
  ): Promise<GroupExit> {
    for (const step of steps) {
      if (this.#isOver || stop?.aborted === true) break;
      if (typeof step === 'string') this.signal(step);
      else step();
      // A process that was stopped where it stands hears nothing else before it goes on.
      this.signal('SIGCONT');
      const waited = new AbortController();
      const waitMs = step === 'SIGKILL' ? killedMs : stepMs;
      const pause = sleep(waitMs, undefined, { signal: waited.signal }).catch(() => {});
      await Promise.race([this.exited, pause, ...(stop === undefined ? [] : [aborted(stop)])]);
      waited.abort();
    }
    return await this.exited;
  }

  async #watch(exit: Promise<Exited>): Promise<GroupExit> {
    const { code, signal } = await exit;
    living.delete(this.identity.pid);
    if (this.#onLeftovers !== undefined) this.#onLeftovers(await this.#leftovers());
    // What it started must not outlive it: first its group, then whoever left the group but carries the marker.
    sendSignal(-this.identity.pid, 'SIGTERM');
    await endOrphan(this.identity, this.#stepMs);
    sendSignal(-this.identity.pid, 'SIGKILL');
    this.#isOver = true;
    this.#child.stdin.destroy();
    return { code, signal };
  }

  /** What it started and did not end, after a moment for what ends on its own. */
  async #leftovers(): Promise<readonly number[]> {
    const deadline = Date.now() + leftoverMs;
    for (;;) {
      const left = await processesMarked(this.identity.marker);
      if (left.length === 0 || Date.now() >= deadline) return left;
      await sleep(leftoverPollMs);
    }
  }
}

/**
 * When a process exits, Node reads what nobody listens to and drops it: an agent that says why it cannot start and ends
 * would be gone without a word. So it stays in the pipe until somebody listens.
 */
function holdWords(pipe: Readable): void {
  const held = (): void => {};
  const release = (event: string | symbol): void => {
    if (event !== 'data') return;
    pipe.off('newListener', release);
    pipe.off('readable', held);
  };
  pipe.on('readable', held);
  pipe.on('newListener', release);
}

function aborted(signal: AbortSignal): Promise<undefined> {
  if (signal.aborted) return Promise.resolve(undefined);
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
}

/** When our own process ends without ending them, they go with it. Only SIGKILL of us gets past this. */
function endAllAtExit(pid: number): void {
  if (living.size === 0 && process.listenerCount('exit', killLiving) === 0) process.on('exit', killLiving);
  living.add(pid);
}

function killLiving(): void {
  for (const pid of living) sendSignal(-pid, 'SIGKILL');
}
