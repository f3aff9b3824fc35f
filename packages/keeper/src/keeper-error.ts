import type { RefusalCode } from './frames.ts';

export type KeeperErrorCode = RefusalCode | 'unavailable' | 'closed';

/** A keeper that cannot be had, is gone, or refused. */
export class KeeperError extends Error {
  override readonly name = 'KeeperError';
  readonly code: KeeperErrorCode;

  constructor(code: KeeperErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
