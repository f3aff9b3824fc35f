import { type SuspendEvent, textContent } from '@concerto/protocol';
import { describe, expect, test } from 'vitest';
import { rememberedIn, responseOf } from './response-of.ts';

const choices = ['red', 'green', 'blue'].map((text, index) => ({
  id: `option-${index + 1}`,
  content: textContent(text),
}));
const choice = (selectionMode: 'single' | 'multiple'): SuspendEvent => ({
  type: 'waitForChoice',
  requestId: 'r',
  prompt: textContent('Which?'),
  choices,
  selectionMode,
});
const free = (text: string) => ({ input: { role: 'user', parts: [{ text }] } });

test.each([
  ['single', '2', { selected: ['option-2'] }],
  ['single', 'Blue', { selected: ['option-3'] }],
  ['single', '1,3', free('1,3')],
  ['single', '7', free('7')],
  ['multiple', '1, 3', { selected: ['option-1', 'option-3'] }],
  ['multiple', 'red,2', { selected: ['option-1', 'option-2'] }],
  ['multiple', 'red, and a bit of blue', free('red, and a bit of blue')],
] as const)('a %s choice answered with %j', (mode, given, response) => {
  expect(responseOf(choice(mode), given)).toEqual(response);
});

const consent: SuspendEvent = {
  type: 'queryConsent',
  requestId: 'r',
  consentType: 'approval',
  scope: {},
  graphUrl: '',
};

test.each([
  ['y always', 'y', { remember: 'always' }],
  ['No for this session', 'No', { remember: 'session' }],
  ['y', 'y', {}],
  ['yes, but always ask', 'yes, but always ask', {}],
] as const)('an approval answered with %j', (line, given, remember) => {
  expect(rememberedIn(consent, line)).toEqual({ given, remember });
  expect(rememberedIn(choice('single'), line)).toEqual({ given: line, remember: {} });
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
