import { describe, expect, test } from 'vitest';
import { crashEverywhere } from './doom.ts';
import { faultOf } from './fault-of.ts';
import { crashAt, simulate } from './simulate.ts';
import { type Setting, simulatePrograms } from './simulate-programs.ts';

/** Every seed that ever failed; it stays. */
const onceFailed: readonly number[] = [86, 102, 117, 174, 177, 252, 255, 661, 723, 921, 958, 1210];

const first = 1;
const runs = 250;
/** Stories in which much is going on: with questions, steering, a pause, an interrupt. */
const stories = [3, 4];
const programRuns = 20;
const programsOnceFailed: readonly (Setting & { readonly seed: number })[] = [
  ...[27, 46, 81, 157, 158, 173, 225].map((seed) => ({ seed })),
  ...[16, 195].map((seed) => ({ seed, far: true })),
];
/** Calls at which the world may end, in the runs with programs together. */
const programCalls = 50_000;
const programsAgain: readonly number[] = [1, 2, 3, 4];
const minute = 60_000;

describe('nothing acknowledged is lost or doubled', () => {
  test('whatever happens, by seed', { timeout: 5 * minute }, async () => {
    const failed: string[] = [];
    for (const seed of [...onceFailed, ...Array.from({ length: runs }, (_, index) => first + index)]) {
      const fault = await faultOf(() => simulate(seed));
      if (fault !== undefined) failed.push(`seed ${seed}: ${fault}`);
    }
    expect(failed).toEqual([]);
  });

  test.each(stories)(
    'when the process of story %i dies at any call, before or after its effect',
    {
      timeout: 5 * minute,
    },
    async (story) => {
      const { calls, faults } = await crashEverywhere((place) => crashAt(story, place));
      expect(calls.length).toBeGreaterThan(80);
      expect(faults).toEqual([]);
    },
  );

  test('programs, their agents, and people who do to both what they may, by seed', {
    timeout: 5 * minute,
  }, async () => {
    const failed: string[] = [];
    let calls = 0;
    const runs = Array.from({ length: programRuns }, (_, index) => ({
      seed: first + index,
      joins: index % 2 === 0,
      far: index % 4 > 1,
    }));
    for (const { seed, ...setting } of [...programsOnceFailed, ...runs]) {
      const fault = await faultOf(async () => {
        calls += (await simulatePrograms(seed, setting)).calls;
      });
      if (fault !== undefined) failed.push(`seed ${seed} ${JSON.stringify(setting)}: ${fault}`);
    }
    expect(failed).toEqual([]);
    expect(calls).toBeGreaterThan(programCalls);
  });

  test('whatever happens to programs and their agents follows from the seed', { timeout: 5 * minute }, async () => {
    for (const seed of programsAgain) {
      const setting = { joins: seed % 2 === 0, far: seed > 2 };
      expect(await simulatePrograms(seed, setting)).toEqual(await simulatePrograms(seed, setting));
    }
  });
});
