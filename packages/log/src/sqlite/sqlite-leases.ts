import type Database from 'libsql';
import type { Lease, LeaseRequest } from '../event-log.ts';
import { decideAcquire, type HeldLease, holds } from '../lease-rules.ts';
import type { Commit } from './group-commit.ts';
import { integerAt, textAt } from './sqlite-row.ts';

export type SqliteLeases = {
  acquire(request: LeaseRequest, commit: Commit): Lease;
  renew(request: LeaseRequest & { readonly epoch: number }): boolean;
  release(name: string, epoch: number): void;
  /** The epoch if it is not held at the given one. */
  fenced(name: string, epoch: number): number | undefined;
  load(name: string, epoch: number, commit: Commit): void;
  all(): Iterable<readonly [string, HeldLease]>;
};

/**
 * Only epochs are durable. Holders are this process's own memory: the store's lock proves that no other process lives,
 * so after a restart every lease is free at once, and a renewal costs no fsync.
 */
export function sqliteLeases(db: Database.Database, now: () => number): SqliteLeases {
  const upsert = db.prepare('INSERT OR REPLACE INTO leases (name, epoch) VALUES (?, ?)');
  const leases = new Map<string, HeldLease>();
  for (const row of db.prepare('SELECT name, epoch FROM leases').raw().all()) {
    leases.set(textAt(row, 0), { epoch: integerAt(row, 1), owner: undefined, expiresAt: 0 });
  }

  const change = (name: string, lease: HeldLease, commit: Commit): void => {
    const before = leases.get(name);
    commit.onRollback(() => {
      if (before === undefined) leases.delete(name);
      else leases.set(name, before);
    });
    commit.inPlace(() => void upsert.run(name, lease.epoch));
    leases.set(name, lease);
  };

  return {
    acquire(request, commit) {
      const decided = decideAcquire(leases.get(request.name), request, now());
      if (decided.kind === 'acquired') {
        const expiresAt = now() + request.ttlMs;
        change(request.name, { epoch: decided.epoch, owner: request.owner, expiresAt }, commit);
      }
      return decided;
    },
    renew({ name, owner, ttlMs, epoch }) {
      if (!holds(leases.get(name), epoch)) return false;
      leases.set(name, { epoch, owner, expiresAt: now() + ttlMs });
      return true;
    },
    release(name, epoch) {
      if (holds(leases.get(name), epoch)) leases.set(name, { epoch, owner: undefined, expiresAt: 0 });
    },
    fenced: (name, epoch) => (holds(leases.get(name), epoch) ? undefined : (leases.get(name)?.epoch ?? 0)),
    load: (name, epoch, commit) => change(name, { epoch, owner: undefined, expiresAt: 0 }, commit),
    all: () => leases,
  };
}
