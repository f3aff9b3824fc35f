import { describe, expect, test } from 'vitest';
import { crashAt, simulate } from './simulate.ts';
import { crashProgramAt, simulatePrograms } from './simulate-programs.ts';

/** Every seed that ever failed; it stays. */
const onceFailed: readonly number[] = [86, 102, 117, 174, 177, 252, 255, 661, 723, 921, 958, 1210];

const first = 1;
const runs = 250;
/** Stories in which much is going on: with questions, steering, a pause, an interrupt. */
const stories = [3, 4];
const programRuns = 24;
const programsOnceFailed: readonly number[] = [27];
/** Calls at which the world may end, in the runs with programs together. */
const programCalls = 50_000;
/** Each call of a program's story takes a while: `npm test` tries every so-many-th, and this all of them. */
const everyCall = process.env.CONCERTO_EVERY_CALL === '1' ? 1 : 13;
const minute = 60_000;

async function faultOf(run: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await run();
    return undefined;
  } catch (cause) {
    return cause instanceof Error ? cause.message : String(cause);
  }
}

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
      const calls = await crashAt(story, 0, 'crash-before');
      expect(calls).toBeGreaterThan(100);
      const failed: string[] = [];
      for (let call = 1; call <= calls; call++) {
        for (const kind of ['crash-before', 'crash-after'] as const) {
          const fault = await faultOf(() => crashAt(story, call, kind));
          if (fault !== undefined) failed.push(`${kind} call ${call}: ${fault}`);
        }
      }
      expect(failed).toEqual([]);
    },
  );

  test('programs, their agents, and people who do to both what they may, by seed', {
    timeout: 5 * minute,
  }, async () => {
    const failed: string[] = [];
    let calls = 0;
    for (const seed of [...programsOnceFailed, ...Array.from({ length: programRuns }, (_, index) => first + index)]) {
      const fault = await faultOf(async () => {
        calls += await simulatePrograms(seed);
      });
      if (fault !== undefined) failed.push(`seed ${seed}: ${fault}`);
    }
    expect(failed).toEqual([]);
    expect(calls).toBeGreaterThan(programCalls);
  });

  test('when the process of a program dies at a call, before or after its effect', {
    timeout: 15 * minute,
  }, async () => {
    const calls = await crashProgramAt(0, 'crash-before');
    expect(calls).toBeGreaterThan(100);
    const failed: string[] = [];
    for (let call = 1; call <= calls; call += everyCall) {
      for (const kind of ['crash-before', 'crash-after'] as const) {
        const fault = await faultOf(() => crashProgramAt(call, kind));
        if (fault !== undefined) failed.push(`${kind} call ${call}: ${fault}`);
      }
    }
    expect(failed).toEqual([]);
  });
});
