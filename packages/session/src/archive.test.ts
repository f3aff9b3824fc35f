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

  test('a second last change takes the place of the first, for whoever has it', () => {
    const one = close(close(emptyArchive<number>(), 'a', 1), 'b', 2);
    const again = close(one, 'a', 3);
    expect([closedValues(one), closedValues(again)]).toEqual([
      [1, 2],
      [3, 2],
    ]);
    expect([find(one, 'a'), find(again, 'a')]).toEqual([1, 3]);
  });

  test('versions that went different ways have each their own', () => {
    const step = fc.record({ from: fc.nat(), id: fc.integer({ min: 0, max: 9 }), value: fc.nat() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const versions = [{ ours: emptyArchive<number>(), map: new Map<string, number>() }];
        for (const { from, id, value } of steps) {
          const before = versions[from % versions.length];
          if (before === undefined) return;
          const map = new Map(before.map).set(`${id}`, value);
          versions.push({ ours: close(before.ours, `${id}`, value), map });
        }
        for (const { ours, map } of versions) {
          expect(closedValues(ours)).toEqual([...map.values()]);
          for (let id = 0; id < 10; id++) expect(find(ours, `${id}`)).toBe(map.get(`${id}`));
        }
      }),
    );
  });
});
