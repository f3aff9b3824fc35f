import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Json } from '@concerto/base';
import { type ClaudeMessage, LineError, LineSplitter, readClaudeLine } from '@concerto/protocol';

const stderrKeptCharacters = 4_000;
const endsWithinMs = 3_000;

/** Why the program cannot be used; the message says what to do about it. */
export class ClaudeError extends Error {
  override readonly name = 'ClaudeError';
  readonly code: string;
  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

export type ClaudeListener = {
  readonly message: (message: ClaudeMessage) => void;
  /** The program is gone, whether we ended it or not. */
  readonly gone: (error: ClaudeError) => void;
};

/**
 * One run of the `claude` program. It shares our process group: whoever ends the group ends it too, even when we have
 * no chance to do so; and when only we die, the end of its stdin tells it.
 */
export class ClaudeProcess {
  readonly #child: ChildProcessWithoutNullStreams;
  #stderr = '';
  #isGone = false;

  private constructor(child: ChildProcessWithoutNullStreams, listener: ClaudeListener) {
    this.#child = child;
    const splitter = new LineSplitter();
    child.stdout.on('data', (chunk: Buffer) => {
      for (const line of splitter.push(chunk)) {
        if (line instanceof LineError) continue;
        const read = readClaudeLine(line);
        if (read.kind === 'message') listener.message(read.message);
      }
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-stderrKeptCharacters);
    });
    // A program that is gone reads nothing more; that it is gone is told by `close`.
    child.stdin.on('error', () => {});
    const killWithUs = (): void => void child.kill('SIGKILL');
    process.once('exit', killWithUs);
    child.once('close', (code, signal) => {
      this.#isGone = true;
      process.removeListener('exit', killWithUs);
      const how = signal === null ? `with code ${code ?? '?'}` : `by ${signal}`;
      const said = this.#stderr.trim();
      listener.gone(new ClaudeError('exited', `claude ended ${how}${said === '' ? '' : `: ${said}`}`));
    });
  }

  static async start(
    command: string,
    args: readonly string[],
    options: { readonly cwd: string; readonly listener: ClaudeListener },
  ): Promise<ClaudeProcess> {
    const { cwd, listener } = options;
    // spawn reports a folder that is not there as a program that is not there.
    if (!existsSync(cwd)) throw new ClaudeError('work_dir', `the folder to work in is not there: ${cwd}`);
    const child = spawn(command, args, { cwd, stdio: ['pipe', 'pipe', 'pipe'] });
    const started = new ClaudeProcess(child, listener);
    try {
      await once(child, 'spawn');
    } catch (cause) {
      throw cannotStart(command, cause);
    }
    return started;
  }

  get isGone(): boolean {
    return this.#isGone;
  }

  send(message: Json): void {
    if (!this.#isGone) this.#child.stdin.write(`${JSON.stringify(message)}\n`);
  }

  /** Asks it to end, and sees to it that it does. */
  async end(): Promise<void> {
    if (this.#isGone) return;
    const closed = once(this.#child, 'close');
    this.#child.stdin.end();
    if (await within(closed)) return;
    this.#child.kill('SIGTERM');
    if (await within(closed)) return;
    this.#child.kill('SIGKILL');
    await closed;
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }
}

async function within(closed: Promise<unknown>): Promise<boolean> {
  const stop = new AbortController();
  const late = sleep(endsWithinMs, false, { signal: stop.signal }).catch(() => false);
  const isClosed = await Promise.race([closed.then(() => true), late]);
  stop.abort();
  return isClosed;
}

function cannotStart(command: string, cause: unknown): ClaudeError {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  if (code === 'ENOENT') {
    return new ClaudeError(
      'not_installed',
      `there is no program \`${command}\`: install Claude Code with \`npm install -g @anthropic-ai/claude-code\`, or set the param \`command\` to where it is`,
      { cause },
    );
  }
  return new ClaudeError('spawn', `\`${command}\` cannot be started: ${String(cause)}`, { cause });
}
