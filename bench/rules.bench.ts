import type { Rule } from '@concerto/protocol';
import { type NamedRule, type RuleRequest, RuleSet, requestOf } from '@concerto/rules';
import { compare, type Row } from './row.ts';

export const name = 'rules: a thousand against a request';

const decisions = 20_000;
/** Decisions a second that a busy server must be able to make. */
const wantedPerSecond = 50_000;

export async function run(): Promise<readonly Row[]> {
  return [await thousandRules()];
}

/** Commands, paths and names in turn; none of them is about what is asked. */
const rules: readonly Rule[] = Array.from({ length: 1_000 }, (_, n): Rule => {
  if (n % 3 === 0) return { tool: 'Bash', command: `tool-${n} *`, decide: 'deny' };
  if (n % 3 === 1) return { tool: ['Edit', 'Write'], path: `packages/room-${n}/**`, decide: 'allow' };
  return { tool: `Tool${n}`, server: `server-${n}`, decide: 'ask' };
});

async function thousandRules(): Promise<Row> {
  const set = new RuleSet(rules.map((rule, index): NamedRule => ({ id: `all.${index + 1}`, rule })));
  const asked: readonly RuleRequest[] = [
    { tool: 'Bash', kind: 'execute', command: 'npm test -- --run' },
    { tool: 'Edit', kind: 'edit', paths: ['src/deep/in/the/tree.ts'] },
    { tool: 'Read', kind: 'read', paths: ['README.md'] },
  ].map((scope) =>
    requestOf(
      { type: 'queryConsent', requestId: 'q', consentType: 'approval', scope, graphUrl: '' },
      { agent: 'coder', folder: '/project' },
    ),
  );
  const perSecond = (): number => {
    const from = process.hrtime.bigint();
    let passed = 0;
    for (let n = 0; n < decisions; n++) {
      const request = asked[n % asked.length];
      if (request !== undefined && set.decide(request).decide === 'pass') passed += 1;
    }
    if (passed !== decisions) throw new Error('a rule decided what none is about');
    return (decisions * 1e9) / Number(process.hrtime.bigint() - from);
  };
  return await compare(
    { name: '1,000 rules against a request', unit: 'decisions/s', target: '>= 1' },
    { ours: perSecond, reference: () => wantedPerSecond },
  );
}
