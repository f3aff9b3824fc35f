import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';

const backAfterMs = 50;
const goneWithinMs = 30_000;

/** A process that is kept up: whatever ends it, it comes back. */
export class Part {
  #child;
  #wanted = true;
  #again;
  /** How often it ended by itself with an error. */
  failures = 0;

  constructor(name, folder, { command, args, env = {} }) {
    this.name = name;
    this.folder = folder;
    this.command = command;
    this.args = args;
    this.env = { ...process.env, ...env };
  }

  get pid() {
    return this.#isUp() ? this.#child.pid : undefined;
  }

  start() {
    this.#wanted = true;
    const { command, args, folder: cwd, env } = this;
    const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child = child;
    const log = join(cwd, `${this.name}.log`);
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => appendFileSync(log, chunk));
    child.once('exit', (code, signal) => {
      appendFileSync(log, `--- ended: ${code ?? signal}\n`);
      if (code !== null && code !== 0) this.failures += 1;
      if (this.#wanted) this.#again = setTimeout(() => this.#wanted && this.start(), backAfterMs);
    });
  }

  signal(signal) {
    if (this.#isUp()) this.#child.kill(signal);
  }

  /** Ends it and keeps it down. */
  async down(signal = 'SIGKILL') {
    this.#wanted = false;
    clearTimeout(this.#again);
    if (!this.#isUp()) return;
    const gone = once(this.#child, 'exit');
    this.#child.kill('SIGCONT');
    this.#child.kill(signal);
    const forced = setTimeout(() => this.#child.kill('SIGKILL'), goneWithinMs);
    await gone;
    clearTimeout(forced);
  }

  #isUp() {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }
}
