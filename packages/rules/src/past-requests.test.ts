import type { Json } from '@concerto/base';
import type { PublicEvent, SuspendEvent } from '@concerto/protocol';
import { expect, test } from 'vitest';
import { pastRequests, replayed } from './past-requests.ts';
import { RuleSet } from './rule-set.ts';

const whose = { id: 's1', agent: 'claude' };
const approval = (requestId: string, command: string): SuspendEvent => ({
  type: 'queryConsent',
  requestId,
  consentType: 'approval',
  scope: { tool: 'Bash', kind: 'execute', command },
  graphUrl: '',
});
const settled = (requestId: string, by: string, response: Json): PublicEvent => ({
  type: 'requestSettled',
  requestId,
  outcome: 'answered',
  by,
  response,
});

const rules = new RuleSet([
  { id: 'all.1', rule: { command: 'git push*', decide: 'deny', reason: 'not from here' } },
  { id: 'all.2', rule: { command: 'ls*', decide: 'allow' } },
]);

function outcomes(...events: readonly PublicEvent[]) {
  return pastRequests(whose, events).map((past) => replayed(rules, past));
}

test.each([
  [
    'another answer',
    'git push',
    'user:ann',
    true,
    'differs',
    { decision: 'deny', by: 'rule:all.1', reason: 'not from here' },
  ],
  ['the same answer without a person', 'ls', 'user:ann', true, 'same', { decision: 'allow', by: 'rule:all.2' }],
  ['a person is asked, as then', 'make', 'user:ann', true, 'same', { decision: 'ask', by: 'person' }],
  ['a person is asked where a rule decided', 'make', 'rule:all.9', true, 'differs', { decision: 'ask', by: 'person' }],
  ['a no stays a no', 'git push', 'user:ann', { approved: false, reason: 'no' }, 'same', { decision: 'deny' }],
] as const)('%s', (...row) => {
  const [, command, by, response, outcome, now] = row;
  expect(outcomes(approval('r1', command), settled('r1', by, response))).toMatchObject([{ outcome, now }]);
});

test('an answer that names one of the options that were offered decides as that option does', () => {
  const offered: SuspendEvent = {
    ...approval('r1', 'ls'),
    options: [
      { id: 'proceed_always', label: 'Always', kind: 'allow_always' },
      { id: 'cancel', label: 'No', kind: 'reject_once' },
    ],
  };
  const now = { decision: 'allow', by: 'rule:all.2' };
  expect(outcomes(offered, settled('r1', 'user:ann', 'proceed_always'))).toMatchObject([{ outcome: 'same', now }]);
  expect(outcomes(offered, settled('r1', 'user:ann', { optionId: 'cancel' }))).toMatchObject([
    { outcome: 'differs', now },
  ]);
});

test('what nobody decided is compared with nothing; a withdrawal is no decision', () => {
  const withdrawn: PublicEvent = { type: 'requestSettled', requestId: 'r2', outcome: 'withdrawn' };
  expect(outcomes(approval('r1', 'ls'), approval('r2', 'ls'), withdrawn).map(({ outcome }) => outcome)).toEqual([
    'open',
    'open',
  ]);
});

test('a budget is decided by rules for budgets alone', () => {
  const event: SuspendEvent = {
    type: 'queryConsent',
    requestId: 'budget-1',
    consentType: 'budget',
    scope: {},
    graphUrl: '',
  };
  const [past] = pastRequests(whose, [event, settled('budget-1', 'user:ann', 'more')]);
  const set = new RuleSet([
    { id: 'all.1', rule: { decide: 'deny' } },
    { id: 'all.2', rule: { kind: 'budget', decide: 'deny' } },
  ]);
  expect(past === undefined ? undefined : replayed(set, past)).toMatchObject({
    outcome: 'differs',
    now: { decision: 'stop', by: 'rule:all.2' },
  });
});

test('a question is told by its words', () => {
  const prompt = { parts: [{ text: 'Which of the two?' }] };
  const choices = [{ id: 'a', content: { parts: [{ text: 'A' }] } }];
  const event: SuspendEvent = { type: 'waitForChoice', requestId: 'q', prompt, choices, selectionMode: 'single' };
  expect(outcomes(event)).toMatchObject([{ what: 'Which of the two?', now: { decision: 'ask', by: 'person' } }]);
});
