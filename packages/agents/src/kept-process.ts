import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { spanText } from '@concerto/base';
import {
  type AgentSignal,
  defaultStepMs,
  type EndOptions,
  endOrphan,
  type FromKeeper,
  type InterruptOptions,
  type KeeperLine,
  type LineId,
  type ProcessIdentity,
} from '@concerto/keeper';
import type { AgentExit, OutputPlace } from './agent-connection.ts';
import type { AgentError } from './agent-error.ts';
import type { AgentProcess, Alarm, LineReader } from './agent-process.ts';
import { KeptAlarms } from './kept-alarms.ts';
import { type KeptNote, KeptSteps } from './kept-steps.ts';
import { brokenPipe, endedBecause, exitError, stalled } from './process-words.ts';
import { StderrLines } from './stderr-lines.ts';
import { StderrTail } from './stderr-tail.ts';
import { isAfter, UntakenLines } from './untaken-lines.ts';

/** What was said before, by the keeper's word. */
type Recorded = { readonly notes: number; readonly bytes: number; readonly written: LineId | null };

export type KeptParts = {
  readonly agent: string;
  readonly line: KeeperLine;
  readonly identity: ProcessIdentity;
  readonly stepMs: number | undefined;
  /** Undefined when it has just begun. */
  readonly recorded: Recorded | undefined;
};

/** An agent's process that a keeper holds: it outlives us, and another owner may take it up. */
export class KeptProcess implements AgentProcess {
  readonly identity: ProcessIdentity;
  readonly exited: Promise<AgentExit>;
  readonly #parts: KeptParts;
  readonly #steps: KeptSteps;
  readonly #alarms: KeptAlarms;
  readonly #untaken = new UntakenLines((why) => stalled(this.#parts.agent, this.stderrText(), why));
  #stderr = new StderrTail([]);
  #stderrLines: StderrLines | undefined;
  #isTailToCome: boolean;
  #uuids = 0;
  #exit: AgentExit | undefined;
  #exitNow: (exit: AgentExit) => void = () => {};
  /** Its end, as soon as that is known, whether or not all before it was gone through. */
  readonly #gone: Promise<AgentExit>;
  #goneNow: (exit: AgentExit) => void = () => {};
  #isDetached = false;
  readonly #left: Promise<AgentExit>;
  #leaveNow: () => void = () => {};

