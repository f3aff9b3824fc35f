import { describe, expect, test } from 'vitest';
import { follow } from '../follow.ts';
import { entry, put } from './append-contract.ts';
import type { SubjectOf } from './event-log-contract.ts';

export function readContract(subject: SubjectOf): void {
  describe('read', () => {
    test('[L6] an unknown session is an empty stream', async () => {
      const { log } = subject();
      const page = await log.read({ session: 'nobody', stream: 'events', after: 0, limit: 10 });
      expect(page).toEqual({ entries: [], head: 0, oldest: 1 });
      expect(await log.head('nobody', 'domain')).toBe(0);
    });

    test('[L6] pages hold at most the limit and join without gap or repeat', async () => {
      const { log } = subject();
      const entries = Array.from({ length: 2_500 }, (_, n) => entry('t', { n }));
      await put(log, 's1', 'events', ...entries);
      const positions: number[] = [];
      for (;;) {
        const page = await log.read({ session: 's1', stream: 'events', after: positions.length, limit: 512 });
        expect(page.head).toBe(2_500);
        if (page.entries.length === 0) break;
        expect(page.entries.length).toBeLessThanOrEqual(512);
        positions.push(...page.entries.map(({ position }) => position));
      }
      expect(positions).toEqual(Array.from({ length: 2_500 }, (_, n) => n + 1));
    });

    test('[L6] a page is full although asides lie between its entries', async () => {
      const { log } = subject();
      for (let n = 0; n < 20; n++) {
        const asides = Array.from({ length: 5 }, () => ({ ...entry('ack'), aside: true }) as const);
        await put(log, 's1', 'events', entry('t', { n }), ...asides);
      }
      const page = await log.read({ session: 's1', stream: 'events', after: 3, limit: 7 });
      expect(page.entries.map(({ position }) => position)).toEqual([4, 5, 6, 7, 8, 9, 10]);
    });

    test('[L6] reading at or beyond the head gives nothing, and sessions do not mix', async () => {
      const { log } = subject();
      await put(log, 's1', 'events', entry('a'));
      await put(log, 's10', 'events', entry('b'), entry('c'));
      for (const after of [1, 2, 1_000]) {
        const page = await log.read({ session: 's1', stream: 'events', after, limit: 10 });
        expect(page).toEqual({ entries: [], head: 1, oldest: 1 });
      }
      expect(await log.head('s10', 'events')).toBe(2);
    });

    test('[L8] trimming removes the old, keeps the head, and says where the stream begins', async () => {
      const { log } = subject();
      await put(log, 's1', 'events', entry('1'), entry('2'), { ...entry('ack'), aside: true }, entry('3'), entry('4'));
      await log.trim('s1', 'events', 2);
      const page = await log.read({ session: 's1', stream: 'events', after: 0, limit: 10 });
      expect(page.entries.map(({ position }) => position)).toEqual([3, 4]);
      expect(page).toMatchObject({ head: 4, oldest: 3 });
      await log.trim('s1', 'events', 1);
      expect(await log.read({ session: 's1', stream: 'events', after: 0, limit: 1 })).toMatchObject({ oldest: 3 });
    });

    test('[L8] a stream trimmed to nothing goes on counting', async () => {
      const { log } = subject();
      await put(log, 's1', 'domain', entry('1'), entry('2'), { ...entry('ack'), aside: true });
      await log.trim('s1', 'domain', 99);
      const page = await log.read({ session: 's1', stream: 'domain', after: 0, limit: 10 });
      expect(page).toEqual({ entries: [], head: 2, oldest: 3 });
      const streams = [{ stream: 'domain', expected: 2, entries: [entry('3')] }] as const;
      expect(await log.append({ session: 's1', streams })).toEqual({ kind: 'appended', positions: { domain: 3 } });
      await log.trim('nobody', 'events', 5);
      expect(await log.head('nobody', 'events')).toBe(0);
    });

    test('[L9] growth is told after the commit, with the session, once stopped never again', async () => {
      const { log } = subject();
      const heads: Promise<number>[] = [];
      let told: (() => void) | undefined;
      const stop = log.onGrowth((session) => {
        heads.push(log.head(session, 'events'));
        told?.();
      });
      const next = new Promise<void>((resolve) => {
        told = resolve;
      });
      await put(log, 's1', 'events', entry('a'), entry('b'));
      await next;
      expect(await heads[0]).toBe(2);
      stop();
      const count = heads.length;
      const other = new Promise<string>((resolve) => {
        log.onGrowth(resolve);
      });
      await put(log, 's2', 'commands', entry('c'));
      expect(await other).toBe('s2');
      expect(heads).toHaveLength(count);
    });

    test('[L9] a listener of one session hears of that session only', async () => {
      const { log } = subject();
      const heard: string[] = [];
      const stop = log.onGrowth((session) => heard.push(session), 'mine');
      const last = new Promise<void>((resolve) => {
        log.onGrowth(() => resolve(), 'last');
      });
      await put(log, 'other', 'events', entry('a'));
      await put(log, 'mine', 'events', entry('b'));
      await put(log, 'last', 'events', entry('c'));
      await last;
      expect(heard).toEqual(['mine']);
      stop();
    });

    test('[L9] a refused append is not growth', async () => {
      const { log } = subject();
      const grown: string[] = [];
      const last = new Promise<void>((resolve) => {
        log.onGrowth((session) => {
          grown.push(session);
          if (session === 'last') resolve();
        });
      });
      await log.append({ session: 'refused', streams: [{ stream: 'events', expected: 9, entries: [entry('a')] }] });
      await put(log, 'last', 'events', entry('b'));
      await last;
      expect(grown).toEqual(['last']);
    });

    test('[L20] followers of a busy store see every entry once', async () => {
      const { log } = subject();
      const total = 200;
      const follower = async (): Promise<number[]> => {
        const seen: number[] = [];
        for await (const page of follow(log, { session: 's1', stream: 'events', after: 0, pageSize: 16 })) {
          seen.push(...page.entries.map(({ position }) => position));
          if (seen.length >= total) break;
        }
        return seen;
      };
      const following = Promise.all([follower(), follower(), follower()]);
      for (let n = 0; n < total / 4; n++) {
        await Promise.all(Array.from({ length: 4 }, () => put(log, 's1', 'events', entry('t'))));
      }
      const expected = Array.from({ length: total }, (_, n) => n + 1);
      for (const seen of await following) expect(seen).toEqual(expected);
    });
  });
}
