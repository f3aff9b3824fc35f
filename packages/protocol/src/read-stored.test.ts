import { expect, test } from 'vitest';
import * as z from 'zod/mini';
import { readStored } from './read-stored.ts';
import { SessionRecord } from './session-record.ts';

const opened = {
  type: 'request-opened',
  at: 1,
  actor: 'agent',
  requestId: 'r1',
  event: { type: 'waitForInput', requestId: 'r1', prompt: { parts: [{ text: '?' }] }, inputType: 'text' },
};

test('fields of a newer version are left out, wherever they stand; what is known is as it was', () => {
  const newer = { ...opened, urgency: 'high', event: { ...opened.event, theme: { dark: true } } };
  expect(readStored(SessionRecord, newer)).toEqual(opened);
  expect(newer).toHaveProperty('urgency');
});

test('what is known and wrong is refused all the same', () => {
  expect(() => readStored(SessionRecord, { ...opened, at: 'yesterday', urgency: 'high' })).toThrow('at');
  expect(() => readStored(SessionRecord, { type: 'from-the-future', at: 1, actor: 'x' })).toThrow('invalid_union');
});

test('of a shape with several forms the one that it has, but for what nobody knows', () => {
  const form = z.union([
    z.strictObject({ at: z.number(), out: z.strictObject({ kind: z.string() }) }),
    z.strictObject({ at: z.number(), end: z.union([z.string(), z.strictObject({ text: z.string() })]) }),
  ]);
  expect(readStored(form, { at: 1, end: { text: 'x', more: 1 }, other: 2 })).toEqual({ at: 1, end: { text: 'x' } });
  expect(readStored(form, { at: 1, out: { kind: 'x', more: 1 }, other: 2 })).toEqual({ at: 1, out: { kind: 'x' } });
  expect(() => readStored(form, { at: 1, other: 2 })).toThrow('invalid_union');
});
