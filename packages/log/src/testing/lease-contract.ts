import { describe, expect, test } from 'vitest';
import type { SubjectOf } from './event-log-contract.ts';

const lease = (owner: string) => ({ name: 'session:s1', owner, ttlMs: 10_000 }) as const;

export function leaseContract(subject: SubjectOf): void {
  describe('leases', () => {
    test('[L13] one holder at a time; others are told who and for how long', async () => {
      const { log, advance } = subject();
      const owners = ['a', 'b', 'c', 'd', 'e'];
      const tries = await Promise.all(owners.map((owner) => log.acquireLease(lease(owner))));
      expect(tries.filter(({ kind }) => kind === 'acquired')).toEqual([{ kind: 'acquired', epoch: 1 }]);
      const winner = owners[tries.findIndex(({ kind }) => kind === 'acquired')];
      advance(4_000);
      const refused = await log.acquireLease(lease('z'));
      expect(refused).toMatchObject({ kind: 'held', by: winner });
      const left = refused.kind === 'held' ? refused.expiresInMs : 0;
      expect(left).toBeGreaterThan(0);
      expect(left).toBeLessThanOrEqual(6_000);
      expect(await log.acquireLease({ ...lease('z'), name: 'session:s2' })).toEqual({ kind: 'acquired', epoch: 1 });
    });

    test('[L13] every holder has a higher epoch than any before, the same owner too', async () => {
      const { log, advance } = subject();
      expect(await log.acquireLease(lease('a'))).toEqual({ kind: 'acquired', epoch: 1 });
      expect(await log.acquireLease(lease('a'))).toEqual({ kind: 'acquired', epoch: 2 });
      await log.releaseLease({ name: 'session:s1', epoch: 2 });
      expect(await log.acquireLease(lease('b'))).toEqual({ kind: 'acquired', epoch: 3 });
      advance(10_001);
      expect(await log.acquireLease(lease('a'))).toEqual({ kind: 'acquired', epoch: 4 });
    });

    test('[L14] renewing keeps it; a lost or released lease cannot be renewed', async () => {
      const { log, advance } = subject();
      await log.acquireLease(lease('a'));
      for (let n = 0; n < 5; n++) {
        advance(8_000);
        expect(await log.renewLease({ ...lease('a'), epoch: 1 })).toBe(true);
      }
      expect((await log.acquireLease(lease('b'))).kind).toBe('held');
      advance(10_001);
      expect(await log.acquireLease(lease('b'))).toEqual({ kind: 'acquired', epoch: 2 });
      expect(await log.renewLease({ ...lease('a'), epoch: 1 })).toBe(false);
      await log.releaseLease({ name: 'session:s1', epoch: 2 });
      expect(await log.renewLease({ ...lease('b'), epoch: 2 })).toBe(false);
      expect(await log.renewLease({ ...lease('b'), name: 'unknown', epoch: 1 })).toBe(false);
    });

    test('[L14] a lease past its time that nobody took can still be renewed', async () => {
      const { log, advance } = subject();
      await log.acquireLease(lease('a'));
      advance(60_000);
      expect(await log.renewLease({ ...lease('a'), epoch: 1 })).toBe(true);
      expect((await log.acquireLease(lease('b'))).kind).toBe('held');
    });

    test('[L14] releasing frees it at once; releasing what another holds does nothing', async () => {
      const { log, advance } = subject();
      await log.acquireLease(lease('a'));
      await log.releaseLease({ name: 'session:s1', epoch: 1 });
      expect(await log.acquireLease(lease('b'))).toEqual({ kind: 'acquired', epoch: 2 });
      await log.releaseLease({ name: 'session:s1', epoch: 1 });
      expect((await log.acquireLease(lease('c'))).kind).toBe('held');
      advance(1);
      await log.releaseLease({ name: 'unknown', epoch: 7 });
      expect(await log.acquireLease({ ...lease('c'), name: 'unknown' })).toEqual({ kind: 'acquired', epoch: 1 });
    });
  });
}
