import { err, ok, type Result } from '@concerto/base';
import type { ProgramFile } from '@concerto/protocol';
import type { LoadedProgram } from '@concerto/runtime';
import { HostEnded, HostProcess, hostFile, JobFailed } from '@concerto/runtime/hosted';
import type { Finding } from '../doctor/finding.ts';
import { showsColour } from '../terminal/paint.ts';
import { tell } from '../terminal/print.ts';
import type { CheckReply, CompileJob, CompileReply, SourcesReply } from './compile-jobs.ts';

/** A program that is not checked by then is refused; one of thousands of lines takes less than a second. */
const checkedWithinMs = 15_000;
const heapMiB = 1024;
const idleMs = 30_000;
/** So often a job may have waited behind others that ended the process; a process that cannot be started ends it each time. */
const triesMax = 3;

type Compiled = Pick<LoadedProgram, 'module' | 'projectDirectory'>;

/** Reads, checks and compiles the programs of a server in a process beside it, which is there while it is needed. */
export class ProgramCompiler {
  readonly #withinMs: number;
  readonly #flags: readonly string[] | undefined;
  #host: HostProcess | undefined;
  #idle: NodeJS.Timeout | undefined;

  constructor({ withinMs = checkedWithinMs, flags }: { withinMs?: number; flags?: readonly string[] } = {}) {
    this.#withinMs = withinMs;
    this.#flags = flags;
  }

  /** What is wrong with it goes to standard error, as if we had checked it here. */
  async compile(entry: string): Promise<Result<Compiled, string>> {
    const reply = await this.#ask({ kind: 'compile', entry, color: showsColour(process.stderr) }, entry);
    if (!reply.ok) return reply;
    const { complaints, program } = isCompiled(reply.value) ? reply.value : { complaints: '', program: undefined };
    tell(complaints);
    return program === undefined ? err(`${entry} has errors; \`concerto check ${entry}\` shows them`) : ok(program);
  }

  async sources(folder: string, entry: string): Promise<Result<readonly ProgramFile[], string>> {
    const reply = await this.#ask({ kind: 'sources', folder, entry }, entry);
    if (!reply.ok) return reply;
    return ok(isSources(reply.value) ? reply.value.files : []);
  }

  /** What `doctor` says of it. */
  async check(check: string, entry: string, color: boolean): Promise<Result<Finding, string>> {
    const reply = await this.#ask({ kind: 'check', check, entry, color }, entry);
    if (!reply.ok) return reply;
    return isChecked(reply.value) ? ok(reply.value.finding) : err(`${entry} was not checked`);
  }

  close(): void {
    clearTimeout(this.#idle);
    this.#host?.close();
  }

  async #ask(job: CompileJob, entry: string, tries = 1): Promise<Result<unknown, string>> {
    clearTimeout(this.#idle);
    if (this.#host?.hasEnded !== false) {
      this.#host = new HostProcess({ entry: hostFile('./compile-host', import.meta.url), heapMiB, flags: this.#flags });
    }
    try {
      return ok(await this.#host.do(job, this.#withinMs));
    } catch (cause) {
      if (cause instanceof JobFailed) return err(cause.message);
      if (!(cause instanceof HostEnded)) throw cause;
      // It waited behind another that ended the process.
      const isAnothers = !cause.isAtWork && cause.code !== 'closed';
      if (isAnothers && tries < triesMax) return await this.#ask(job, entry, tries + 1);
      return err(whyNot(entry, cause, this.#withinMs));
    } finally {
      clearTimeout(this.#idle);
      this.#idle = setTimeout(() => this.#host?.close(), idleMs).unref();
    }
  }
}

function whyNot(entry: string, { code }: HostEnded, withinMs: number): string {
  if (code === 'late')
    return `${entry} is not run: to check it takes more than ${withinMs / 1000} s; write out the types of what takes long, or divide it`;
  return code === 'died'
    ? `${entry} is not run: to check it takes more memory than ${heapMiB} MiB`
    : `${entry} is not run: the process that should check it is not there`;
}

/** Written by this version of ourselves. */
function isCompiled(reply: unknown): reply is CompileReply {
  return typeof reply === 'object' && reply !== null && 'complaints' in reply;
}

function isChecked(reply: unknown): reply is CheckReply {
  return typeof reply === 'object' && reply !== null && 'finding' in reply;
}

function isSources(reply: unknown): reply is SourcesReply {
  return typeof reply === 'object' && reply !== null && 'files' in reply;
}
