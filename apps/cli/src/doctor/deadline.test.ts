import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { before, within } from './deadline.ts';

const never = new Promise<never>(() => {});

test('a deadline comes, whatever is collected as garbage meanwhile', async () => {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  const waiting = before(within(50, new AbortController().signal), never);
  if (typeof collect === 'function') collect();
  expect(await waiting).toBeUndefined();
});

test('a deadline comes at once when everything is called off', async () => {
  const calledOff = new AbortController();
  const waiting = before(within(60_000, calledOff.signal), never);
  calledOff.abort();
  expect(await waiting).toBeUndefined();
  expect(within(60_000, calledOff.signal).aborted).toBe(true);
});

test('what comes before the deadline is given', async () => {
  expect(await before(within(60_000, new AbortController().signal), Promise.resolve('here'))).toBe('here');
});
