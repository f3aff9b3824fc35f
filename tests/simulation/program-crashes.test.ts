import { expect, test } from 'vitest';
import { crashEverywhere } from './doom.ts';
import { crashProgramAt } from './simulate-programs.ts';

/** In which both agents are at work, and both ask. */
const story = 4;

// In a file of its own: each of some hundreds of calls is tried, which takes a while.
test.each([
  { store: 'takes one append after the other', joins: false },
  { store: 'takes what follows from an append with it', joins: true },
])(
  'when the process of a program dies at any call, before or after its effect, and the store $store',
  {
    timeout: 20 * 60_000,
  },
  async ({ joins }) => {
    const { calls, faults } = await crashEverywhere((place) => crashProgramAt(story, joins, place));
    expect(calls.filter((call) => call === 'prompt')).toHaveLength(2);
    expect(calls.filter((call) => call === 'reply')).toHaveLength(2);
    expect(faults).toEqual([]);
  },
);
