import { type SuspendEvent, textContent } from '@concerto/protocol';
import { describe, expect, test } from 'vitest';
import { answerIn } from './response-of.ts';

const responseOf = (event: SuspendEvent, line: string) => answerIn(event, line).response;

const choices = ['red', 'green', 'blue'].map((text, index) => ({
  id: `option-${index + 1}`,
  content: textContent(text),
}));
const choice = (selectionMode: 'single' | 'multiple', offered = choices): SuspendEvent => ({
  type: 'waitForChoice',
  requestId: 'r',
  prompt: textContent('Which?'),
  choices: offered,
  selectionMode,
});
const free = (text: string) => ({ input: { role: 'user', parts: [{ text }] } });

test.each([
  ['single', '2', { selected: ['option-2'] }],
  ['single', 'Blue', { selected: ['option-3'] }],
  ['single', 'red, and a bit of blue', free('red, and a bit of blue')],
  ['single', '7 of them', free('7 of them')],
  ['single', '2.5', free('2.5')],
  ['single', '"7"', free('7')],
  ['single', '"quoted"', free('"quoted"')],
  ['multiple', '1, 3,', { selected: ['option-1', 'option-3'] }],
  ['multiple', '2, green', { selected: ['option-2'] }],
  ['multiple', '1, 3', { selected: ['option-1', 'option-3'] }],
  ['multiple', 'red,2', { selected: ['option-1', 'option-2'] }],
  ['multiple', 'red, and a bit of blue', free('red, and a bit of blue')],
] as const)('a %s choice answered with %j', (mode, given, response) => {
  expect(responseOf(choice(mode), given)).toEqual(response);
});

test.each([
  ['single', '7', 'there is no choice 7: write 1 to 3, or "7" in quotes if it is meant as text'],
  ['single', '0', 'there is no choice 0'],
  ['single', '-1', 'there is no choice -1'],
  ['single', '', 'write 1 to 3, or what you choose in words'],
  ['single', '1,3', 'only one can be chosen: 1 to 3'],
  ['multiple', '1, 7', 'there is no choice 7'],
  ['multiple', 'red,4', 'there is no choice 4'],
  ['multiple', ',', 'write 1 to 3'],
] as const)('a %s choice answered with %j by a slip', (mode, given, message) => {
  expect(() => responseOf(choice(mode), given)).toThrow(message);
});

test('choices that are numbers are meant by what they are', () => {
  const workers = ['1', '2', '4'].map((text, index) => ({ id: `option-${index + 1}`, content: textContent(text) }));
  const asked = choice('single', workers);
  expect(responseOf(asked, '4')).toEqual({ selected: ['option-3'] });
  expect(responseOf(asked, '3')).toEqual({ selected: ['option-3'] });
  expect(() => responseOf(asked, '16')).toThrow('there is no choice 16');
});

const consent: SuspendEvent = {
  type: 'queryConsent',
  requestId: 'r',
  consentType: 'approval',
  scope: {},
  graphUrl: '',
};

test.each([
  ['y always', true, { remember: 'always' }],
  ['No for this session', false, { remember: 'session' }],
  ['y', true, {}],
  ['yes, but always ask', 'yes, but always ask', {}],
] as const)('an approval answered with %j', (line, response, remember) => {
  expect(answerIn(consent, line)).toEqual({ response, remember });
  expect(answerIn(choice('single'), line)).toEqual({ response: free(line), remember: {} });
});

describe('a budget', () => {
  const event: SuspendEvent = { type: 'queryConsent', requestId: 'r', consentType: 'budget', scope: {}, graphUrl: '' };
  test.each([
    ['y', 'more'],
    ['stop', 'stop'],
    ['tokens=500', { more: { tokens: 500 } }],
    ['more usd=0.5, turns=2', { more: { usd: 0.5, turns: 2 } }],
    ['later', 'later'],
  ])('%s', (given, response) => {
    expect(responseOf(event, given)).toEqual(response);
  });
});
