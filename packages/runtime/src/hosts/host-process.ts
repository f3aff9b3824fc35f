import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';

/** How a host came to its end. */
export type HostEnd =
  /** A job did not come back in its time. */
  | 'late'
  /** It was killed, by Node or by the system: there was no memory any more. */
  | 'died'
  /** It ended itself, which is a bug of ours. */
  | 'broken'
  /** It was not needed any more, or could not be started. */
  | 'closed';

/** What becomes of a job whose host has ended. */
export class HostEnded extends Error {
  override readonly name = 'HostEnded';
  readonly code: HostEnd;
  /** It was this job that the host was about. */
  readonly isAtWork: boolean;

  constructor(code: HostEnd, isAtWork: boolean, cause?: unknown) {
    super(`the process that should do it has ended: ${code}`, cause === undefined ? undefined : { cause });
    this.code = code;
    this.isAtWork = isAtWork;
  }
}

/** A job threw; `kind` is the name of the error. */
export class JobFailed extends Error {
  override readonly name = 'JobFailed';
  readonly code = 'job_failed';
  readonly kind: string;

  constructor(kind: string, message: string) {
    super(message);
    this.kind = kind;
  }
}

export type HostOptions = {
  /** The program of the host: a file that calls `serveJobs`. */
  readonly entry: URL;
  readonly heapMiB: number;
  /** Of Node; those of this process unless given: from source we were started with whatever reads TypeScript. */
  readonly flags?: readonly string[] | undefined;
};

type Job = {
  readonly withinMs: number;
  readonly resolve: (value: unknown) => void;
  readonly reject: (cause: Error) => void;
};

export type ToHost = { readonly number: number; readonly job: unknown };
/** The number 0 is the host's word that it is there. */
export type FromHost =
  | { readonly number: number; readonly value?: unknown }
  | { readonly number: number; readonly error: { readonly kind: string; readonly message: string } };

/** Of a process that Node has aborted, where a shell or a sandbox is between us. */
const abortedCode = 134;

/** How often we look whether a host is still about the same job. */
const lookEveryMs = 100;
/** A host that does not compute, because it is stopped or has nobody who lets it, has so many times the time. */
const patience = 10;
/** For a process to be there at all, on a machine that has much to do. */
const startsWithinMs = 60_000;

/**
 * A process that does one job after the other, and is ended when one computes for longer than it may. It dies with us, and
 * when it runs out of memory it dies alone, which no thread does. What counts is the time that it had a processor, where
 * the system tells it; else looks are counted: between two of them we have read what had come, so that an answer is not
 * late because we were.
 */
export class HostProcess {
  readonly #process: ChildProcessByStdio<Writable, Readable, null>;
  /** What keeps our own process up. */
  readonly #parts: readonly { ref(): unknown; unref(): unknown }[];
  /** In the order in which they are done. */
  readonly #jobs = new Map<number, Job>();
  #isThere = false;
  #number = 0;
  #startLooks = 0;
  #seen: { readonly number: number; readonly looks: number; readonly fromMs: number | undefined } | undefined;
  #looking: NodeJS.Timeout | undefined;
  #pieces: string[] = [];
  #end: HostEnd | undefined;

