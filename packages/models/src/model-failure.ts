import type { Json } from '@concerto/base';

export type ModelFailureKind =
  /** The manifest does not say enough, or says something wrong. */
  | 'connection'
  /** The key is missing or was refused. */
  | 'auth'
  | 'rate_limited'
  /** The account is out of money: waiting does not help. */
  | 'quota'
  | 'bad_request'
  | 'not_found'
  | 'content_filter'
  /** The provider is in trouble (5xx). */
  | 'server'
  /** Nobody answered, or the answer broke off. */
  | 'network'
  | 'timeout'
  | 'cancelled'
  /** Anything else the provider did that we do not understand. */
  | 'provider';

export type FailureFacts = {
  readonly provider?: string;
  readonly model?: string;
  readonly status?: number;
  readonly retryAfterMs?: number;
  readonly attempts?: number;
};

/**
 * A turn that did not succeed. It has no cause on purpose: what the provider's library throws holds headers, the whole
 * request and the provider's text, in which keys have been seen.
 */
export class ModelFailure extends Error {
  override readonly name = 'ModelFailure';
  readonly code: ModelFailureKind;
  readonly facts: FailureFacts;

  constructor(code: ModelFailureKind, message: string, facts: FailureFacts = {}) {
    super(message);
    this.code = code;
    this.facts = facts;
  }

  /** For whoever shows it: plain data without secrets. */
  get details(): { readonly [key: string]: Json } {
    return Object.fromEntries(Object.entries(this.facts).filter(([, fact]) => fact !== undefined));
  }
}

const RETRYABLE: ReadonlySet<ModelFailureKind> = new Set(['rate_limited', 'server', 'network']);

export function isRetryable(failure: ModelFailure): boolean {
  return RETRYABLE.has(failure.code);
}
