import { describe, expect, test } from 'vitest';
import { Blobs } from '../blobs.ts';
import { copyStore } from '../copy-store.ts';
import type { EventLog } from '../event-log.ts';
import { memoryEventLog } from '../memory/memory-event-log.ts';
import { put } from './append-contract.ts';
import type { SubjectOf } from './event-log-contract.ts';

/** Every byte there is, more than one piece, and a last piece that is shorter. */
function content(length: number): Buffer {
  return Buffer.from(Uint8Array.from({ length }, (_, index) => (index * 7 + (index >> 8)) % 256));
}

function* inChunks(bytes: Buffer, length: number): Generator<Buffer> {
  for (let start = 0; start < bytes.length; start += length) yield bytes.subarray(start, start + length);
}

const collections = ['blobs', 'blob-pieces', 'blob-uploads', 'blob-uses', 'blob-uses-of'];

async function documentCount(log: EventLog): Promise<number> {
  const pages = collections.map((collection) => log.listDocuments({ collection, limit: 1_000 }));
  return (await Promise.all(pages)).reduce((sum, { documents }) => sum + documents.length, 0);
}

export function blobContract(subject: SubjectOf): void {
  describe('blobs', () => {
    test('[L50] what was put comes back byte for byte, with its type, hash and length', async () => {
      const { log, now } = subject();
      const blobs = new Blobs(log, now);
      for (const [length, chunk] of [
        [1_300_001, 65_536],
        [524_288, 10_000],
        [1, 1],
        [0, 1],
      ] as const) {
        const bytes = content(length);
        const stored = await blobs.put('image/png', inChunks(bytes, chunk));
        expect(stored).toMatchObject({ mimeType: 'image/png', contentLength: length });
        expect(stored.contentHash).toMatch(/^sha256-[0-9a-f]{64}$/);
        const read = await blobs.read(stored.handle);
        expect(read?.content.equals(bytes)).toBe(true);
        expect(await blobs.find(stored.handle)).toEqual(stored);
      }
      expect(await blobs.read('b_nothing')).toBeUndefined();
      expect(await blobs.find('b_nothing')).toBeUndefined();
    });

    test('[L51] the same bytes of the same type are one blob, also when they come at once', async () => {
      const { log, now } = subject();
      const blobs = new Blobs(log, now);
      const bytes = content(600_000);
      const all = await Promise.all([1, 2, 3].map(() => blobs.put('image/png', inChunks(bytes, 100_000))));
      expect(new Set(all.map(({ handle }) => handle)).size).toBe(1);
      // Its head and two pieces: nothing is left of the others.
      expect(await documentCount(log)).toBe(3);
      expect((await blobs.put('text/plain', [bytes])).handle).not.toBe(all[0]?.handle);
    });

    test('[L52] one that is too large is refused and leaves nothing', async () => {
      const { log, now } = subject();
      const blobs = new Blobs(log, now, 2_000_000);
      async function* endless(): AsyncGenerator<Buffer> {
        for (;;) yield Buffer.alloc(300_000);
      }
      await expect(blobs.put('application/zip', endless())).rejects.toMatchObject({ code: 'too-large' });
      async function* broken(): AsyncGenerator<Buffer> {
        yield content(600_000);
        throw new Error('the line went dead');
      }
      await expect(blobs.put('image/png', broken())).rejects.toThrow('the line went dead');
      expect(await documentCount(log)).toBe(0);
    });

    test('[L53] a blob is kept while a session uses it, and goes with the last one', async () => {
      const { log, now, advance } = subject();
      const blobs = new Blobs(log, now);
      const shared = await blobs.put('image/png', [content(10)]);
      const own = await blobs.put('image/png', [content(600_000)]);
      const uses = [
        ...blobs.usesOf('s1', [shared.handle, own.handle, own.handle]),
        ...blobs.usesOf('s2', [shared.handle]),
      ];
      for (const use of uses) await log.putDocument(use);
      advance(1_000);
      expect(await blobs.collect(now())).toBe(0);
      await blobs.forgetSession('s1');
      expect(await blobs.find(own.handle)).toBeUndefined();
      expect(await blobs.find(shared.handle)).toEqual(shared);
      await blobs.forgetSession('s2');
      expect(await blobs.find(shared.handle)).toBeUndefined();
      expect(await documentCount(log)).toBe(0);
    });

    test('[L54] what nobody uses is collected once it was not looked for in a while', async () => {
      const { log, now, advance } = subject();
      const blobs = new Blobs(log, now);
      const old = await blobs.put('image/png', [content(600_000)]);
      const wanted = await blobs.put('image/png', [content(20)]);
      await log.putDocument({ collection: 'blob-uploads', key: 'cut', value: JSON.stringify({ at: now() }) });
      await log.putDocument({ collection: 'blob-pieces', key: 'cut/0', value: '"AA=="', tag: 'cut' });
      const before = now();
      advance(1_000);
      await blobs.find(wanted.handle);
      expect(await blobs.collect(before)).toBe(2);
      expect(await blobs.find(old.handle)).toBeUndefined();
      expect((await blobs.read(wanted.handle))?.content.equals(content(20))).toBe(true);
      expect(await documentCount(log)).toBe(2);
    });

    test('[L55] a copy of the store has them', async () => {
      const { log, now } = subject();
      await put(log, 's1', 'events', { type: 't', data: '{"type":"t"}' });
      const stored = await new Blobs(log, now).put('image/png', [content(600_000)]);
      const there = memoryEventLog({ now });
      await copyStore(log, there, { now });
      const read = await new Blobs(there, now).read(stored.handle);
      expect(read?.content.equals(content(600_000))).toBe(true);
    });

    test('[L56] one that is not whole is an error, never less than was put', async () => {
      const { log, now } = subject();
      const blobs = new Blobs(log, now);
      const { handle } = await blobs.put('image/png', [content(1_200_000)]);
      const { documents } = await log.listDocuments({ collection: 'blob-pieces', limit: 1 });
      for (const { key } of documents) await log.putDocument({ collection: 'blob-pieces', key, value: undefined });
      await expect(blobs.read(handle)).rejects.toMatchObject({ code: 'corrupt' });
    });
  });
}
