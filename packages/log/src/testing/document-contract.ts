import { describe, expect, test } from 'vitest';
import type { EventLog, ListRequest } from '../event-log.ts';
import { LazyDocument } from '../lazy-document.ts';
import type { SubjectOf } from './event-log-contract.ts';

async function keys(log: EventLog, request: Omit<ListRequest, 'limit'>, limit = 2): Promise<string[]> {
  const found: string[] = [];
  let cursor = request.cursor;
  for (;;) {
    const page = await log.listDocuments({ ...request, limit, ...(cursor !== undefined && { cursor }) });
    expect(page.documents.length).toBeLessThanOrEqual(limit);
    found.push(...page.documents.map(({ key }) => key));
    if (page.nextCursor === undefined) return found;
    cursor = page.nextCursor;
  }
}

export function documentContract(subject: SubjectOf): void {
  describe('documents', () => {
    test('[L10] put replaces, undefined deletes, collections do not mix', async () => {
      const { log } = subject();
      await log.putDocument({ collection: 'templates', key: 'a', value: '{"v":1}', sort: 5, tag: 'x' });
      await log.putDocument({ collection: 'templates', key: 'a', value: '{"v":"§"}' });
      await log.putDocument({ collection: 'other', key: 'a', value: '{}' });
      expect(await log.getDocument('templates', 'a')).toEqual({ key: 'a', value: '{"v":"§"}', sort: 0 });
      expect(await keys(log, { collection: 'templates', tag: 'x' })).toEqual([]);
      await log.putDocument({ collection: 'templates', key: 'a', value: undefined });
      await log.putDocument({ collection: 'templates', key: 'never', value: undefined });
      expect(await log.getDocument('templates', 'a')).toBeUndefined();
      expect(await keys(log, { collection: 'templates' })).toEqual([]);
      expect(await log.getDocument('other', 'a')).toBeDefined();
    });

    test('[L10] what is put again where it stood is replaced, also after it was gone or stood elsewhere', async () => {
      const { log } = subject();
      const put = (v: number, tag: string) =>
        log.putDocument({ collection: 'rows', key: 'a', value: `{"v":${v}}`, sort: 5, tag });
      for (const v of [1, 2]) await put(v, 'x');
      expect(await log.getDocument('rows', 'a')).toEqual({ key: 'a', value: '{"v":2}', sort: 5, tag: 'x' });
      await log.putDocument({ collection: 'rows', key: 'a', value: undefined });
      for (const [v, tag] of [
        [3, 'x'],
        [4, 'y'],
        [5, 'x'],
      ] as const)
        await put(v, tag);
      expect(await keys(log, { collection: 'rows', tag: 'y' })).toEqual([]);
      expect((await log.listDocuments({ collection: 'rows', tag: 'x', limit: 5 })).documents).toEqual([
        { key: 'a', value: '{"v":5}', sort: 5, tag: 'x' },
      ]);
    });

    test('[L60] a document whose text is made when it is read is as any other', async () => {
      const { log } = subject();
      const row = (key: string, n: number): LazyDocument =>
        new LazyDocument({ collection: 'rows', key, sort: n, tag: n > 1 ? 'new' : 'old' }, () => JSON.stringify({ n }));
      await log.putDocument(row('a', 1));
      await log.append({ session: 's', streams: [], documents: [row('a', 2), row('b', 3)] });
      const stored = (key: string, n: number) => ({ key, value: `{"n":${n}}`, sort: n, tag: 'new' });
      expect(await log.getDocument('rows', 'a')).toEqual(stored('a', 2));
      expect(await log.createDocument(row('a', 4))).toBe(false);
      expect(await log.createDocument(row('c', 4))).toBe(true);
      const { documents } = await log.listDocuments({ collection: 'rows', tag: 'new', limit: 10 });
      expect(documents).toEqual([stored('c', 4), stored('b', 3), stored('a', 2)]);
      expect(await keys(log, { collection: 'rows', tag: 'old' })).toEqual([]);
      await log.putDocument({ collection: 'rows', key: 'a', value: undefined });
      expect(await log.getDocument('rows', 'a')).toBeUndefined();
    });

    test('[L10] create writes only what is absent, also when many try at once', async () => {
      const { log } = subject();
      const tries = Array.from({ length: 20 }, (_, n) =>
        log.createDocument({ collection: 'keys', key: 'k', value: `{"n":${n}}`, sort: n, tag: 't' }),
      );
      const won = await Promise.all(tries);
      expect(won.filter(Boolean)).toHaveLength(1);
      const winner = won.indexOf(true);
      const expected = { key: 'k', value: `{"n":${winner}}`, sort: winner, tag: 't' };
      expect(await log.getDocument('keys', 'k')).toEqual(expected);
    });

    test('[L11] listing is by sort, then key, both descending, whole or by tag', async () => {
      const { log } = subject();
      const rows = [
        ['a', 1, 'red'],
        ['b', 1_700_000_000_000, 'red'],
        ['c', -2.5, 'blue'],
        ['d', 1, 'blue'],
        ['e', 1_700_000_000_001, 'red'],
        ['f', 0, 'red'],
      ] as const;
      for (const [key, sort, tag] of rows) await log.putDocument({ collection: 'c', key, value: '{}', sort, tag });
      expect(await keys(log, { collection: 'c' })).toEqual(['e', 'b', 'd', 'a', 'f', 'c']);
      expect(await keys(log, { collection: 'c', tag: 'red' })).toEqual(['e', 'b', 'a', 'f']);
      expect(await keys(log, { collection: 'c', tag: 'red' }, 100)).toEqual(['e', 'b', 'a', 'f']);
      expect(await keys(log, { collection: 'c', tag: 'green' })).toEqual([]);
      await log.putDocument({ collection: 'c', key: 'e', value: '{}', sort: -9, tag: 'blue' });
      expect(await keys(log, { collection: 'c', tag: 'red' })).toEqual(['b', 'a', 'f']);
      expect(await keys(log, { collection: 'c' })).toEqual(['b', 'd', 'a', 'f', 'c', 'e']);
    });

    test('[L11] a cursor shows the rest once, whatever is inserted or deleted meanwhile', async () => {
      const { log } = subject();
      for (let n = 1; n <= 9; n++) await log.putDocument({ collection: 'c', key: `k${n}`, value: '{}', sort: n });
      const page = await log.listDocuments({ collection: 'c', limit: 3 });
      expect(page.documents.map(({ key }) => key)).toEqual(['k9', 'k8', 'k7']);
      await log.putDocument({ collection: 'c', key: 'new', value: '{}', sort: 99 });
      await log.putDocument({ collection: 'c', key: 'k7', value: undefined });
      await log.putDocument({ collection: 'c', key: 'k9', value: undefined });
      const rest = await keys(log, { collection: 'c', cursor: page.nextCursor ?? '' });
      expect(rest).toEqual(['k6', 'k5', 'k4', 'k3', 'k2', 'k1']);
    });

    test('[L11] a last page that is exactly full has no cursor', async () => {
      const { log } = subject();
      for (const key of ['a', 'b']) await log.putDocument({ collection: 'c', key, value: '{}' });
      expect((await log.listDocuments({ collection: 'c', limit: 2 })).nextCursor).toBeUndefined();
    });

    test('[L11] a cursor from elsewhere is refused', async () => {
      const { log } = subject();
      for (const cursor of ['', 'nonsense', 'WzEsMl0', '{}']) {
        await expect(log.listDocuments({ collection: 'c', cursor, limit: 2 })).rejects.toMatchObject({
          code: 'bad-cursor',
        });
      }
    });

    test('[L12] an expired document is gone from get, list and create', async () => {
      const { log, now, advance } = subject();
      const expiresAt = now() + 60_000;
      await log.putDocument({ collection: 'c', key: 'brief', value: '{"n":1}', tag: 't', expiresAt });
      await log.putDocument({ collection: 'c', key: 'kept', value: '{}', tag: 't' });
      expect(await log.createDocument({ collection: 'c', key: 'brief', value: '{}' })).toBe(false);
      expect(await keys(log, { collection: 'c' })).toEqual(['kept', 'brief']);
      advance(60_001);
      expect(await log.getDocument('c', 'brief')).toBeUndefined();
      expect(await keys(log, { collection: 'c' })).toEqual(['kept']);
      expect(await keys(log, { collection: 'c', tag: 't' })).toEqual(['kept']);
      expect(await log.createDocument({ collection: 'c', key: 'brief', value: '{"n":2}' })).toBe(true);
      expect(await log.getDocument('c', 'brief')).toMatchObject({ value: '{"n":2}' });
    });

    test('[L12] a page is full although expired documents lie between', async () => {
      const { log, now, advance } = subject();
      for (let n = 0; n < 40; n++) {
        const expiry = n % 4 === 0 ? {} : { expiresAt: now() + 1_000 };
        await log.putDocument({ collection: 'c', key: `k${n}`, value: '{}', sort: n, ...expiry });
      }
      advance(1_001);
      const page = await log.listDocuments({ collection: 'c', limit: 5 });
      expect(page.documents.map(({ sort }) => sort)).toEqual([36, 32, 28, 24, 20]);
    });
  });
}
