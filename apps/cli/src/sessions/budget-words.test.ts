import { expect, test } from 'vitest';
import { budgetText, readBudget } from './budget-words.ts';

test('a budget as it is typed', () => {
  expect(readBudget('tokens=1000, usd=0.5')).toEqual({ tokens: 1000, usd: 0.5 });
});

test.each(['', 'tokens', 'tokens=', 'tokens=many', 'cents=4', 'turns=0', 'tokens=1.5'])('%j is none', (text) => {
  expect(() => readBudget(text)).toThrow('--budget is a list');
});

test('how much is used, and that it is an estimate', () => {
  const budget = { limits: { tokens: 1000, turns: 3 }, spent: { tokens: 812, turns: 1 }, left: {}, isEstimate: true };
  expect(budgetText({ ...budget, isEstimate: true })).toBe('about 812 of 1000 tokens, 1 of 3 turns');
});
