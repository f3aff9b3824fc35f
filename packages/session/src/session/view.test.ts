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
