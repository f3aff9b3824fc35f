import { describe, expect, test } from 'vitest';
import { nearest } from './nearest.ts';

describe('nearest', () => {
  test('finds a slip of one letter, whatever the case', () => {
    expect(nearest('comand', ['command', 'args', 'env'])).toBe('command');
    expect(nearest('CLAUD', ['Claude', 'Codex'])).toBe('Claude');
  });

  test('says nothing when nothing is close', () => {
    expect(nearest('timeout', ['args', 'env'])).toBeUndefined();
    expect(nearest('x', [])).toBeUndefined();
  });
});
