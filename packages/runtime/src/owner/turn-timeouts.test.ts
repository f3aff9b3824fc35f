import { describe, expect, test } from 'vitest';
import { VirtualClock } from '../../test/virtual-clock.ts';
import { type TurnLimits, TurnTimeouts } from './turn-timeouts.ts';

function watch(limits: Partial<TurnLimits>): { clock: VirtualClock; timeouts: TurnTimeouts; expired: string[] } {
  const clock = new VirtualClock();
  const expired: string[] = [];
  const timeouts = new TurnTimeouts(clock, { wholeRun: false, ...limits }, (why) => expired.push(why));
  return { clock, timeouts, expired };
}

describe('timeout of a turn', () => {
  test('does not count the time in which a person is asked', () => {
    const { clock, timeouts, expired } = watch({ timeoutMs: 10_000 });
    timeouts.turnStarted();
    clock.pass(9_000);
    timeouts.waitsForPerson(true);
    timeouts.waitsForPerson(true);
    clock.pass(60_000);
    timeouts.waitsForPerson(false);
    clock.pass(999);
    expect(expired).toEqual([]);
    clock.pass(1);
    expect(expired).toEqual(['the agent did not finish within 10 s']);
  });

  test('begins anew with each turn and ends with it', () => {
    const { clock, timeouts, expired } = watch({ timeoutMs: 10_000 });
    timeouts.turnStarted();
    clock.pass(9_000);
    timeouts.turnEnded();
    clock.pass(60_000);
    timeouts.turnStarted();
    clock.pass(9_999);
    expect(expired).toEqual([]);
    clock.pass(1);
    expect(expired).toHaveLength(1);
  });
});

describe('timeout of a whole run', () => {
  test('counts the time with a person, and a second process gets only what is left', () => {
    const { clock, timeouts, expired } = watch({ timeoutMs: 10_000, wholeRun: true });
    timeouts.turnStarted();
    clock.pass(4_000);
    timeouts.waitsForPerson(true);
    clock.pass(4_000);
    timeouts.waitsForPerson(false);
    timeouts.turnEnded();
    timeouts.turnStarted();
    clock.pass(1_999);
    expect(expired).toEqual([]);
    clock.pass(1);
    expect(expired).toEqual(['the agent did not finish within 10 s']);
  });

  test('goes off even while a person is asked', () => {
    const { clock, timeouts, expired } = watch({ timeoutMs: 10_000, wholeRun: true });
    timeouts.turnStarted();
    timeouts.waitsForPerson(true);
    clock.pass(10_000);
    expect(expired).toHaveLength(1);
  });
});

describe('idle timeout', () => {
  test('is for silence: every word begins it anew, and a person may take all the time', () => {
    const { clock, timeouts, expired } = watch({ idleTimeoutMs: 1_000 });
    timeouts.turnStarted();
    clock.pass(900);
    timeouts.heard();
    clock.pass(900);
    timeouts.waitsForPerson(true);
    timeouts.heard();
    clock.pass(5_000);
    timeouts.waitsForPerson(false);
    clock.pass(999);
    expect(expired).toEqual([]);
    clock.pass(1);
    expect(expired).toEqual(['the agent said nothing for 1 s']);
  });

  test('is not for the time between turns', () => {
    const { clock, timeouts, expired } = watch({ idleTimeoutMs: 1_000, timeoutMs: 5_000 });
    timeouts.heard();
    timeouts.turnStarted();
    timeouts.turnEnded();
    clock.pass(60_000);
    expect(expired).toEqual([]);
    expect(clock.next).toBeUndefined();
  });
});

describe('silence', () => {
  function listen(): { clock: VirtualClock; timeouts: TurnTimeouts; told: number[] } {
    const { clock, timeouts } = watch({});
    const told: number[] = [];
    timeouts.listenForSilence((ms) => told.push(ms / 1_000));
    return { clock, timeouts, told };
  }

  test('is told after a while, then each time it has been twice as long, and that it is over', () => {
    const { clock, timeouts, told } = listen();
    timeouts.turnStarted();
    clock.pass(250_000);
    expect(told).toEqual([30, 60, 120, 240]);
    timeouts.heard();
    timeouts.heard();
    expect(told).toEqual([30, 60, 120, 240, 0]);
  });

  test('is none while it speaks, while a person is asked, and after the turn', () => {
    const { clock, timeouts, told } = listen();
    timeouts.turnStarted();
    for (let i = 0; i < 10; i++) {
      clock.pass(29_000);
      timeouts.heard();
    }
    timeouts.waitsForPerson(true);
    clock.pass(600_000);
    timeouts.turnEnded();
    clock.pass(600_000);
    expect(told).toEqual([]);
    expect(clock.next).toBeUndefined();
  });
});
