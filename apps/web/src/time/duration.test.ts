import { expect, test } from 'vitest';
import { clockText, dayClockText } from './duration.ts';

test('what was today is told by the clock, what was another day with its day, and with its year where that is another', () => {
  const at = new Date(2026, 10, 16, 9, 5, 7);
  const said = (now: Date): string => dayClockText(at.toISOString(), now.getTime());
  const clock = clockText(at.toISOString());
  expect(said(new Date(2026, 10, 16, 23, 59))).toBe(clock);
  const day = said(new Date(2026, 10, 17, 0, 1));
  expect(day).toMatch(/16/);
  expect(day).toContain(clock);
  expect(day).not.toContain('2026');
  expect(said(new Date(2027, 10, 16))).toContain('2026');
});