  constructor({ entry, heapMiB, flags = process.execArgv }: HostOptions) {
    const file = fileURLToPath(entry);
    this.#process = spawn(process.execPath, [...flags, `--max-old-space-size=${heapMiB}`, file], {
      // What is said of an end out of memory helps nobody who reads our own words.
      stdio: ['pipe', 'pipe', 'ignore'],
      // None of our variables is its business; a group of its own: what is typed at us is not meant for it.
      env: {},
      detached: true,
    });
    const { stdin, stdout } = this.#process;
    this.#parts = [this.#process, ...[stdin, stdout].filter((pipe) => pipe instanceof Socket)];
    this.#process.on('error', (cause) => this.#ended('closed', cause));
    // That nobody reads is told by its end.
    this.#process.stdin.on('error', () => undefined);
    this.#process.stdout.setEncoding('utf8').on('data', (text: string) => this.#hear(text));
    // Not at `exit`: what it said before is read first, so that the first job that is left is the one it was about.
    this.#process.on('close', (code) => this.#ended(code === null || code === abortedCode ? 'died' : 'broken'));
    this.#holdProcess(false);
  }

  get hasEnded(): boolean {
    return this.#end !== undefined;
  }

  async do(job: unknown, withinMs: number): Promise<unknown> {
    if (this.#end !== undefined) throw new HostEnded(this.#end, false);
    const message: ToHost = { number: ++this.#number, job };
    const done = new Promise((resolve, reject) => {
      this.#jobs.set(message.number, { withinMs, resolve, reject });
    });
    if (this.#jobs.size === 1) this.#holdProcess(true);
    this.#process.stdin.write(`${JSON.stringify(message)}\n`);
    this.#looking ??= setInterval(() => this.#look(), lookEveryMs).unref();
    return await done;
  }

  close(): void {
    this.#ended('closed');
  }

  /** While it works for somebody our own process does not end. */
  #holdProcess(isHeld: boolean): void {
    for (const part of this.#parts) {
      if (isHeld) part.ref();
      else part.unref();
    }
  }

  #hear(text: string): void {
    const lines = text.split('\n');
    const last = lines.pop() ?? '';
    for (const line of lines) {
      this.#replied(JSON.parse(this.#pieces.length === 0 ? line : [...this.#pieces, line].join('')));
      this.#pieces = [];
    }
    if (last !== '') this.#pieces.push(last);
  }

  #replied(reply: FromHost): void {
    if (reply.number === 0) this.#isThere = true;
    const job = this.#jobs.get(reply.number);
    if (job === undefined) return;
    this.#jobs.delete(reply.number);
    if (this.#jobs.size === 0) this.#holdProcess(false);
    if ('error' in reply) job.reject(new JobFailed(reply.error.kind, reply.error.message));
    else job.resolve(reply.value);
  }

  #look(): void {
    const [first] = this.#jobs;
    if (first === undefined) {
      clearInterval(this.#looking);
      this.#looking = undefined;
      return;
    }
    const [number, { withinMs }] = first;
    const nowMs = computedMs(this.#process.pid);
    if (this.#seen?.number !== number || !this.#isThere) {
      this.#startLooks = this.#isThere ? 0 : this.#startLooks + 1;
      this.#seen = { number, looks: 0, fromMs: nowMs };
      if (this.#startLooks * lookEveryMs >= startsWithinMs) this.#ended('late');
      return;
    }
    const { looks, fromMs } = this.#seen;
    this.#seen = { number, looks: looks + 1, fromMs };
    const passedMs = (looks + 1) * lookEveryMs;
    const usedMs = nowMs === undefined || fromMs === undefined ? passedMs : nowMs - fromMs;
    if (usedMs >= withinMs || passedMs >= patience * withinMs) this.#ended('late');
  }

  #ended(end: HostEnd, cause?: unknown): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    clearInterval(this.#looking);
    this.#process.kill('SIGKILL');
    const jobs = [...this.#jobs.values()];
    this.#jobs.clear();
    this.#holdProcess(false);
    jobs.forEach(({ reject }, index) => reject(new HostEnded(end, index === 0 && this.#isThere, cause)));
  }
}

/** How long a process has computed; undefined where the system does not say. */
function computedMs(pid: number | undefined): number | undefined {
  if (process.platform !== 'linux' || pid === undefined) return undefined;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // After the name, which may hold anything: the 12th and 13th are its own time and the system's, in hundredths of a second.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return 10 * (Number(fields[11]) + Number(fields[12]));
  } catch {
    return undefined; // It is gone, and we shall hear of it.
  }
}

/** The file of a host beside the one that starts it, whatever we are made of. */
export function hostFile(name: string, from: string): URL {
  return new URL(`${name}${fileURLToPath(from).endsWith('.ts') ? '.ts' : '.js'}`, from);
}
