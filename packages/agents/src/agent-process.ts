import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type {
  AgentExit,
  AgentSpec,
  EndOptions,
  InterruptOptions,
  ProcessIdentity,
  StartOptions,
} from './agent-connection.ts';
import { AgentError } from './agent-error.ts';
import { agentLaunch } from './agent-launch.ts';
import { endOrphan } from './end-orphan.ts';
import { describeProcess, markerVariable, processesMarked, sendSignal } from './process-identity.ts';
import { StderrLines } from './stderr-lines.ts';
import { StderrTail, stderrExcerpt } from './stderr-tail.ts';

/** What may wait for an agent that does not read its stdin. */
const stdinBufferMax = 32 * 1024 * 1024;
const stdinTimeoutMs = 60_000;
/** After its exit: for stderr to end, which something the agent started may hold open. */
const stderrCloseMs = 500;
/** A process that SIGKILL does not end hangs in the kernel; nothing is gained by waiting for it. */
const killedMs = 5_000;

const defaultStepMs = 2_000;

/** For what an agent started to notice that it has ended. */
const leftoverMs = 500;
const leftoverPollMs = 25;

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

type ProcessOptions = Pick<StartOptions, 'endGraceMs' | 'onStderr' | 'onLeftovers'> & {
  /** Set as they are, beside the agent's own. */
  readonly variables?: Readonly<Record<string, string>>;
};

type WaitingWrite = { readonly since: number; readonly reject: (error: AgentError) => void };

/** Agents that live now; see `endAllAtExit`. */
const living = new Set<number>();

/** An agent's process: spawned in a group of its own, fed, and ended with all that it started. */
export class AgentProcess {
  readonly identity: ProcessIdentity;
  readonly stdout: Readable;
  readonly exited: Promise<AgentExit>;
  readonly #agent: string;
  readonly #child: Child;
  readonly #stderr: StderrTail;
  readonly #stepMs: number;
  readonly #onLeftovers: ProcessOptions['onLeftovers'];
  readonly #waitingWrites = new Set<WaitingWrite>();
  #writeTimer: NodeJS.Timeout | undefined;
  #exit: AgentExit | undefined;
  #ending: Promise<AgentExit> | undefined;

  private constructor(parts: {
    spec: AgentSpec;
    child: Child;
    identity: ProcessIdentity;
    stderr: StderrTail;
    stepMs: number;
    onLeftovers: ProcessOptions['onLeftovers'];
  }) {
    this.identity = parts.identity;
    this.stdout = parts.child.stdout;
    this.#agent = parts.spec.name;
    this.#child = parts.child;
    this.#stderr = parts.stderr;
    this.#stepMs = parts.stepMs;
    this.#onLeftovers = parts.onLeftovers;
    this.exited = this.#watch();
  }

  static async start(spec: AgentSpec, options: ProcessOptions = {}): Promise<AgentProcess> {
    const { endGraceMs: stepMs = defaultStepMs, onStderr, onLeftovers } = options;
    const marker = randomUUID();
    const { command, workingDir, variables, secrets } = await agentLaunch(spec);
    const extra = options.variables ?? {};
    const child = spawn(command, [...(spec.args ?? [])], {
      cwd: workingDir,
      env: { ...variables, ...extra, [markerVariable]: marker },
      stdio: ['pipe', 'pipe', 'pipe'],
      // A group of its own: a signal then reaches all that the agent starts, and a Ctrl-C in our terminal does not reach it.
      detached: true,
    });
    const stderr = new StderrTail(secrets);
    child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
    if (onStderr !== undefined) {
      const lines = new StderrLines(onStderr, (text) => stderr.conceal(text));
      child.stderr.on('data', (chunk: Buffer) => lines.push(chunk));
      child.stderr.once('close', () => lines.end());
    }
    // A pipe that breaks is told to whoever writes; as an unhandled event it would end our whole process.
    child.stdin.on('error', () => {});
    child.stdout.on('error', () => {});
    child.stderr.on('error', () => {});
    await spawned(spec, child);
    const pid = child.pid;
    if (pid === undefined) throw new AgentError('spawn-failed', `agent "${spec.name}" cannot start: it got no pid`);
    endAllAtExit(pid);
    // An agent can be gone before it can be described; its start time then never matches, which is right.
    const startTime = (await describeProcess(pid))?.startTime ?? 'gone';
    return new AgentProcess({ spec, child, identity: { pid, startTime, marker }, stderr, stepMs, onLeftovers });
  }

