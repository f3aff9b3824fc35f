import type { JsonObject } from '@concerto/base';
import { type FoldedEvent, isAgentEventType, type SessionStatus, type Usage } from '@concerto/protocol';
import type { Said } from '../said.ts';

/** One event of the wire: `{content: {…}}`, by the number under which its readers know it. */
export type BetaEvent = {
  readonly index: number;
  readonly event: FoldedEvent;
  /** What it asks for, if it does. */
  readonly requestId: string | undefined;
};

/** Whoever has it already is not told again; a request ends the stream of whoever was told of it. */
export type BetaAbout = Pick<BetaEvent, 'index' | 'requestId'>;

/**
 * The later wire of seed 001's project: the same events, each under its own name, numbered from 0 without gaps, since
 * its clients count. `complete` and `error` end it for them, so they come after `finish`.
 */
export class BetaFold {
  readonly #settled = new Set<string>();
  #held: FoldedEvent | undefined;
  #count = 0;
  #position = 0;
  #isOver = false;

  /** Of the log: what was taken last. */
  get position(): number {
    return this.#position;
  }

  get count(): number {
    return this.#count;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Beforehand too: whoever reads later is not asked again. */
  settle(event: FoldedEvent): void {
    if (event.type === 'requestSettled') this.#settled.add(event.requestId);
  }

  isSettled(requestId: string): boolean {
    return this.#settled.has(requestId);
  }

  take(event: FoldedEvent): readonly BetaEvent[] {
    this.#position = event.seq;
    this.settle(event);
    // Older logs have the session's sum, which is none of what was used since.
    if (event.type === 'usage' && event.turn !== undefined) {
      return [this.#told(event)];
    }
    if (!isAgentEventType(event.type)) return [];
    const held = this.#held;
    this.#held = undefined;
    if (event.type === 'finish') {
      this.#isOver = true;
      return [this.#told(event), ...(held === undefined ? [] : [this.#told(held)])];
    }
    const before = held === undefined ? [] : [this.#told(held)];
    if (event.type !== 'complete' && event.type !== 'error') return [...before, this.#told(event)];
    this.#held = event;
    return before;
  }

  /** The same as it is sent. */
  tell(event: FoldedEvent): readonly Said<BetaAbout>[] {
    return this.take(event).map((told) => {
      const { index, requestId } = told;
      return { text: `id: ${index}\n${betaFrame('event', this.sent(told))}`, about: { index, requestId } };
    });
  }

  /** What of it is sent: a request that somebody has answered only keeps its number. */
  sent({ event, requestId }: BetaEvent): string {
    const isSettled = requestId !== undefined && this.#settled.has(requestId);
    return JSON.stringify(isSettled ? { requestSettled: { requestId } } : named(event));
  }

  #told(event: FoldedEvent): BetaEvent {
    const { requestId } = 'requestId' in event ? event : {};
    return { index: this.#count++, event, requestId };
  }
}

export function betaFrame(name: 'start' | 'event' | 'done', json: string): string {
  return `event: ${name}\ndata: ${json}\n\n`;
}

function named(event: FoldedEvent): object {
  if (event.type === 'usage') return { usageMetadata: { metadata: usageOf(event) } };
  const { type, seq: _seq, at: _at, ...payload } = event;
  return { [type]: 'requestId' in payload ? { ...payload, interactionId: payload.requestId } : payload };
}

function usageOf({ inputTokens, outputTokens, cacheReadTokens }: Usage): JsonObject {
  return {
    promptTokenCount: inputTokens,
    candidatesTokenCount: outputTokens,
    totalTokenCount: inputTokens + outputTokens,
    ...(cacheReadTokens === undefined ? {} : { cachedContentTokenCount: cacheReadTokens }),
  };
}

/** One client: from which number on it is told, and what it was asked. */
export class BetaListener {
  /** It ends where nothing follows, never before. */
  readonly isOver = false;
  readonly #after: number;
  readonly #asked: string[] = [];

  constructor(after: number) {
    this.#after = after;
  }

  hears({ index, requestId }: BetaAbout): boolean {
    if (index <= this.#after) return false;
    if (requestId !== undefined) this.#asked.push(requestId);
    return true;
  }

  /** Its last words: everything is said, or somebody must answer first. */
  rest(fold: BetaFold): string | undefined {
    const waits = this.#asked.some((requestId) => !fold.isSettled(requestId));
    return fold.isOver || waits ? betaFrame('done', '{}') : undefined;
  }
}

/** How the wire names where a session stands. */
export function betaStatus(status: SessionStatus): string {
  switch (status) {
    case 'waitingForInput':
    case 'waitingForApproval':
      return 'suspended';
    case 'pausing':
    case 'paused':
    case 'interrupted':
      return 'paused';
    case 'completed':
    case 'failed':
    case 'cancelled':
      return status;
    default:
      return 'running';
  }
}
