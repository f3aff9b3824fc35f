import { textContent, type WorkEvent } from '@concerto/protocol';
import { expect, test } from 'vitest';
import { WholeCharacters } from './whole-characters.ts';

const word = (text: string, messageId = 'm1'): WorkEvent => ({
  type: 'content',
  content: textContent(text),
  messageId,
});
const thought = (text: string): WorkEvent => ({ type: 'thought', text, messageId: 'm1' });
const output = (callId: string, text: string): WorkEvent => ({ type: 'toolOutput', callId, text });

test('a character that comes in two pieces is said whole with the second', () => {
  const characters = new WholeCharacters();
  expect(characters.in([word('a\ud83d')])).toEqual([word('a')]);
  expect(characters.in([word('\ude00b'), thought('\ud83d')])).toEqual([word('😀b')]);
  expect(characters.in([thought('\ude00')])).toEqual([thought('😀')]);
});

test('the output of two calls is told apart', () => {
  const pieces = [output('1', 'x\ud83d'), output('2', 'y\ud83c'), output('1', '\ude00'), output('2', '\udf1f!')];
  expect(new WholeCharacters().in(pieces)).toEqual([
    output('1', 'x'),
    output('2', 'y'),
    output('1', '😀'),
    output('2', '🌟!'),
  ]);
});

test('half a character that does not go on is shown as one that cannot be read', () => {
  expect(new WholeCharacters().in([word('a\ud83d'), word('b')])).toEqual([word('a'), word('\ufffdb')]);
});

test('what is whole already is passed on as it is', () => {
  const events = [word('a😀'), thought(''), output('1', 'é')];
  expect(new WholeCharacters().in(events)).toBe(events);
});
