import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  defaultStepMs,
  type EndOptions,
  GroupProcess,
  type InterruptOptions,
  type ProcessIdentity,
  readOut,
} from '@concerto/keeper';
import { LineSplitter } from '@concerto/protocol';
import type { AgentExit, AgentSpec } from './agent-connection.ts';
import { AgentError } from './agent-error.ts';
import { agentLaunch } from './agent-launch.ts';
import type { AgentProcess, Alarm, LineReader, ProcessOptions } from './agent-process.ts';
import { alarm } from './alarm.ts';
import { brokenPipe, endedBecause, exitError, stalled, stdinBufferMax, WaitingWrites } from './process-words.ts';
import { StderrLines } from './stderr-lines.ts';
import { StderrTail } from './stderr-tail.ts';

/** After its exit: for stderr to end, which something the agent started may hold open. */
const stderrCloseMs = 500;
/** After the exit: for stdout to end, which something that got away may hold open. */
const stdoutCloseMs = 1_000;
/** After stdout ended: for the process to end too. One that lives on can say nothing more. */
const exitAfterStdoutMs = 2_000;

type Parts = {
  readonly agent: string;
  readonly group: GroupProcess;
  readonly stderr: StderrTail;
  readonly stepMs: number;
};

/** An agent's process that is our own child: it ends with us. */
export class DirectProcess implements AgentProcess {
  readonly identity: ProcessIdentity;
  readonly exited: Promise<AgentExit>;
  readonly place = undefined;
  readonly #agent: string;
  readonly #group: GroupProcess;
  readonly #stderr: StderrTail;
  readonly #stepMs: number;
  readonly #writes = new WaitingWrites();
  #exit: AgentExit | undefined;
  /** It was ended though nobody has asked for it. */
  #why: string | undefined;

  private constructor({ agent, group, stderr, stepMs }: Parts) {
    this.identity = group.identity;
    this.#agent = agent;
    this.#group = group;
    this.#stderr = stderr;
    this.#stepMs = stepMs;
    this.exited = this.#watch();
  }

  static async start(spec: AgentSpec, options: ProcessOptions = {}): Promise<DirectProcess> {
    const { endGraceMs: stepMs = defaultStepMs, onStderr, onLeftovers } = options;
    const { argv, workingDir: cwd, variables, secrets } = await agentLaunch(spec);
    const env = { ...variables, ...options.variables };
    const stderr = new StderrTail(secrets);
    const onSpawn = (child: { readonly stderr: NodeJS.ReadableStream }): void => {
      child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
      if (onStderr === undefined) return;
      const lines = new StderrLines(onStderr, (text) => stderr.conceal(text));
      child.stderr.on('data', (chunk: Buffer) => lines.push(chunk));
      child.stderr.once('close', () => lines.end());
    };
    const launch = { ...argv, cwd, env, marker: randomUUID() };
    const group = await GroupProcess.start(launch, { stepMs, onLeftovers, onSpawn }).catch((cause: unknown) => {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new AgentError('spawn-failed', `agent "${spec.name}" cannot start: ${reason}`, { cause });
    });
    return new DirectProcess({ agent: spec.name, group, stderr, stepMs });
  }

  write(line: string): Promise<void> {
    const { stdin } = this.#group;
    if (this.#exit !== undefined) return Promise.reject(this.exitError(this.#exit));
    if (stdin.writableLength + line.length > stdinBufferMax) {
      return Promise.reject(stalled(this.#agent, this.stderrText(), `${stdinBufferMax} bytes wait for it`));
    }
    return new Promise((resolve, reject) => {
      const taken = this.#writes.add((why) => reject(stalled(this.#agent, this.stderrText(), why)));
      stdin.write(`${line}\n`, (error) => {
        taken();
        if (error) void this.#brokenPipe(error).then(reject);
        else resolve();
      });
    });
  }

  readLines(reader: LineReader): void {
    const { stdout } = this.#group;
    const splitter = new LineSplitter();
    stdout.on('data', (chunk: Buffer) => {
      for (const line of splitter.push(chunk)) reader.line(line);
      reader.rest();
      if (reader.isFull()) stdout.pause();
    });
    stdout.once('end', () => void this.#endIfMute());
    void this.exited.then(async (exit) => {
      await readOut(stdout, stdoutCloseMs);
      for (const line of splitter.end()) reader.line(line);
      reader.end(exit);
    });
  }

  resume(): void {
    this.#group.stdout.resume();
  }

  uuid(): string {
    return randomUUID();
  }

  later(ms: number, call: () => void): Alarm {
    return alarm(ms, call);
  }

  async end(options?: EndOptions): Promise<AgentExit> {
    await this.#group.end(options);
    return await this.exited;
  }

  async interrupt(options?: InterruptOptions): Promise<AgentExit | undefined> {
    return (await this.#group.interrupt(options)) === undefined ? undefined : await this.exited;
  }

  freeze(): void {
    this.#group.signal('SIGSTOP');
  }

  thaw(): void {
    this.#group.signal('SIGCONT');
  }

  exitError(exit: AgentExit): AgentError {
    return exitError(this.#agent, exit);
  }

  conceal(text: string): string {
    return this.#stderr.conceal(text);
  }

  stderrText(): string {
    return this.#stderr.text();
  }

  async #watch(): Promise<AgentExit> {
    const exit = await this.#group.exited;
    this.#writes.stop();
    await readOut(this.#group.stderr, stderrCloseMs);
    const why = this.#why === undefined ? {} : { why: this.#why };
    this.#exit = { ...exit, stderr: this.#stderr.text(), ...why };
    return this.#exit;
  }

  async #brokenPipe(cause: unknown): Promise<AgentError> {
    const exit = await Promise.race([this.exited, sleep(this.#stepMs, undefined, { ref: false })]);
    return exit === undefined ? brokenPipe(this.#agent, this.#stderr.text(), cause) : this.exitError(exit);
  }

  async #endIfMute(): Promise<void> {
    const gone = this.exited.then(() => true);
    if (await Promise.race([gone, sleep(exitAfterStdoutMs, false, { ref: false })])) return;
    this.#why = endedBecause.mute;
    await this.end();
  }
}
