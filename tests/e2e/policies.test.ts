import { readFileSync } from 'node:fs';
import { readManifest } from '@concerto/language';
import { Rule } from '@concerto/protocol';
import { RuleSet, ruleWarning, triedRequest } from '@concerto/rules';
import { expect, test } from 'vitest';

const guide = readFileSync(new URL('../../docs/guide/who-answers.md', import.meta.url), 'utf8');
const section = guide.slice(guide.indexOf('## Five policies to copy'));
const policies = [...section.matchAll(/^\*\*(.+?)\*\*[\s\S]*?^```toml\n([\s\S]*?)^```/gm)].map(
  ([, title = '', text = '']) => ({ title, text }),
);

/** What each must decide about what it is for, and about what it is not. */
const cases: Readonly<Record<string, readonly (readonly [request: object, decision: string])[]>> = {
  'Look, but ask.': [
    [{ tool: 'Read', kind: 'read', paths: ['src/a.ts'] }, 'allow'],
    [{ tool: 'Bash', command: 'ls && rm -rf b' }, 'pass'],
    [{ tool: 'Read', kind: 'read', paths: ['/etc/shadow'] }, 'pass'],
  ],
  'Nothing leaves this machine.': [
    [{ tool: 'Bash', command: 'git push origin main' }, 'deny'],
    [{ tool: 'Bash', command: 'ls && curl http://x' }, 'deny'],
    [{ tool: 'Bash', command: 'sh -c "scp a b:"' }, 'deny'],
    [{ tool: 'WebFetch', kind: 'fetch' }, 'ask'],
    [{ tool: 'Bash', command: 'npm test' }, 'pass'],
  ],
  'Docs are free, code is looked at.': [
    [{ tool: 'Edit', paths: ['docs/a.md'] }, 'allow'],
    [{ tool: 'Edit', paths: ['docs/../src/a.ts'] }, 'model:Architect'],
    [{ tool: 'Edit', paths: ['docs/a.md', '/etc/passwd'] }, 'pass'],
    [{ tool: 'Edit', server: 'other', paths: ['docs/a.md'] }, 'pass'],
  ],
  'At night nobody answers.': [
    [{ tool: 'Grep' }, 'allow'],
    [{ tool: 'Edit', paths: ['a'] }, 'pass'],
  ],
  "Secrets are nobody's.": [
    [{ tool: 'Read', paths: ['deep/.env'] }, 'deny'],
    [{ tool: 'Read', paths: ['/home/ann/.ssh/id_rsa'] }, 'deny'],
    [{ tool: 'Read', paths: ['src/env.ts'] }, 'pass'],
  ],
};

test('there are five', () => expect(policies.map(({ title }) => title)).toHaveLength(5));

test.each(policies)('$title', ({ title, text }) => {
  const { manifest, diagnostics } = readManifest(`[connections.main]\nprovider = "mock"\n${text}`);
  expect(diagnostics.map(({ message }) => message)).toEqual([]);
  const rules = [...(manifest?.agents.claude?.rules ?? []), ...(manifest?.rules ?? [])].map((rule) => Rule.parse(rule));
  expect(rules.map((rule) => ruleWarning(rule, ['claude']))).toEqual(rules.map(() => undefined));
  const set = new RuleSet(rules.map((rule, index) => ({ id: String(index + 1), rule })));
  const asked = cases[title] ?? [];
  expect(asked.length).toBeGreaterThan(0);
  const decided = asked.map(([request]) =>
    set.explain(triedRequest({ folder: '/project', ...request }, { agent: 'claude' })),
  );
  expect(decided.map(({ decide }) => decide)).toEqual(asked.map(([, decision]) => decision));
});
