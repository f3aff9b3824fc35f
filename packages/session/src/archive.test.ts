import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Archive, close, closedValues, emptyArchive, find, keep } from './archive.ts';

describe('archive', () => {
  test('finds what was kept and what was closed, in the order of closing, whatever came between', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(), { maxLength: 60 }), fc.infiniteStream(fc.boolean()), (ids, over) => {
        let archive: Archive<number> = emptyArchive();
        const closed: number[] = [];
        const live: number[] = [];
        for (const id of ids) {
          archive = keep(archive, `${id}`, id);
          if (over.next().value === true) {
            archive = close(archive, `${id}`, id);
            closed.push(id);
          } else {
            live.push(id);
          }
        }
        expect(closedValues(archive)).toEqual(closed);
        expect([...archive.live.values()]).toEqual(live);
        for (const id of ids) expect(find(archive, `${id}`)).toBe(id);
        expect(find(archive, 'unknown')).toBeUndefined();
      }),
      { seed: 7 },
    );
  });

  test('an older version does not see what came later', () => {
    const one = close(emptyArchive<number>(), 'a', 1);
    const two = close(one, 'b', 2);
    const other = close(one, 'c', 3);
    expect([closedValues(one), closedValues(two), closedValues(other)]).toEqual([[1], [1, 2], [1, 3]]);
  });

  test('has logarithmically many parts', () => {
    let archive = emptyArchive<number>();
    for (let id = 0; id < 1_000; id++) archive = close(archive, `${id}`, id);
    expect(archive.closed.length).toBeLessThanOrEqual(10);
  });
});
