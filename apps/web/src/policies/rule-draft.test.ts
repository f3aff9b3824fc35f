import type { StoredRule } from '@concerto/protocol';
import { expect, test } from 'vitest';
import { emptyFields, fieldsOf, ruleOf } from './rule-draft.ts';

const rules: readonly StoredRule[] = [
  { id: 'a', decide: 'allow' },
  { decide: 'deny', command: ['rm *', 'git push*'], reason: 'not from here', agent: 'claude' },
  { decide: 'model:Architect', path: 'src/**', tool: 'Edit', risk: ['low', 'high'] },
  { decide: 'answer:{"more":{"tokens":20000}}', kind: 'budget', addedBy: 'user:ann' },
];

test.each(rules)('a rule is the same after it was in the form: $decide', (rule) => {
  expect(ruleOf(fieldsOf(rule), rule)).toEqual(rule);
});

test('what is empty matches nothing, and is left out', () => {
  expect(ruleOf({ ...emptyFields, command: ' \n npm test \n' }, undefined)).toEqual({
    command: 'npm test',
    decide: 'allow',
  });
});
