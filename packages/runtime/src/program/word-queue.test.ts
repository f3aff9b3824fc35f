import fc from 'fast-check';
import { expect, test } from 'vitest';
import { WordQueue } from './word-queue.ts';

test('it gives what a plain list would give', () => {
  const acts = fc.array(fc.oneof(fc.integer({ min: 1, max: 3_000 }), fc.constantFrom('take', 'drop')), {
    maxLength: 40,
  });
  fc.assert(
    fc.property(acts, (wanted) => {
      const queue = new WordQueue<number>();
      const plain: number[] = [];
      let said = 0;
      for (const act of wanted) {
        if (typeof act === 'number') {
          for (let n = 0; n < act; n++) queue.push(++said);
          for (let n = act - 1; n >= 0; n--) plain.push(said - n);
        } else if (act === 'take') {
          const most = plain.length >> 1;
          for (let n = 0; n <= most; n++) expect(queue.take()).toBe(plain.shift());
        } else {
          const index = plain.findIndex((word) => word % 7 === 0);
          expect(queue.drop((word) => word % 7 === 0)).toBe(index >= 0);
          if (index >= 0) plain.splice(index, 1);
        }
        expect(queue.length).toBe(plain.length);
      }
    }),
    { numRuns: 50 },
  );
});
