import { spawn } from 'node:child_process';
import { accessSync, closeSync, constants, existsSync, openSync, readFileSync, rmSync, statSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { isFromKeeper } from './frame-shapes.ts';
import { FrameSocket } from './frame-socket.ts';
import { type Frame, type FromKeeper, type ListedAgent, protocolVersion, type ToKeeper } from './frames.ts';
import { KeeperError } from './keeper-error.ts';
import { type KeeperNote, makeFolder } from './keeper-folder.ts';
import { livingNote } from './keeper-server.ts';
import { describeProcess } from './process-identity.ts';

const startsWithinMs = 15_000;
const answersWithinMs = 10_000;
/** It answers when the agent has ended, which it is made to step by step. */
const endsWithinMs = 30_000;
const pollMs = 20;

const silent = Symbol('silent');

/** What a new keeper must not inherit of ours. */
const secretVariables = /^CONCERTO_(TOKEN|.*SECRET.*|.*KEY.*)$/;

export type KeeperOptions = {
  /** Where it is found; only its user may look into it. */
  readonly folder: string;
  /** Node's arguments for the keeper's program. */
  readonly program?: readonly string[];
};

export type KeeperListener = {
  readonly frame: (frame: Frame<FromKeeper>) => void;
  readonly closed: () => void;
};

export type KeeperLine = FrameSocket<ToKeeper, FromKeeper>;

/** How others reach the keeper of a folder. */
export class KeeperClient {
  readonly folder: string;
  readonly #program: readonly string[];
  #starting: Promise<KeeperNote> | undefined;

  constructor({ folder, program = ownProgram() }: KeeperOptions) {
    this.folder = folder;
    this.#program = program;
  }

  /** A connection to the keeper, which is started when there is none. */
  async open(listener: KeeperListener): Promise<KeeperLine> {
    for (let tries = 0; ; tries++) {
      const note = (await livingNote(this.folder)) ?? (await this.#started());
      try {
        return await greeted(note, listener);
      } catch (cause) {
        // One that ended just now: it had nothing to do.
        if (tries > 0 || !(cause instanceof KeeperError) || cause.code !== 'unavailable') throw cause;
        await sleep(pollMs * 5);
      }
    }
  }

  /** Undefined when there is none; none is started. */
  async openIfThere(listener: KeeperListener): Promise<KeeperLine | undefined> {
    const note = await livingNote(this.folder);
    if (note === undefined) return undefined;
    try {
      return await greeted(note, listener);
    } catch (cause) {
      if (cause instanceof KeeperError && cause.code === 'unavailable') return undefined;
      throw cause;
    }
  }

  /** The pid of the keeper that lives, if one does. */
  async pid(): Promise<number | undefined> {
    return (await livingNote(this.folder))?.pid;
  }

  /** None when there is no keeper. */
  async list(): Promise<readonly ListedAgent[]> {
    const answer = await this.#ask({ type: 'list' });
    return answer?.type === 'listed' ? answer.agents : [];
  }

  /** Whether there was such an agent. With an epoch only if no newer owner has it. */
  async end(agent: string, options: { readonly epoch?: number; readonly stepMs?: number } = {}): Promise<boolean> {
    const answer = await this.#ask({ type: 'end', agent, ...options });
    return answer?.type === 'done' && answer.found;
  }

  async #ask(question: ToKeeper): Promise<FromKeeper | undefined> {
    let settle: (answer: FromKeeper | typeof silent | undefined) => void = () => {};
    const answered = new Promise<FromKeeper | typeof silent | undefined>((resolve) => {
      settle = resolve;
    });
    const line = await this.openIfThere({ frame: ({ head }) => settle(head), closed: () => settle(undefined) });
    if (line === undefined) return undefined;
    line.send(question);
    const withinMs = question.type === 'end' ? endsWithinMs : answersWithinMs;
    const timer = setTimeout(() => settle(silent), withinMs);
    const answer = await answered;
    clearTimeout(timer);
    line.close();
    if (answer === silent) throw new KeeperError('unavailable', 'the keeper does not answer');
    if (answer?.type === 'refused') throw new KeeperError(answer.code, answer.message);
    return answer;
  }

  #started(): Promise<KeeperNote> {
    this.#starting ??= this.#start().finally(() => {
      this.#starting = undefined;
    });
    return this.#starting;
  }

  /** Ends the keeper and all that it holds; resolves when it is gone. */
  async dismiss(): Promise<void> {
    const note = await livingNote(this.folder);
    if (note === undefined) return;
    process.kill(note.pid, 'SIGTERM');
    const until = Date.now() + endsWithinMs;
    while ((await describeProcess(note.pid))?.startTime === note.startTime) {
      if (Date.now() > until) throw new KeeperError('unavailable', `the keeper (pid ${note.pid}) does not end`);
      await sleep(pollMs);
    }
  }

  async #start(): Promise<KeeperNote> {
    const complaints = join(this.folder, `keeper.${process.pid}.err`);
    const stderr = this.#opened(complaints);
    try {
      const until = Date.now() + startsWithinMs;
      let child = this.#spawned(stderr);
      while (Date.now() < until) {
        const note = await livingNote(this.folder);
        if (note !== undefined) return note;
        if (child.hasFailed) break;
        // It found another, which was just ending.
        if (child.hasEnded) child = this.#spawned(stderr);
        await sleep(pollMs);
      }
      const said = existsSync(complaints) ? readFileSync(complaints, 'utf8').trim() : 'the folder is gone';
      throw new KeeperError(
        'unavailable',
        `the keeper of ${this.folder} did not start${said === '' ? '' : `: ${said}`}`,
      );
    } finally {
      closeSync(stderr);
      rmSync(complaints, { force: true });
    }
  }

  /** A keeper that ends removes its folder, perhaps before this is in it. */
  #opened(complaints: string, tries = 3): number {
    try {
      makeFolder(this.folder);
      return openSync(complaints, 'w', 0o600);
    } catch (cause) {
      const isGone = cause instanceof Error && 'code' in cause && cause.code === 'ENOENT';
      if (isGone && tries > 1) return this.#opened(complaints, tries - 1);
      throw new KeeperError('unavailable', `no keeper can run: ${this.folder} cannot be written to`, { cause });
    }
  }

  #spawned(stderr: number): { hasFailed: boolean; hasEnded: boolean } {
    const stands = { hasFailed: false, hasEnded: false };
    const child = spawn(process.execPath, [...this.#program, this.folder], {
      cwd: this.folder,
      env: ownEnvironment(),
      stdio: ['ignore', 'ignore', stderr],
      detached: true,
    });
    child.on('error', () => {
      stands.hasFailed = true;
    });
    child.on('exit', (code) => {
      stands.hasEnded = true;
      stands.hasFailed ||= code !== 0;
    });
    child.unref();
    return stands;
  }
}

