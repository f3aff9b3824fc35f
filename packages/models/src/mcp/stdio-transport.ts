import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { type JSONRPCMessage, ReadBuffer, serializeMessage, type Transport } from '@modelcontextprotocol/client';
import type { McpSpec } from './mcp-settings.ts';

const LONGEST_MESSAGE_BYTES = 64 * 1024 * 1024;
const STDERR_TAIL_CHARACTERS = 4000;
/** How long a server may take to go by itself, and after SIGTERM. */
const GRACE_MS = 2000;

const living = new Set<StdioTransport>();

/** In groups of their own they would outlive us when we end without having closed them. */
function killLiving(): void {
  for (const transport of living) transport.kill();
}

function endWithUs(transport: StdioTransport): void {
  if (process.listenerCount('exit', killLiving) === 0) process.on('exit', killLiving);
  living.add(transport);
}

/** The server was gone before anything was written to it. */
export class NeverSent extends Error {
  override readonly name = 'NeverSent';
}

/**
 * A server as a process in a group of its own, so that what it started (npx starts the real server) ends with it. The
 * SDK's own transport ends only the first process.
 */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: <T extends JSONRPCMessage>(message: T) => void;
  readonly #reach: Extract<McpSpec['reach'], { kind: 'stdio' }>;
  readonly #buffer = new ReadBuffer({ maxBufferSize: LONGEST_MESSAGE_BYTES });
  #child: ChildProcessWithoutNullStreams | undefined;
  #exited: Promise<unknown> = Promise.resolve();
  #stderr = '';

  constructor(reach: Extract<McpSpec['reach'], { kind: 'stdio' }>) {
    this.#reach = reach;
  }

  /** The last the server said on stderr. */
  get stderr(): string {
    return this.#stderr.trim();
  }

  async start(): Promise<void> {
    const { command, args, env, directory } = this.#reach;
    const child = spawn(command, args, { cwd: directory, env, detached: true, stdio: 'pipe' });
    // Out of descriptors it has not even pipes; with nobody who listens, its error would end our whole process.
    if (child.pid === undefined) await once(child, 'spawn');
    this.#child = child;
    endWithUs(this);
    this.#exited = once(child, 'close').catch(() => undefined);
    child.on('close', () => {
      this.kill();
      living.delete(this);
      this.onclose?.();
    });
    child.on('error', (error) => this.onerror?.(error));
    // A server that is gone makes writing fail; `close` says so.
    child.stdin.on('error', () => undefined);
    child.stdout.on('data', (chunk: Buffer) => this.#read(chunk));
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-STDERR_TAIL_CHARACTERS);
    });
    await once(child, 'spawn');
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin;
    if (stdin === undefined || !stdin.writable) throw new NeverSent('the server has ended');
    if (!stdin.write(serializeMessage(message))) await Promise.race([once(stdin, 'drain'), this.#exited]);
  }

  /** Asks by closing its input, then by SIGTERM, then ends it. */
  async close(): Promise<void> {
    const child = this.#child;
    if (child?.pid === undefined) return;
    child.stdin.end();
    if (await this.#goneWithin(GRACE_MS)) return;
    this.#endGroup('SIGTERM');
    if (await this.#goneWithin(GRACE_MS)) return;
    this.#endGroup('SIGKILL');
    await this.#goneWithin(GRACE_MS);
  }

  /** At once, with all it started. */
  kill(): void {
    this.#endGroup('SIGKILL');
  }

  async #goneWithin(ms: number): Promise<boolean> {
    const timer = new AbortController();
    const late = sleep(ms, false, { signal: timer.signal }).catch(() => false);
    const gone = await Promise.race([this.#exited.then(() => true), late]);
    timer.abort();
    return gone;
  }

  #endGroup(signal: NodeJS.Signals): void {
    const pid = this.#child?.pid;
    if (pid === undefined) return;
    try {
      process.kill(-pid, signal);
    } catch {
      // Nobody is left in the group.
    }
  }

  #read(chunk: Buffer): void {
    try {
      this.#buffer.append(chunk);
    } catch (cause) {
      this.onerror?.(asError(cause));
      this.#endGroup('SIGKILL');
      return;
    }
    for (;;) {
      try {
        const message = this.#buffer.readMessage();
        if (message === null) return;
        this.onmessage?.(message);
      } catch (cause) {
        // A line that is no message, often a banner: the next may be one.
        this.onerror?.(asError(cause));
      }
    }
  }
}

function asError(cause: unknown): Error {
  return cause instanceof Error ? cause : new Error(String(cause));
}
