import type { Json } from '@concerto/base';
import { expect, test } from 'vitest';
import { translate } from '../agent/translate.ts';
import { asked, emitted, type ProgramWord, resultOf } from './program-words.ts';

const turn = { agent: 'p', number: 1, callId: 'turn-1', toolName: String, knowsMessage: () => false };
const plain = (value: Json) => ({ written: JSON.stringify(value), shown: 'as it is shown' });

function shownOf({ message, raw }: ProgramWord) {
  return translate(turn, message, raw, () => 'req');
}

test('what an emit says keeps every field, also one that is called as a message calls its own', () => {
  const payload = { type: 'warning', id: 7, message: 'low disk' };
  expect(shownOf(emitted('note', plain(payload)))).toEqual({
    shown: [{ type: 'subagentAddJson', callId: 'turn-1', title: 'note', data: payload }],
  });
});

test('so does what an emit asks; only the id of a question that is passed on is not its own', () => {
  const deploy = { type: 'deploy', description: 'Ship it?', target: 'live' };
  expect(shownOf(asked('approve', plain(deploy), 'ask-1')).told).toMatchObject({
    event: { type: 'queryConsent', scope: { description: 'Ship it?', target: 'live', payload: deploy } },
  });
  const pick = { type: 'pick', id: 7, question: 'Which?', options: ['a', 'b'] };
  expect(shownOf(asked('choose', plain(pick), 'ask-2')).told).toMatchObject({
    event: { type: 'waitForChoice', prompt: { parts: [{ text: 'Which?' }, { json: { type: 'pick' } }] } },
  });
});

test('and the result of a program', () => {
  expect(resultOf(plain({ ok: true }))).toEqual({ ok: true });
  const report = { type: 'report', ok: true };
  expect(resultOf(plain(report))).toEqual({ text: 'as it is shown', value: report });
});

const word = { shown: 'x', written: '"x"' };

test.each(['constructor', 'toString', '__proto__', 'hasOwnProperty'])(
  'a channel may be called %s like any other',
  (channel) => {
    expect(emitted(channel, word)).toEqual({
      raw: { value: 'x', type: channel },
      message: { type: 'custom', name: channel, fields: { value: 'x' } },
    });
  },
);

test('a bare text goes where it belongs in the channels that agents have too', () => {
  expect(emitted('progress', word).message).toMatchObject({ type: 'progress', message: 'x' });
  expect(emitted('log', word).message).toMatchObject({ type: 'log', level: 'info', message: 'x' });
  expect(emitted('partial', word).message).toMatchObject({ type: 'partial', text: 'x' });
});
