import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toolNames } from './tool-names.ts';

const ALLOWED = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

test('a method of a tool keeps its look', () => {
  expect(toolNames(['Calculator::add']).toWire('Calculator::add')).toBe('Calculator__add');
});

test('names that look alike stay apart', () => {
  const names = toolNames(['a::b', 'a__b', 'a b', 'a_b']);
  const wires = ['a::b', 'a__b', 'a b', 'a_b'].map(names.toWire);
  expect(new Set(wires).size).toBe(4);
  expect(wires.map(names.fromWire)).toEqual(['a::b', 'a__b', 'a b', 'a_b']);
});

test('a name nobody offered comes back as it is', () => {
  expect(toolNames(['a::b']).fromWire('made_up')).toBe('made_up');
});

test('any names are allowed by every provider, differ, and come back', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.oneof(fc.string(), fc.string({ minLength: 60, maxLength: 90 })), { maxLength: 20 }),
      (given) => {
        const names = toolNames(given);
        const wires = given.map(names.toWire);
        expect(wires.every((wire) => ALLOWED.test(wire))).toBe(true);
        expect(new Set(wires).size).toBe(given.length);
        expect(wires.map(names.fromWire)).toEqual(given);
      },
    ),
  );
});
