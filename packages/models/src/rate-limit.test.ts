import { describe, expect, test } from 'vitest';
import { RateLimit, type RateLimits } from './rate-limit.ts';
import { TestClock } from './testing/test-clock.ts';

function setup(limits: RateLimits) {
  const clock = new TestClock();
  const limit = new RateLimit(limits, clock);
  const entered: { name: number; at: number; leave: (tokens: number) => void }[] = [];
  const enter = (name: number, signal = new AbortController().signal): Promise<void> =>
    limit.enter(signal).then((leave) => void entered.push({ name, at: clock.now(), leave }));
  return { clock, entered, enter };
}

describe('a rate limit', () => {
  test('without limits everybody goes at once', async () => {
    const { clock, entered, enter } = setup({});
    for (let name = 0; name < 5; name++) void enter(name);
    await clock.advance(0);
    expect(entered.map(({ name }) => name)).toEqual([0, 1, 2, 3, 4]);
  });

  test('so many a minute, in order, at any moment', async () => {
    const { clock, entered, enter } = setup({ requests_per_minute: 2 });
    void enter(0);
    await clock.advance(10_000);
    for (let name = 1; name < 5; name++) void enter(name);
    await clock.advance(200_000);
    expect(entered.map(({ name, at }) => [name, at])).toEqual([
      [0, 0],
      [1, 10_000],
      [2, 60_000],
      [3, 70_000],
      [4, 120_000],
    ]);
  });

  test('so many at the same time', async () => {
    const { clock, entered, enter } = setup({ concurrent_requests: 2 });
    for (let name = 0; name < 3; name++) void enter(name);
    await clock.advance(1000);
    expect(entered.map(({ name }) => name)).toEqual([0, 1]);
    entered[0]?.leave(0);
    await clock.advance(0);
    expect(entered.map(({ name }) => name)).toEqual([0, 1, 2]);
  });

  test('so many tokens a minute, by what was spent', async () => {
    const { clock, entered, enter } = setup({ tokens_per_minute: 100 });
    void enter(0);
    await clock.advance(1000);
    entered[0]?.leave(150);
    void enter(1);
    await clock.advance(59_999);
    expect(entered).toHaveLength(1);
    await clock.advance(1);
    expect(entered[1]).toMatchObject({ name: 1, at: 61_000 });
  });

  test('who gives up leaves the line, and the next goes', async () => {
    const { clock, entered, enter } = setup({ concurrent_requests: 1 });
    const controller = new AbortController();
    void enter(0);
    const given = enter(1, controller.signal).then(
      () => 'entered',
      () => 'gave up',
    );
    void enter(2);
    await clock.advance(0);
    controller.abort();
    expect(await given).toBe('gave up');
    entered[0]?.leave(0);
    await clock.advance(0);
    expect(entered.map(({ name }) => name)).toEqual([0, 2]);
  });

  test('nothing waits for the clock when nobody waits', async () => {
    const { clock, enter } = setup({ requests_per_minute: 1 });
    const controller = new AbortController();
    void enter(0);
    const second = enter(1, controller.signal).catch(() => undefined);
    await clock.advance(0);
    expect(clock.next).toBe(60_000);
    controller.abort();
    await second;
    expect(clock.next).toBeUndefined();
  });
});
