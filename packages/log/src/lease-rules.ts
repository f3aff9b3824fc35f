import type { Lease, LeaseRequest } from './event-log.ts';

export type HeldLease = {
  readonly epoch: number;
  /** Undefined once released. */
  readonly owner: string | undefined;
  readonly expiresAt: number;
};

/** The rules of leases over a map; the epoch of a name is kept for ever. */
export function decideAcquire(current: HeldLease | undefined, request: LeaseRequest, now: number): Lease {
  const takenByOther = current?.owner !== undefined && current.owner !== request.owner && current.expiresAt > now;
  if (takenByOther) return { kind: 'held', by: current.owner ?? '', expiresInMs: current.expiresAt - now };
  return { kind: 'acquired', epoch: (current?.epoch ?? 0) + 1 };
}

/** A lease past its time that nobody else took is still its holder's: nobody wrote in between. */
export function holds(current: HeldLease | undefined, epoch: number): boolean {
  return current !== undefined && current.owner !== undefined && current.epoch === epoch;
}
