import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ByNumber } from './by-number.ts';

test('it holds what a map would, in the order of the numbers', () => {
  const step = fc.record({
    does: fc.constantFrom('set', 'delete', 'clear', 'get'),
    number: fc.integer({ min: 0, max: 12 }),
    thing: fc.string({ maxLength: 2 }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const ours = new ByNumber<string>();
      const map = new Map<number, string>();
      for (const { does, number, thing } of steps) {
        expect(takeStep(ours, does, number, thing)).toBe(takeStep(map, does, number, thing));
        const ascending = [...map].sort(([a], [b]) => a - b);
        expect(ours.size).toBe(map.size);
        expect(ours.numbers()).toEqual(ascending.map(([each]) => each));
        expect(ours.things()).toEqual(ascending.map(([, each]) => each));
      }
    }),
  );
});

/** What it says to that, if anything. */
function takeStep(
  things: ByNumber<string> | Map<number, string>,
  does: string,
  number: number,
  thing: string,
): boolean | string | undefined {
  if (does === 'delete') return things.delete(number);
  if (does === 'get') return things.get(number);
  if (does === 'set') things.set(number, thing);
  else things.clear();
  return undefined;
}

test('what is told of it is as it was then', () => {
  const ours = new ByNumber<string>();
  ours.set(2, 'b');
  ours.set(1, 'a');
  const numbers = ours.numbers();
  for (const number of numbers) ours.delete(number);
  expect(numbers).toEqual([1, 2]);
  expect(ours.size).toBe(0);
});
