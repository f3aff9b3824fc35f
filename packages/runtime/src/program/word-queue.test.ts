import fc from 'fast-check';
import { expect, test } from 'vitest';
import { WordQueue } from './word-queue.ts';

type Act = number | 'take' | 'drop';
const isSeventh = (word: number): boolean => word % 7 === 0;

/** All that it gave and how long it was, after each act. */
function heard(
  acts: readonly Act[],
  list: { push(word: number): void; take(): unknown; drop(): boolean; length: number },
) {
  const found: unknown[] = [];
  let said = 0;
  for (const act of acts) {
    if (typeof act === 'number') for (let n = 0; n < act; n++) list.push(++said);
    else if (act === 'drop') found.push(list.drop());
    else for (let n = list.length >> 1; n >= 0; n--) found.push(list.take());
    found.push(list.length);
  }
  return found;
}

test('it gives what a plain list would give', () => {
  const acts = fc.array(fc.oneof(fc.integer({ min: 1, max: 3_000 }), fc.constantFrom('take', 'drop')), {
    maxLength: 40,
  });
  fc.assert(
    fc.property(acts, (wanted) => {
      const queue = new WordQueue<number>();
      const plain: number[] = [];
      const own = {
        push: (word: number) => queue.push(word),
        take: () => queue.take(),
        drop: () => queue.drop(isSeventh),
        get length() {
          return queue.length;
        },
      };
      const other = {
        push: (word: number) => void plain.push(word),
        take: () => plain.shift(),
        drop: () => plain.some(isSeventh) && plain.splice(plain.findIndex(isSeventh), 1).length > 0,
        get length() {
          return plain.length;
        },
      };
      expect(heard(wanted, own)).toEqual(heard(wanted, other));
    }),
    { numRuns: 50 },
  );
});