/** Why no keeper could run here, if that is so. Makes nothing. */
export function whyNoKeeper(folder: string, platform: NodeJS.Platform = process.platform): string | undefined {
  if (platform === 'win32') return 'there is no keeper on Windows yet';
  let there = folder;
  while (!existsSync(there) && dirname(there) !== there) there = dirname(there);
  try {
    if (!statSync(there).isDirectory()) return `${there} is no folder`;
    accessSync(there, constants.W_OK);
    return undefined;
  } catch {
    return `${there} cannot be written to`;
  }
}

function ownProgram(): readonly string[] {
  const file = fileURLToPath(import.meta.url);
  const isSource = file.endsWith('.ts');
  const main = join(file, '..', isSource ? 'keeper-main.ts' : 'keeper-main.js');
  // From source we were started with whatever reads TypeScript.
  return isSource ? [...process.execArgv, main] : [main];
}

function ownEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !secretVariables.test(name)));
}

async function greeted({ socket: path, secret }: KeeperNote, listener: KeeperListener): Promise<KeeperLine> {
  const socket = await connected(path);
  return await new Promise((resolve, reject) => {
    let isGreeted = false;
    const timer = setTimeout(() => {
      reject(new KeeperError('unavailable', 'the keeper does not answer'));
      line.close();
    }, answersWithinMs);
    const line: KeeperLine = new FrameSocket<ToKeeper, FromKeeper>(socket, isFromKeeper, {
      frame: (frame) => {
        if (isGreeted) return listener.frame(frame);
        clearTimeout(timer);
        if (frame.head.type !== 'welcome') {
          const { code, message } = frame.head.type === 'refused' ? frame.head : unexpected;
          return reject(new KeeperError(code, message));
        }
        isGreeted = true;
        line.short = frame.head.short === true;
        resolve(line);
      },
      closed: () => {
        clearTimeout(timer);
        reject(new KeeperError('unavailable', 'the keeper has ended'));
        if (isGreeted) listener.closed();
      },
    });
    line.send({ type: 'hello', version: protocolVersion, secret, short: true });
  });
}

const unexpected = { code: 'malformed', message: 'the keeper did not greet' } as const;

async function connected(path: string): Promise<Socket> {
  return await new Promise((resolve, reject) => {
    const socket = connect(path);
    socket.once('connect', () => resolve(socket));
    socket.once('error', (cause) => reject(new KeeperError('unavailable', 'the keeper cannot be reached', { cause })));
  });
}