  constructor(parts: KeptParts) {
    this.#parts = parts;
    this.identity = parts.identity;
    this.#isTailToCome = parts.recorded !== undefined;
    this.exited = new Promise((resolve) => {
      this.#exitNow = resolve;
    });
    this.#gone = new Promise((resolve) => {
      this.#goneNow = resolve;
    });
    this.#left = new Promise((resolve) => {
      this.#leaveNow = () => resolve({ ...unknownEnd, stderr: '', why: 'goes on without us' });
    });
    this.#alarms = new KeptAlarms((number) => this.note({ alarm: number }));
    this.#steps = new KeptSteps(parts.recorded, {
      confirm: (bytes) => parts.line.send({ type: 'ack', bytes }),
      pause: () => parts.line.pause(),
      resume: () => parts.line.resume(),
      alarm: (number) => this.#alarms.ring(number),
      caughtUp: () => {
        this.#alarms.arm();
        // An exit that came before is known when all before it was gone through.
        if (this.#exit !== undefined) this.#exitNow(this.#exit);
      },
    });
    if (parts.recorded === undefined) this.#alarms.arm();
  }

  readonly place = (): OutputPlace => this.#steps.place();

  /** All that was said and done before was gone through again. */
  get caughtUp(): Promise<void> {
    return this.#steps.caughtUp;
  }

  /** What must not be seen of it, and who wants to see the rest. */
  complains(secrets: readonly string[], onStderr: ((line: string) => void) | undefined): void {
    this.#stderr = new StderrTail(secrets);
    if (onStderr !== undefined) this.#stderrLines = new StderrLines(onStderr, (text) => this.conceal(text));
  }

  /** What its driver is asked to do, so that another owner's does the same. */
  note(note: KeptNote): void {
    const step = this.#steps.begin();
    this.#parts.line.send({ type: 'note', step }, JSON.stringify(note));
  }

  /** From now on what was asked of the driver before is asked again, each in its place. */
  performing(perform: (note: KeptNote) => void): void {
    this.#steps.performing(perform);
  }

  /**
   * To the driver a line is written at once, so that it does the same whenever the pipe takes it; whoever asked the
   * driver waits for `flushed`.
   */
  write(line: string): Promise<void> {
    const { written } = this.#parts.recorded ?? {};
    const id = this.#steps.lineId();
    if (written != null && !isAfter(id, written)) return Promise.resolve();
    if (this.#exit !== undefined) return Promise.reject(this.exitError(this.#exit));
    this.#untaken.add(id);
    // At once: whatever else of ours is due, an answer to whoever wrote it among it, is not waited for.
    this.#parts.line.sendNow({ type: 'line', step: id.step, index: id.index }, `${line}\n`);
    return Promise.resolve();
  }

  /** The agent's pipe has taken all that was written. */
  flushed(): Promise<void> {
    return this.#untaken.flushed();
  }

  readLines(reader: LineReader): void {
    this.#steps.read(reader);
  }

  resume(): void {
    this.#steps.resume();
  }

  uuid(): string {
    const hash = createHash('sha256')
      .update(`${this.identity.marker}/${++this.#uuids}`)
      .digest('hex');
    return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-4${hash.slice(13, 16)}-8${hash.slice(17, 20)}-${hash.slice(20, 32)}`;
  }

  later(ms: number, call: () => void): Alarm {
    return this.#alarms.add(ms, call);
  }

  async end({ stepMs, atWork = false }: EndOptions = {}): Promise<AgentExit> {
    if (!this.#isDetached) {
      this.#parts.line.send({ type: 'end-own', atWork, ...(stepMs === undefined ? {} : { stepMs }) });
    }
    // Whoever gives up on a start goes through nothing more of what it said.
    return await Promise.race([this.#gone, this.#left]);
  }

  async interrupt({ stepMs, settled }: InterruptOptions = {}): Promise<AgentExit | undefined> {
    const waitMs = stepMs ?? this.#parts.stepMs ?? defaultStepMs;
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGKILL'] as const) {
      if (this.#exit !== undefined) return await this.exited;
      this.#signal(signal);
      this.#signal('SIGCONT');
      const waited = AbortSignal.any([AbortSignal.timeout(waitMs), ...(settled === undefined ? [] : [settled])]);
      await Promise.race([this.exited, aborted(waited)]);
      if (settled?.aborted === true) return undefined;
    }
    return await this.exited;
  }

  freeze(): void {
    this.#signal('SIGSTOP');
  }

  thaw(): void {
    this.#signal('SIGCONT');
  }

  exitError(exit: AgentExit): AgentError {
    return exitError(this.#parts.agent, exit);
  }

  conceal(text: string): string {
    return this.#stderr.conceal(text);
  }

  stderrText(): string {
    return this.#stderr.text();
  }

  /** It goes on without us; nothing more is heard of it here. */
  detach(): void {
    this.#isDetached = true;
    this.#leaveNow();
    this.#steps.stop();
    this.#alarms.stop();
    this.#untaken.stop();
    this.#parts.line.close();
  }

  /** Its exit is where it counts; of one that goes on without us that is another's to say. */
  forget(): void {
    if (!this.#isDetached) this.#parts.line.send({ type: 'forget' });
  }

  hear(head: FromKeeper, body: Buffer): void {
    switch (head.type) {
      case 'out':
        return this.#steps.said(body);
      case 'stderr':
        return this.#complained(body);
      case 'note':
        return this.#steps.recorded(head.step, body.toString());
      case 'taken':
        return this.#untaken.taken(head);
      case 'untaken':
        return this.#notTaken(head);
      case 'exit':
        return this.#exited(exitOf(head, this.stderrText()));
      case 'refused':
        return this.#exited({ ...unknownEnd, stderr: this.stderrText(), why: `is no longer ours: ${head.message}` });
      default:
        return;
    }
  }

  /** The keeper is gone; what it held goes with it. */
  closed(): void {
    if (this.#isDetached || this.#exit !== undefined) return;
    const why = 'was lost: the keeper that held it has ended';
    void endOrphan(this.identity).finally(() => this.#exited({ ...unknownEnd, stderr: this.stderrText(), why }));
  }

  #complained(chunk: Buffer): void {
    this.#stderr.push(chunk);
    // What it wrote before it was taken up comes in one piece, and was told then.
    if (this.#isTailToCome) this.#isTailToCome = false;
    else this.#stderrLines?.push(chunk);
  }

  #signal(signal: AgentSignal): void {
    this.#parts.line.send({ type: 'signal', signal });
  }

  #notTaken({ reason, ...id }: Extract<FromKeeper, { type: 'untaken' }>): void {
    const { agent, stepMs = defaultStepMs } = this.#parts;
    if (reason === 'stalled') {
      return this.#untaken.failed(id, stalled(agent, this.stderrText(), 'too much waits for it'));
    }
    void Promise.race([this.exited, sleep(stepMs, undefined, { ref: false })]).then((exit) =>
      this.#untaken.failed(id, exit === undefined ? brokenPipe(agent, this.stderrText()) : this.exitError(exit)),
    );
  }

  #exited(exit: AgentExit): void {
    if (this.#exit !== undefined || this.#isDetached) return;
    this.#exit = exit;
    this.#stderrLines?.end();
    this.#untaken.end(this.exitError(exit));
    this.#goneNow(exit);
    if (this.#steps.isCaughtUp) this.#exitNow(exit);
    this.#steps.ended(exit);
  }
}

function exitOf({ code, signal, unownedMs, reason }: Extract<FromKeeper, { type: 'exit' }>, stderr: string): AgentExit {
  const why =
    unownedMs === undefined
      ? reason && endedBecause[reason]
      : `was ended: no server took it up within ${spanText(unownedMs)} (\`keep_agents\`)`;
  return { code, signal, stderr, ...(why === undefined ? {} : { why }) };
}

const unknownEnd = { code: null, signal: null } as const;

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
