import { expect, test } from 'vitest';
import { crashEverywhere } from './doom.ts';
import { crashProgramAt } from './simulate-programs.ts';

/** In which both agents are at work, and both ask. */
const story = 4;

// In a file of its own: each of some hundreds of calls is tried, which takes a while.
test('when the process of a program dies at any call, before or after its effect', {
  timeout: 20 * 60_000,
}, async () => {
  const { calls, faults } = await crashEverywhere((place) => crashProgramAt(story, place));
  expect(calls.filter((call) => call === 'prompt')).toHaveLength(2);
  expect(calls.filter((call) => call === 'reply')).toHaveLength(2);
  expect(faults).toEqual([]);
});
