import type { SuspendEvent } from '@concerto/protocol';
import { expect, test } from 'vitest';
import { Story } from '../../test/story.ts';
import { rowView, sessionView } from './view.ts';

const long = 'x'.repeat(5_000_000);

test('10.6 lists have the beginning of what an agent said at length; the session itself has all of it', () => {
  const done = new Story().running().result(long);
  expect(JSON.stringify(sessionView(done.state, 0)).length).toBeGreaterThan(long.length);
  const row = rowView(done.state, 0);
  expect(JSON.stringify(row).length).toBeLessThan(10_000);
  expect(row).toMatchObject({ status: 'idle', result: { text: expect.stringMatching(/^x{1000,}…$/) } });
  const failed = rowView(new Story().running().error(long).state, 0);
  expect(JSON.stringify(failed).length).toBeLessThan(10_000);
  expect(failed.error).toMatchObject({ code: 'agent_error', message: expect.stringMatching(/^x{1000,}…$/) });
});

test('10.6 a question of any length is a short row', () => {
  const event: SuspendEvent = {
    type: 'waitForInput',
    requestId: 'q1',
    prompt: { role: 'model', parts: [{ text: long }] },
    inputType: 'text',
  };
  const asked = new Story().running().report({ type: 'request-opened', requestId: 'q1', event });
  expect(sessionView(asked.state, 0).waiting?.detail).toBe(long);
  expect(rowView(asked.state, 0).waiting?.detail).toMatch(/^x{1000,}…$/);
});

test('what is short is the same in both', () => {
  const story = new Story().running().result().send('m2').delivered().question();
  expect(rowView(story.state, 7)).toEqual(sessionView(story.state, 7));
});

test('1.7 when something last happened in it is told beside its last record: bookkeeping is nothing', () => {
  const parked = new Story().running();
  parked.now += 60_000;
  parked.result();
  const { activeAt } = sessionView(parked.state, 0);
  expect(activeAt).toBe(sessionView(parked.state, 0).updatedAt);
  parked.pass(5 * 60_000);
  expect(parked.recordTypes()).toContain('parked');
  const after = sessionView(parked.state, 0);
  expect(after.activeAt).toBe(activeAt);
  expect(after.updatedAt > String(activeAt)).toBe(true);
  const restarted = new Story().running().result();
  restarted.now += 60_000;
  const idle = sessionView(restarted.state, 0).activeAt;
  expect(sessionView(restarted.claim(2).state, 0)).toMatchObject({ status: 'idle', activeAt: idle });
  restarted.now += 60_000;
  expect(String(sessionView(restarted.send('more').state, 0).activeAt) > String(idle)).toBe(true);
  const lost = new Story().running();
  lost.now += 60_000;
  lost.claim(2);
  expect(sessionView(lost.state, 0)).toMatchObject({ status: 'interrupted', activeAt: lost.last?.at });
});
