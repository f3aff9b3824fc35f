import { expect, test } from 'vitest';
import { formsOf } from '../src/elicited-answers.ts';

type Question = Extract<Parameters<typeof formsOf>[0][number], { type: 'waitForChoice' }>;

function formOf(texts: readonly string[], selectionMode: Question['selectionMode']): unknown {
  const choices = texts.map((text, index) => ({ id: `option-${index + 1}`, content: { parts: [{ text }] } }));
  const prompt = { parts: [{ text: 'Which?' }] };
  return formsOf([{ type: 'waitForChoice', requestId: 'r', prompt, choices, selectionMode }]).r;
}

test('a person chooses by what stands there, one or several', () => {
  expect(formOf(['red', 'blue'], 'single')).toMatchObject({
    params: {
      message: 'Which?',
      requestedSchema: { properties: { selected: { type: 'string', enum: ['red', 'blue'] } } },
    },
  });
  expect(formOf(['red', 'blue'], 'multiple')).toMatchObject({
    params: { requestedSchema: { properties: { selected: { type: 'array', items: { enum: ['red', 'blue'] } } } } },
  });
});

test('where two read the same they are told apart', () => {
  expect(formOf(['red', 'red'], 'single')).toMatchObject({
    params: { requestedSchema: { properties: { selected: { enum: ['option-1: red', 'option-2: red'] } } } },
  });
});
