import { expect, test } from 'vitest';
import { emitted } from './program-words.ts';

const word = { shown: 'x', written: '"x"' };

test.each(['constructor', 'toString', '__proto__', 'hasOwnProperty'])(
  'a channel may be called %s like any other',
  (channel) => {
    expect(emitted(channel, word)).toEqual({
      raw: { value: 'x', type: channel },
      message: { type: 'custom', name: channel, fields: { value: 'x', type: channel } },
    });
  },
);

test('a bare text goes where it belongs in the channels that agents have too', () => {
  expect(emitted('progress', word).message).toMatchObject({ type: 'progress', message: 'x' });
  expect(emitted('log', word).message).toMatchObject({ type: 'log', level: 'info', message: 'x' });
  expect(emitted('partial', word).message).toMatchObject({ type: 'partial', text: 'x' });
});
