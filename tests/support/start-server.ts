import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { concertoCommand } from './concerto-command.ts';

const readyWithinMs = 60_000;
const stopWithinMs = 20_000;

export type StartOptions = {
  /** Beside `serve`; a free port and a store in memory unless they say otherwise. */
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Where it runs; a new folder that goes with it when left out. */
  readonly folder?: string;
  /** Without the token that tests call with. */
  readonly withoutToken?: true;
  /** Node's arguments for another version of the command. */
  readonly command?: readonly string[];
};

export type StartedServer = {
  readonly url: string;
  readonly port: number;
  readonly token: string;
  readonly pid: number;
  /** The address that signs a browser in. */
  readonly entrance: string;
  readonly folder: string;
  /** All that it has said. */
  readonly said: () => string;
  /** A signal, and no wait. */
  readonly signal: (signal: NodeJS.Signals) => void;
  /** A signal, and how it is gone by itself. */
  readonly exited: (signal: NodeJS.Signals) => Promise<number | null>;
  /** SIGTERM, and until it is gone. */
  readonly stop: () => Promise<void>;
  /** SIGKILL, and until it is gone. */
  readonly kill: () => Promise<void>;
};

const token = 'e2e-token';

/** The real server as a process of its own. */
export async function startServer(options: StartOptions = {}): Promise<StartedServer> {
  const { args = [], env = {}, folder, command = concertoCommand } = options;
  const own = folder ?? (await mkdtemp(join(tmpdir(), 'concerto-e2e-')));
  const given = (flag: string): boolean => args.includes(flag);
  // Its keeper goes with the folder.
  const keeperHome = args.some((arg) => arg.startsWith('redis:')) ? { XDG_STATE_HOME: join(own, 'state') } : {};
  const child = spawn(
    process.execPath,
    [
      ...command,
      'serve',
      ...(options.withoutToken === true ? [] : ['--token', token]),
      ...(given('--port') ? [] : ['--port', '0']),
      ...(given('--store') ? [] : ['--store', 'memory:']),
      ...args,
    ],
    { cwd: own, env: { ...process.env, ...keeperHome, ...env }, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
  }
  const url = await listeningUrl(child);
  const end = async (signal: 'SIGTERM' | 'SIGKILL'): Promise<void> => {
    await ended(child, signal);
    if (folder === undefined) await rm(own, { recursive: true, force: true });
  };
  return {
    url,
    port: Number(new URL(url).port),
    token,
    pid: child.pid ?? 0,
    entrance: `${url}/?token=${token}`,
    folder: own,
    said: () => said,
    signal: (signal) => void child.kill(signal),
    exited: async (signal) => {
      await ended(child, signal);
      return child.exitCode;
    },
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
  };
}

async function listeningUrl(child: ChildProcess): Promise<string> {
  let output = '';
  return await new Promise((resolve, reject) => {
    const fail = (why: string): void => {
      child.kill('SIGKILL');
      reject(new Error(`the server ${why}; it said:\n${output}`));
    };
    const timer = setTimeout(() => fail(`was not ready within ${readyWithinMs} ms`), readyWithinMs);
    child.once('exit', (code) => fail(`ended with ${code}`));
    const read = (chunk: Buffer): void => {
      output += chunk.toString();
      const url = /^listening on (http:\S+)$/m.exec(output)?.[1];
      if (url === undefined) return;
      clearTimeout(timer);
      child.removeAllListeners('exit');
      child.stdout?.off('data', read).resume();
      child.stderr?.off('data', read).resume();
      resolve(url);
    };
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
  });
}

async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const timer = setTimeout(() => child.kill('SIGKILL'), stopWithinMs);
  await new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.kill(signal);
  });
  clearTimeout(timer);
}
