import { expect, test } from 'vitest';
import { lazily } from './lazily.ts';

test('it is made once, when it is first wanted, whatever it is', () => {
  let times = 0;
  const none = lazily(() => {
    times += 1;
    return undefined;
  });
  expect(times).toBe(0);
  expect([none(), none(), times]).toEqual([undefined, undefined, 1]);
});
