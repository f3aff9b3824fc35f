import type { JsonObject } from '@concerto/base';
import { type FoldedEvent, isAgentEventType, type SessionStatus, type Usage } from '@concerto/protocol';

/** One event of the wire: `{content: {…}}`, by the number under which its readers know it. */
export type BetaEvent = {
  readonly index: number;
  /** As JSON: what a hundred readers are told is written once. */
  readonly text: string;
  /** What it asks for, if it does. */
  readonly requestId: string | undefined;
};

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

  /** What of it is sent: a request that somebody has answered only keeps its number. */
  sent({ text, requestId }: BetaEvent): string {
    return requestId !== undefined && this.#settled.has(requestId)
      ? JSON.stringify({ requestSettled: { requestId } })
      : text;
  }

  #told(event: FoldedEvent): BetaEvent {
    const { requestId } = 'requestId' in event ? event : {};
    return { index: this.#count++, text: textOf(event), requestId };
  }
}

const texts = new WeakMap<FoldedEvent, string>();

function textOf(event: FoldedEvent): string {
  const known = texts.get(event);
  if (known !== undefined) return known;
  const text = JSON.stringify(named(event));
  texts.set(event, text);
  return text;
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
