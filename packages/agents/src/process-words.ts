import { constants } from 'node:os';
import type { EndReason } from '@concerto/keeper';
import type { AgentExit } from './agent-connection.ts';
import { AgentError } from './agent-error.ts';
import { stderrExcerpt } from './stderr-tail.ts';

/** What may wait for an agent that does not read its stdin. */
export const stdinBufferMax = 32 * 1024 * 1024;
export const stdinTimeoutMs = 60_000;

/** Why one ended whose owner had not asked for it. */
export const endedBecause: Readonly<Record<EndReason, string>> = {
  asked: 'was ended, as its keeper was asked to (`concerto agents end`, `concerto stop --agents`)',
  keeper: 'was ended with its keeper, which was told to end or whose folder was removed',
  mute: 'closed its stdout and was ended: it could say nothing more',
};

export function exitError(agent: string, exit: AgentExit): AgentError {
  return new AgentError('exited', `agent exited without result: ${exitText(agent, exit)}`, { stderr: exit.stderr });
}

/** How it ended, and the end of what it wrote on stderr. */
export function exitText(agent: string, exit: AgentExit): string {
  const how = exit.why ?? `ended with ${exit.signal === null ? codeText(exit.code) : `signal ${exit.signal}`}`;
  return `agent "${agent}" ${how}; ${stderrExcerpt(exit.stderr)}`;
}

/** A sandbox and a shell give the signal that ended their child as a code beyond 128. */
function codeText(code: number | null): string {
  const signal = Object.entries(constants.signals).find(([, number]) => code === 128 + number)?.[0];
  return `code ${code}${signal === undefined ? '' : ` (${signal})`}`;
}

export function brokenPipe(agent: string, stderr: string, cause?: unknown): AgentError {
  return new AgentError('protocol', `agent "${agent}" has closed its stdin but still runs; ${stderrExcerpt(stderr)}`, {
    cause,
    stderr,
  });
}

export function stalled(agent: string, stderr: string, why: string): AgentError {
  return new AgentError('stdin-stalled', `agent "${agent}" does not read its stdin: ${why}; it may hang`, {
    stderr,
    advice: 'interrupt it',
  });
}

type WaitingWrite = { readonly since: number; readonly reject: (why: string) => void };

/** Writes that the agent has not taken. One timer for all of them: a timer for each would cost more than the write. */
export class WaitingWrites {
  readonly #waiting = new Set<WaitingWrite>();
  #timer: NodeJS.Timeout | undefined;

  /** The returned call says that it was taken. */
  add(reject: (why: string) => void): () => void {
    const waiting: WaitingWrite = { since: Date.now(), reject };
    this.#waiting.add(waiting);
    this.#watch();
    return () => this.#waiting.delete(waiting);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #watch(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      for (const waiting of this.#waiting) {
        if (Date.now() - waiting.since < stdinTimeoutMs) continue;
        this.#waiting.delete(waiting);
        waiting.reject(`it took nothing for ${stdinTimeoutMs / 1000} s`);
      }
      if (this.#waiting.size > 0) this.#watch();
    }, stdinTimeoutMs).unref();
  }
}
