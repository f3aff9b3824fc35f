import type { Json, JsonObject } from '@concerto/base';
import { type Shape, whyNot } from '@concerto/protocol';
import type { AgentLink } from './agent-link.ts';
import type { DriverOptions } from './driver.ts';
import { JsonRpcPeer, JsonRpcRefusal, JsonRpcTimeout, type PeerOptions } from './json-rpc-peer.ts';

/** Who we are, to an agent that asks. */
export const clientInfo = { name: 'concerto', title: 'Concerto', version: '0.1.0' };

/** A line that is no frame is shown up to here. */
const shownCharacters = 200;

/** The agent as the other end of a JSON-RPC conversation, a frame a line. */
export function openPeer(
  link: AgentLink,
  options: Omit<PeerOptions, 'write'> & { readonly stray: (line: string, why: string) => void },
): JsonRpcPeer {
  const { stray, ...rest } = options;
  const peer = new JsonRpcPeer({ ...rest, write: (line) => link.write(line) });
  link.read({
    line: (line) => {
      if (line.trim() === '') return;
      const taken = peer.receive(line);
      if (!taken.ok) stray(line.length > shownCharacters ? `${line.slice(0, shownCharacters)}…` : line, taken.error);
    },
    end: (error) => peer.close(error),
  });
  return peer;
}

/** The words of a refusal, and what the agent adds, which often is the only thing that helps. */
export function refusalText({ message, data }: JsonRpcRefusal): string {
  if (data === undefined || data === null) return message;
  const details = typeof data === 'object' && 'details' in data ? data.details : data;
  return `${message}: ${typeof details === 'string' ? details : JSON.stringify(details)}`;
}

/** What is asked before the first prompt. All of it has one deadline. */
export class PeerHandshake {
  readonly #link: AgentLink;
  readonly #peer: JsonRpcPeer;
  readonly #options: DriverOptions;
  readonly #deadline: number;
  readonly #aborted: Promise<never>;

  constructor(link: AgentLink, peer: JsonRpcPeer, options: DriverOptions) {
    this.#link = link;
    this.#peer = peer;
    this.#options = options;
    this.#deadline = Date.now() + options.initTimeoutMs;
    const { signal } = options;
    this.#aborted = new Promise((_, reject) => {
      const abort = (): void => reject(signal?.reason instanceof Error ? signal.reason : new Error('aborted'));
      if (signal?.aborted === true) abort();
      else signal?.addEventListener('abort', abort, { once: true });
    });
    // It is looked at in every race; between two of them it is nobody's unhandled rejection.
    this.#aborted.catch(() => undefined);
  }

  async ask<T>(method: string, params: JsonObject, shape: Shape<T>): Promise<T> {
    const parsed = shape.safeParse(await this.call(method, params));
    if (parsed.success) return parsed.data;
    const why = `answered \`${method}\` with what cannot be read: ${whyNot(parsed.error)}`;
    throw this.#link.failure('protocol', why);
  }

  /** What an older agent may not know: undefined where it refuses. */
  async offer<T>(method: string, params: JsonObject, shape: Shape<T>): Promise<T | undefined> {
    const left = Math.max(1, this.#deadline - Date.now());
    const answer = this.#peer.request(method, params, left).catch((cause: unknown) => {
      if (cause instanceof JsonRpcRefusal || cause instanceof JsonRpcTimeout) return undefined;
      throw cause;
    });
    const parsed = shape.safeParse(await Promise.race([answer, this.#aborted]));
    return parsed.success ? parsed.data : undefined;
  }

  async call(method: string, params: JsonObject): Promise<Json> {
    try {
      const left = Math.max(1, this.#deadline - Date.now());
      return await Promise.race([this.#peer.request(method, params, left), this.#aborted]);
    } catch (cause) {
      if (cause instanceof JsonRpcRefusal) {
        throw this.#link.failure('init-refused', `refused ${method}: ${refusalText(cause)}`, cause);
      }
      if (!(cause instanceof JsonRpcTimeout)) throw cause;
      const within = this.#options.initTimeoutMs / 1000;
      const why = `was not ready within ${within} s: no answer to \`${method}\`; \`init_timeout\` gives it longer`;
      throw this.#link.failure('init-timeout', why, cause);
    }
  }

  /** Waits, unless the start is called off. */
  async until(work: Promise<void>): Promise<void> {
    await Promise.race([work, this.#aborted]);
  }
}
