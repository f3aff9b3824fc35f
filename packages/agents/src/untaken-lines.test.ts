import { expect, test } from 'vitest';
import { AgentError } from './agent-error.ts';
import { UntakenLines } from './untaken-lines.ts';

const failure = (why: string): AgentError => new AgentError('stdin-stalled', why);
const lines = (...ids: readonly (readonly [number, number])[]): UntakenLines => {
  const untaken = new UntakenLines(failure);
  for (const [step, index] of ids) untaken.add({ step, index });
  return untaken;
};

test('whoever waits is told when the last of its lines is taken, and not before', async () => {
  const untaken = lines([1, 0], [1, 1]);
  const told: string[] = [];
  const first = untaken.flushed().then(() => told.push('first'));
  untaken.add({ step: 2, index: 0 });
  const second = untaken.flushed().then(() => told.push('second'));
  untaken.taken({ step: 1, index: 0 });
  await Promise.resolve();
  expect(told).toEqual([]);
  // One word for several: they are taken in their order.
  untaken.taken({ step: 1, index: 1 });
  await first;
  expect(told).toEqual(['first']);
  untaken.taken({ step: 2, index: 0 });
  await second;
  await untaken.flushed();
});

test('one that fails is told to those who wait for it, and to the next who asks when nobody did', async () => {
  const untaken = lines([1, 0], [2, 0]);
  const both = untaken.flushed();
  untaken.failed({ step: 1, index: 0 }, failure('full'));
  await expect(both).rejects.toThrow('full');
  untaken.add({ step: 3, index: 0 });
  untaken.failed({ step: 3, index: 0 }, failure('broken'));
  await expect(untaken.flushed()).rejects.toThrow('broken');
  const rest = untaken.flushed();
  untaken.taken({ step: 2, index: 0 });
  await rest;
});

test('when the agent ends, all of them have failed', async () => {
  const untaken = lines([1, 0], [1, 1]);
  const both = untaken.flushed();
  untaken.end(failure('gone'));
  await expect(both).rejects.toThrow('gone');
});
