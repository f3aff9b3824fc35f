import { describe, expect, test } from 'vitest';
import { nearest } from './nearest.ts';

describe('nearest', () => {
  test('finds a slip of one letter, whatever the case', () => {
    expect(nearest('comand', ['command', 'args', 'env'])).toBe('command');
    expect(nearest('CLAUD', ['Claude', 'Codex'])).toBe('Claude');
  });

  test('finds two neighbours that were swapped, also in a short word', () => {
    expect(nearest('prot', ['host', 'port', 'store'])).toBe('port');
    expect(nearest('agrs', ['args', 'env'])).toBe('args');
  });

  test('says nothing when nothing is close', () => {
    expect(nearest('timeout', ['args', 'env'])).toBeUndefined();
    expect(nearest('x', [])).toBeUndefined();
  });
});