  /** Resolves when the pipe has taken the line. */
  write(line: string): Promise<void> {
    const { stdin } = this.#child;
    if (this.#exit !== undefined) return Promise.reject(this.exitError(this.#exit));
    if (stdin.writableLength + line.length > stdinBufferMax) {
      return Promise.reject(this.#stalled(`${stdinBufferMax} bytes wait for it`));
    }
    return new Promise((resolve, reject) => {
      const waiting: WaitingWrite = { since: Date.now(), reject };
      this.#waitingWrites.add(waiting);
      stdin.write(`${line}\n`, (error) => {
        this.#waitingWrites.delete(waiting);
        if (error) void this.#brokenPipe(error).then(reject);
        else resolve();
      });
      this.#watchWrites();
    });
  }

  /** One timer for all writes: a timer for each would cost more than the write. */
  #watchWrites(): void {
    this.#writeTimer ??= setTimeout(() => {
      this.#writeTimer = undefined;
      for (const waiting of this.#waitingWrites) {
        if (Date.now() - waiting.since < stdinTimeoutMs) continue;
        this.#waitingWrites.delete(waiting);
        waiting.reject(this.#stalled(`it took nothing for ${stdinTimeoutMs / 1000} s`));
      }
      if (this.#waitingWrites.size > 0) this.#watchWrites();
    }, stdinTimeoutMs).unref();
  }

  /** stdin's end, SIGTERM, SIGKILL; each with a step's time to work, but the first has none when the agent is `atWork`. */
  end({ stepMs = this.#stepMs, atWork = false }: EndOptions = {}): Promise<AgentExit> {
    if (this.#ending !== undefined) return this.#ending;
    if (atWork) this.#child.stdin.end();
    this.#ending = this.#climb(stepMs, [...(atWork ? [] : [() => this.#child.stdin.end()]), 'SIGTERM', 'SIGKILL']);
    return this.#ending;
  }

  /** SIGINT, SIGTERM, SIGKILL; undefined when `settled` came first. */
  async interrupt({ stepMs = this.#stepMs, settled }: InterruptOptions = {}): Promise<AgentExit | undefined> {
    const whenSettled = settled === undefined ? new Promise<never>(() => {}) : aborted(settled);
    return Promise.race([this.#climb(stepMs, ['SIGINT', 'SIGTERM', 'SIGKILL'], settled), whenSettled]);
  }

  freeze(): void {
    sendSignal(-this.identity.pid, 'SIGSTOP');
  }

  thaw(): void {
    sendSignal(-this.identity.pid, 'SIGCONT');
  }

  exitError(exit: AgentExit): AgentError {
    const how = exit.signal === null ? `code ${exit.code}` : `signal ${exit.signal}`;
    return new AgentError(
      'exited',
      `agent exited without result: agent "${this.#agent}" ended with ${how}; ${stderrExcerpt(exit.stderr)}`,
      { stderr: exit.stderr },
    );
  }

  /** Words of the agent's own, with the secrets that it was given struck out. */
  conceal(text: string): string {
    return this.#stderr.conceal(text);
  }

  /** What it has written on stderr up to now. */
  stderrText(): string {
    return this.#stderr.text();
  }

  async #climb(
    stepMs: number,
    steps: readonly ((() => void) | NodeJS.Signals)[],
    stop?: AbortSignal,
  ): Promise<AgentExit> {
    for (const step of steps) {
      if (this.#exit !== undefined || stop?.aborted === true) break;
      if (typeof step === 'string') sendSignal(-this.identity.pid, step);
      else step();
      // A process that was stopped where it stands hears nothing else before it goes on.
      sendSignal(-this.identity.pid, 'SIGCONT');
      const waited = new AbortController();
      const waitMs = step === 'SIGKILL' ? killedMs : stepMs;
      const pause = sleep(waitMs, undefined, { signal: waited.signal }).catch(() => {});
      await Promise.race([this.exited, pause, ...(stop === undefined ? [] : [aborted(stop)])]);
      waited.abort();
    }
    return this.exited;
  }

  async #watch(): Promise<AgentExit> {
    const child = this.#child;
    const stderrClosed = new Promise<void>((resolve) => child.stderr.once('close', resolve));
    const { code, signal } = await ended(child);
    living.delete(this.identity.pid);
    clearTimeout(this.#writeTimer);
    if (this.#onLeftovers !== undefined) this.#onLeftovers(await this.#leftovers());
    // What the agent started must not outlive it: first its group, then whoever left the group but carries the marker.
    sendSignal(-this.identity.pid, 'SIGTERM');
    await endOrphan(this.identity, this.#stepMs);
    sendSignal(-this.identity.pid, 'SIGKILL');
    await Promise.race([stderrClosed, sleep(stderrCloseMs, undefined, { ref: false })]);
    child.stderr.destroy();
    child.stdin.destroy();
    this.#exit = { code, signal, stderr: this.#stderr.text() };
    return this.#exit;
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

  async #brokenPipe(cause: unknown): Promise<AgentError> {
    const exit = await Promise.race([this.exited, sleep(this.#stepMs, undefined, { ref: false })]);
    if (exit !== undefined) return this.exitError(exit);
    const stderr = this.#stderr.text();
    return new AgentError(
      'protocol',
      `agent "${this.#agent}" has closed its stdin but still runs; ${stderrExcerpt(stderr)}`,
      {
        cause,
        stderr,
      },
    );
  }

  #stalled(why: string): AgentError {
    return new AgentError(
      'stdin-stalled',
      `agent "${this.#agent}" does not read its stdin: ${why}; it may hang, interrupt it`,
      {
        stderr: this.#stderr.text(),
      },
    );
  }
}

async function spawned(spec: AgentSpec, child: Child): Promise<void> {
  try {
    await once(child, 'spawn');
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new AgentError('spawn-failed', `agent "${spec.name}" cannot start: ${reason}`, { cause });
  }
  // A later failure, of a signal for example, shows in what we wait for; as an unhandled event it would end us.
  child.on('error', () => {});
}

function ended(child: Child): Promise<{ code: number | null; signal: string | null }> {
  if (child.exitCode !== null || child.signalCode !== null) {
    return Promise.resolve({ code: child.exitCode, signal: child.signalCode });
  }
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
}

function aborted(signal: AbortSignal): Promise<undefined> {
  if (signal.aborted) return Promise.resolve(undefined);
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
}

/** When our own process ends without ending its agents, they go with it. Only SIGKILL of us gets past this. */
function endAllAtExit(pid: number): void {
  if (living.size === 0 && process.listenerCount('exit', killLiving) === 0) process.on('exit', killLiving);
  living.add(pid);
}

function killLiving(): void {
  for (const pid of living) sendSignal(-pid, 'SIGKILL');
}
