import { type Rule, rememberedText, type SuspendEvent, type TriedRequest } from '@concerto/protocol';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { rememberedRule } from './remember.ts';
import { requestOf, triedRequest } from './rule-request.ts';
import { RuleSet } from './rule-set.ts';
import { ruleWarning } from './rule-warning.ts';

const folder = '/home/ann/project';

function decide(rules: readonly Rule[], request: TriedRequest, agent = 'claude') {
  const set = new RuleSet(rules.map((rule, index) => ({ id: `agents.claude.${index + 1}`, rule })));
  const explained = set.explain(triedRequest({ folder, ...request }, { agent }));
  expect(set.decide(triedRequest({ folder, ...request }, { agent })).decide).toBe(explained.decide);
  return explained;
}

const verdict = (rule: Rule, request: TriedRequest): string => decide([rule], request).decide;

describe('which rule decides', () => {
  test('the first that matches, by its name, with its reason and what else would have matched', () => {
    const rules: Rule[] = [
      { tool: 'Read', decide: 'allow' },
      { tool: 'Bash', command: ['rm *', 'git push*'], decide: 'deny', reason: 'not from here' },
      { tool: ['Bash', 'Edit'], decide: 'ask' },
      { decide: 'deny' },
    ];
    expect(decide(rules, { tool: 'Bash', command: 'git push origin' })).toMatchObject({
      decide: 'deny',
      rule: 'rule:agents.claude.2',
      reason: 'not from here',
      others: [
        { rule: 'rule:agents.claude.3', decide: 'ask' },
        { rule: 'rule:agents.claude.4', decide: 'deny' },
      ],
    });
    expect(decide([], { tool: 'Read' })).toMatchObject({ decide: 'pass', others: [] });
  });

  test('every key must fit; of a list one', () => {
    const rule: Rule = { tool: 'Edit', path: ['src/**', 'docs/*.md'], decide: 'allow' };
    expect(verdict(rule, { tool: 'Edit', paths: ['src/a/b.ts'] })).toBe('allow');
    expect(verdict(rule, { tool: 'Edit', paths: ['docs/a.md', `${folder}/src/x.ts`] })).toBe('allow');
    expect(verdict(rule, { tool: 'Edit', paths: ['docs/deep/a.md'] })).toBe('pass');
    expect(verdict(rule, { tool: 'Write', paths: ['src/a.ts'] })).toBe('pass');
    expect(verdict(rule, { tool: 'Edit', paths: [] })).toBe('pass');
    expect(verdict({ agent: 'codex', decide: 'allow' }, { tool: 'Read' })).toBe('pass');
    expect(verdict({ template: 'review', decide: 'allow' }, { tool: 'Read', template: 'review' })).toBe('allow');
    expect(verdict({ kind: 'edit', decide: 'ask' }, { kind: 'edit' })).toBe('ask');
  });

  test('allow and deny never match a question; an answer does, by its text', () => {
    const question = { type: 'question', question: 'Which database?' };
    expect(verdict({ decide: 'allow' }, question)).toBe('pass');
    expect(verdict({ decide: 'deny' }, question)).toBe('pass');
    expect(verdict({ text: '*database*', decide: 'answer:Postgres' }, question)).toBe('answer:Postgres');
    expect(verdict({ text: 'Which*', tool: 'Bash', decide: 'ask' }, question)).toBe('pass');
  });

  test('a request that was written down with a `text` alone is a question; with what an approval has, its description', () => {
    const rule: Rule = { text: '*database*', decide: 'answer:Postgres' };
    expect(verdict(rule, { text: 'Which database?' })).toBe('answer:Postgres');
    expect(verdict({ text: '*database*', decide: 'deny' }, { type: 'approval', text: 'the database' })).toBe('deny');
    expect(verdict({ text: '*database*', decide: 'deny' }, { tool: 'Bash', text: 'drop the database' })).toBe('deny');
    expect(verdict({ text: '*database*', decide: 'deny' }, { text: 'Which database?' })).toBe('pass');
  });

  test('a budget is matched by its kind alone', () => {
    expect(verdict({ decide: 'allow' }, { kind: 'budget' })).toBe('pass');
    expect(verdict({ risk: 'low', decide: 'allow' }, { kind: 'budget' })).toBe('pass');
    expect(verdict({ kind: 'budget', decide: 'answer:more' }, { kind: 'budget' })).toBe('answer:more');
    expect(verdict({ kind: ['budget', 'edit'], decide: 'deny' }, { kind: 'edit' })).toBe('deny');
  });

  test('what an event says is what a request says', () => {
    const asked = requestOf(
      {
        type: 'queryConsent',
        requestId: 'r',
        consentType: 'approval',
        scope: { description: 'Edit a.ts', tool: 'Edit', risk_level: 'low' },
        graphUrl: '',
        changes: [{ path: 'src/a.ts', kind: 'edit', patch: '', added: 1, removed: 0 }],
      },
      { agent: 'claude', folder },
    );
    expect(new RuleSet([{ id: 'all.1', rule: { path: 'src/**', decide: 'allow' } }]).decide(asked).decide).toBe(
      'allow',
    );
  });
});

/** Each would be let through by a careless matcher. */
describe('what must not be allowed', () => {
  const twoFiles = '--- a/docs/a\n+++ b/docs/a\n@@ -1 +1 @@\n-1\n+2\n--- a/src/b\n+++ b/src/b\n@@ -1 +1 @@\n-1\n+2\n';
  test.each([
    ['a move to where nothing may be changed', { kind: 'move', movedTo: 'src/a', patch: '' }],
    ['a patch of several files that is said to be of one', { kind: 'edit', patch: twoFiles }],
  ] as const)('%s', (_, change) => {
    const event: Extract<SuspendEvent, { type: 'queryConsent' }> = {
      type: 'queryConsent',
      requestId: 'r',
      consentType: 'approval',
      scope: { description: 'Change a', tool: 'Edit' },
      graphUrl: '',
      changes: [{ path: 'docs/a', added: 1, removed: 1, ...change }],
    };
    const asked = requestOf(event, { agent: 'claude', folder });
    const decided = (rule: Rule) => new RuleSet([{ id: 'all.1', rule }]).decide(asked).decide;
    expect(decided({ path: 'docs/**', decide: 'allow' })).toBe('pass');
    expect(decided({ path: ['docs/**', 'src/**'], decide: 'allow' })).toBe('allow');
    expect(decided({ path: 'src/**', decide: 'deny' })).toBe('deny');
    expect(rememberedText(event)).toContain(rememberedRule(asked, 'allow')?.path?.toString().replaceAll(',', ' | '));
  });

  const hostileCommands = [
    'npm test && rm -rf b',
    'npm test; rm -rf b',
    'npm test | sh',
    'npm test & rm b',
    'npm test || rm b',
    'npm test\nrm -rf b',
    'npm test $(rm -rf b)',
    'npm test `rm -rf b`',
    'npm test "$(rm -rf b)"',
    'npm test <(rm b)',
    'npm test > src/a.ts',
    'npm test >> ~/.bashrc',
    'npm test &> out',
    'npm test 2> out',
    "npm test '",
    'npm test "',
    'npm test \\',
    'npm test <<EOF\nrm\nEOF',
    'npm test ${x:-$(rm b)}',
    'npm test ${x@P}',
    'X=1 npm test',
    'LD_PRELOAD=./x.so npm test',
    'eval npm test',
    'sh -c "npm test"',
    'if npm test; then rm b; fi',
    '(npm test)',
    '{ npm test; }',
    '! npm test',
    '$CMD npm test',
    'npm test # fine',
    'npm test\u0000; rm b',
    'npm test\r\nrm b',
    'npm\u200b test',
    'nрm test', // a Cyrillic р
    'npmtest',
    'npm testing',
    "npm $'test'",
    'npm-evil test',
    './npm test',
  ];

  test.each(hostileCommands)('a command: %j', (command) => {
    expect(verdict({ tool: 'Bash', command: 'npm test *', decide: 'allow' }, { tool: 'Bash', command })).toBe('pass');
  });

  test.each([
    ['npm test', 'npm test'],
    ['npm test *', 'npm test'],
    ['npm test *', 'npm test -- a.test.ts'],
    ['npm test *', `npm "test" 'it''s'`],
    ['npm test *', 'npm test 2>&1'],
    ['npm test *', 'npm test 2>/dev/null'],
    [['npm test *', 'git status'], 'npm test && git status'],
    [['cat *', 'wc *'], 'cat a | wc -l'],
  ])('%j does allow %j', (pattern, command) => {
    expect(verdict({ tool: 'Bash', command: pattern, decide: 'allow' }, { tool: 'Bash', command })).toBe('allow');
  });

  test('a list of words goes to no shell, unless it names one', () => {
    const rule: Rule = { command: 'npm test *', decide: 'allow' };
    expect(verdict(rule, { command: ['npm', 'test', '; rm b'] })).toBe('allow');
    expect(verdict(rule, { command: ['bash', '-lc', 'npm test'] })).toBe('pass');
    expect(verdict({ command: 'rm *', decide: 'deny' }, { command: ['bash', '-lc', 'ls; rm -rf b'] })).toBe('deny');
  });

  test('what a search runs on each file must be allowed beside the search', () => {
    const search: Rule = { command: 'find *', decide: 'allow' };
    expect(verdict(search, { command: 'find . -name x' })).toBe('allow');
    for (const command of ['find . -exec rm {} +', 'find . -name x -execdir sh {} \\;', 'find . -ok cat {} \\;'])
      expect(verdict(search, { command })).toBe('pass');
    expect(verdict(search, { command: ['find', '.', '-exec', 'rm', '{}', ';'] })).toBe('pass');
    const both: Rule = { command: ['find *', 'wc *', 'sh *'], decide: 'allow' };
    expect(verdict(both, { command: 'find . -exec wc -l {} +' })).toBe('allow');
    expect(verdict(both, { command: 'find . -exec sh {} +' })).toBe('pass');
  });

  test('what cannot be parsed is allowed by no rule that has any freedom, and by the very text', () => {
    const command = 'for f in *; do rm "$f"; done';
    expect(verdict({ tool: 'Bash', decide: 'allow' }, { tool: 'Bash', command })).toBe('pass');
    expect(verdict({ risk: ['low', 'medium', 'high'], decide: 'allow' }, { command })).toBe('pass');
    expect(verdict({ command: '*', decide: 'allow' }, { command })).toBe('pass');
    expect(verdict({ command: command.replace('*', '\\*'), decide: 'allow' }, { command })).toBe('allow');
    expect(decide([], { command }).unparsed).toContain('for');
  });

  test.each([
    ['../secret.txt'],
    ['src/../../secret.txt'],
    ['src/../.env'],
    ['/etc/passwd'],
    [`${folder}/../other/src/a.ts`],
    [`${folder}-evil/src/a.ts`],
    ['~/src/a.ts'],
    ['$HOME/src/a.ts'],
    ['src\u0000/a.ts'],
    ['ѕrc/a.ts'], // a Cyrillic ѕ
    ['srcs/a.ts'],
    ['SRC/a.ts'],
    [''],
  ])('a path: %j', (path) => {
    expect(verdict({ tool: 'Edit', path: 'src/**', decide: 'allow' }, { tool: 'Edit', paths: [path] })).toBe('pass');
  });

  test('a link that leaves the folder, one of several paths, or one that nobody followed', () => {
    const rule: Rule = { tool: 'Edit', path: 'src/**', decide: 'allow' };
    const paths = ['src/link/a.ts'];
    expect(verdict(rule, { tool: 'Edit', paths, resolved: ['/etc/a.ts'] })).toBe('pass');
    expect(verdict(rule, { tool: 'Edit', paths, resolved: [`${folder}/src/real/a.ts`] })).toBe('allow');
    expect(verdict(rule, { tool: 'Edit', paths: ['src/a.ts', 'docs/b.md'] })).toBe('pass');
    expect(verdict(rule, { tool: 'Edit', paths: ['src/a.ts', 'src/b.ts'], resolved: [`${folder}/src/a.ts`] })).toBe(
      'pass',
    );
  });

  test.each([
    ['ReadSecrets'],
    ['Rea'],
    ['read'],
    ['Rеad'], // a Cyrillic е
    ['Read\u200b'],
    ['Ｒead'],
  ])('a tool that is called nearly Read: %j', (tool) => {
    expect(verdict({ tool: 'Read', decide: 'allow' }, { tool })).toBe('pass');
  });

  test('a server that calls its tool Read', () => {
    const rule: Rule = { tool: 'Read', decide: 'allow' };
    expect(verdict(rule, { tool: 'Read' })).toBe('allow');
    expect(verdict(rule, { tool: 'Read', server: 'evil' })).toBe('pass');
    expect(verdict(rule, { tool: 'mcp__evil__Read' })).toBe('pass');
    expect(verdict({ ...rule, server: 'files' }, { tool: 'mcp__files__Read' })).toBe('allow');
    expect(verdict({ ...rule, server: 'files' }, { tool: 'Read', server: 'files2' })).toBe('pass');
    expect(verdict({ tool: 'Read', decide: 'deny' }, { tool: 'mcp__evil__Read' })).toBe('deny');
  });

  test('an agent that says itself that it is harmless', () => {
    const rule: Rule = { risk: 'low', decide: 'allow' };
    expect(verdict(rule, { tool: 'Bash', command: 'rm -rf b', risk: 'low' })).toBe('pass');
    expect(verdict(rule, { tool: 'Bash', command: 'ls', risk: 'low' })).toBe('allow');
    expect(verdict(rule, { description: 'Paint it', risk_level: 'low' })).toBe('allow');
    expect(verdict(rule, { description: 'Paint it' })).toBe('pass');
  });
});

describe('what must be denied', () => {
  test.each([
    'rm',
    'rm -rf b',
    'a && rm -rf b',
    'echo $(rm -rf b)',
    'echo "`rm b`"',
    'sudo rm b',
    'env A=1 rm b',
    'A=1 rm b',
    'sh -c "rm b"',
    "bash -lc 'cd x; rm b'",
    '/bin/rm b',
    'x | xargs rm -f',
    'if true; then rm b; fi',
    "r''m b",
    '"rm" b',
    '\\rm b',
    'RM b',
    'ｒm b',
    '(rm b)',
    'ls\nrm b',
    'ls \\\n; rm b',
    'cat <(rm b)',
    'echo "unclosed; rm b',
    'find . -name x -exec rm {} +',
    "find . -ok sh -c 'rm {}' \\;",
    'fd x --exec-batch rm',
    'stdbuf -o0 rm b',
    'flock /tmp/lock rm b',
    'script -c "rm b"',
    "trap 'rm b' EXIT",
    'chroot / rm b',
  ])('%j by "rm *"', (command) => {
    expect(verdict({ tool: 'Bash', command: 'rm *', decide: 'deny' }, { tool: 'Bash', command })).toBe('deny');
  });

  test.each(['echo rm', 'ls rm', 'npm run rm-all', 'git commit -m "rm it"'])('but not %j', (command) => {
    expect(verdict({ command: 'rm *', decide: 'deny' }, { command })).toBe('pass');
  });

  test.each([[['.env']], [['src/../.env']], [['src/a.ts', './.env']], [[`${folder}/.env`]], [['.ENV']]])(
    '%j by ".env"',
    (paths) => {
      expect(verdict({ path: '.env', decide: 'deny' }, { tool: 'Read', paths })).toBe('deny');
    },
  );

  test.each([
    'secrets/a$b',
    'secrets/a\nb',
    'secrets/~',
    'secrets',
    `${folder}/secrets/x`,
    '../../../../../../etc/passwd',
    `${folder}/../../../../../../etc/passwd`,
  ])('the path %j, by a rule before one that allows the tool', (path) => {
    const rules: Rule[] = [
      { path: ['secrets/**', '/etc/**'], decide: 'deny' },
      { tool: 'Write', decide: 'allow' },
    ];
    expect(decide(rules, { tool: 'Write', paths: [path] }).decide).toBe('deny');
  });

  test('a path that climbs out of a folder nobody knows', () => {
    const rules: Rule[] = [
      { path: '/etc/**', decide: 'deny' },
      { tool: 'Write', decide: 'allow' },
    ];
    expect(decide(rules, { tool: 'Write', paths: ['../../etc/passwd'], folder: undefined }).decide).toBe('deny');
  });

  test('through a link, and in folders below', () => {
    const rule: Rule = { path: ['/etc/**', '**/.env'], decide: 'deny' };
    expect(verdict(rule, { paths: ['src/link'], resolved: ['/etc/passwd'] })).toBe('deny');
    expect(verdict(rule, { paths: ['a/b/.env'] })).toBe('deny');
    expect(verdict(rule, { paths: ['a/b/.envrc'] })).toBe('pass');
  });

  test('a tool whose name only looks like it', () => {
    expect(verdict({ tool: 'Bash', decide: 'deny' }, { tool: 'Ваsh' })).toBe('deny'); // Cyrillic В and а
    expect(verdict({ tool: 'Bash', decide: 'deny' }, { tool: 'Ba\u200bsh' })).toBe('deny');
    expect(verdict({ tool: 'Bash', decide: 'deny' }, { tool: 'BashOutput' })).toBe('pass');
  });
});

test.each([
  ['deep', `${'$('.repeat(9_000)}rm b`],
  ['long', `sudo ${'x '.repeat(200_000)}`],
  ['nested quotes', `sh -c ${JSON.stringify(`sh -c ${JSON.stringify('sh -c "rm b"')}`)}`],
  ['stars', `${'a'.repeat(10_000)} b`],
])('what is %s costs little and is not allowed', (_, command) => {
  expect(verdict({ command: '*a*a*a*a*a*a*a*a*b', decide: 'allow' }, { command: `${command};` })).toMatch(/pass|allow/);
  expect(verdict({ command: 'npm *', decide: 'allow' }, { command })).toBe('pass');
});

describe('properties', () => {
  const command = fc
    .array(
      fc.constantFrom(
        'npm',
        'test',
        ' ',
        '&&',
        ';',
        '|',
        '$(',
        ')',
        '`',
        '"',
        "'",
        '\n',
        'rm',
        '>',
        '<',
        '\\',
        'x',
        '#',
        '{',
        '}',
      ),
    )
    .map((words) => words.join(''));

  test('what is allowed has nothing in it that another shell could run: taken apart at every separator, each part is allowed alone', () => {
    fc.assert(
      fc.property(command, (text) => {
        fc.pre(text !== '');
        const rule: Rule = { command: 'npm test *', decide: 'allow' };
        if (verdict(rule, { command: text }) !== 'allow') return;
        expect(text).not.toMatch(/[$`(){}#]/);
        expect(text.replaceAll(/'[^']*'|"[^"]*"|\\[\s\S]/g, '')).not.toMatch(/\brm\b(?![\w ])/);
      }),
      { numRuns: 3_000 },
    );
  });

  test('a rule never throws, whatever is asked', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.array(fc.string()), (tool, text, paths) => {
        for (const decision of ['allow', 'deny']) {
          const rule = { tool: '*', command: 'a*b*', path: '**/x*', decide: decision };
          expect(['pass', decision]).toContain(decide([rule], { tool, command: text, paths }).decide);
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe('remembering', () => {
  test('the very same is answered again, and nothing beside it', () => {
    const request = triedRequest({ folder, tool: 'Bash', command: 'rm -rf build/*' }, { agent: 'claude' });
    const rule = rememberedRule(request, 'allow');
    expect(rule).toEqual({ tool: 'Bash', command: 'rm -rf build/\\*', decide: 'allow' });
    expect(verdict(rule as Rule, { tool: 'Bash', command: 'rm -rf build/*' })).toBe('allow');
    expect(verdict(rule as Rule, { tool: 'Bash', command: 'rm -rf build/* src' })).toBe('pass');
    expect(verdict(rule as Rule, { tool: 'Bash', command: 'rm -rf build/x' })).toBe('pass');
  });

  test('paths, servers; and nothing that would be a blank cheque', () => {
    const edit = triedRequest({ folder, tool: 'Edit', paths: ['src/a.ts'] }, { agent: 'claude' });
    expect(rememberedRule(edit, 'deny', 'no')).toEqual({
      tool: 'Edit',
      path: ['src/a.ts'],
      decide: 'deny',
      reason: 'no',
    });
    const mcp = triedRequest({ tool: 'mcp__files__list' }, { agent: 'claude' });
    expect(rememberedRule(mcp, 'allow')).toEqual({ tool: 'list', server: 'files', decide: 'allow' });
    expect(rememberedRule(triedRequest({ tool: 'Bash' }, { agent: 'a' }), 'allow')).toBeUndefined();
    expect(rememberedRule(triedRequest({ description: 'x' }, { agent: 'a' }), 'allow')).toBeUndefined();
  });
});

test.each<[Rule, string | undefined]>([
  [{ kind: 'bogus', decide: 'allow' }, 'no request is of the kind bogus'],
  [{ path: '../x', decide: 'allow' }, '`..`'],
  [{ command: 'a * && b', decide: 'allow' }, 'several commands'],
  [{ kind: 'budget', tool: 'Bash', decide: 'deny' }, 'a budget has no tool'],
  [{ text: '*x*', tool: 'Bash', decide: 'answer:y' }, 'a question has no tool'],
  [{ tool: 'Bash', command: ['rm *'], decide: 'deny' }, undefined],
  [{ decide: 'ask' }, undefined],
  [{ agent: 'Codr', decide: 'ask' }, 'is called Codr; did you mean "coder"?'],
  [{ agent: ['nobody', 'co*'], decide: 'allow' }, undefined],
])('%j warns: %s', (rule, warning) => {
  expect(ruleWarning(rule, ['claude', 'coder']) ?? 'none').toContain(warning ?? 'none');
});

test('whatever the rules and the request, what is found by its first word is what is found by looking through all', () => {
  const word = fc.constantFrom('rm', 'rmdir', 'git', 'src', 'docs', 'sudo', 'RM', 'а', '*', '..', '$(rm)', 'a\\*');
  const words = fc.array(word, { minLength: 1, maxLength: 3 });
  const command = words.map((parts) => parts.join(' '));
  const line = fc
    .tuple(command, fc.constantFrom('', ' && ', '; ', ' | ', ' > '), command)
    .map((parts) => parts.join(''));
  const path = words.map((parts) => parts.join('/'));
  const pattern = fc
    .tuple(fc.constantFrom('', '/', './', '**/'), path, fc.constantFrom('', '/**', '*'))
    .map((parts) => parts.join(''));
  const decisions = fc.constantFrom('allow', 'deny', 'ask');
  const rule = fc.oneof(
    fc.record({ command: fc.array(command, { minLength: 1, maxLength: 3 }), decide: decisions }),
    fc.record({ path: fc.array(pattern, { minLength: 1, maxLength: 2 }), decide: decisions }),
    fc.record({ command, path: pattern, decide: decisions }),
    fc.record({ tool: fc.constantFrom('Bash', 'Edit'), decide: decisions }),
  );
  const request = fc.oneof(
    fc.record({ tool: fc.constant('Bash'), command: line }),
    fc.record({ tool: fc.constant('Edit'), paths: fc.array(pattern, { minLength: 1, maxLength: 2 }) }),
    fc.record({ tool: fc.constant('Bash'), command: line, paths: fc.array(pattern, { maxLength: 2 }) }),
  );
  fc.assert(
    fc.property(fc.array(rule, { maxLength: 8 }), request, (rules, asked) => {
      const set = new RuleSet(rules.map((one, index) => ({ id: `all.${index + 1}`, rule: one })));
      const tried = triedRequest({ folder, ...asked }, { agent: 'claude' });
      const { decide: decided, rule: named } = set.decide(tried);
      const explained = set.explain(tried);
      expect([decided, named]).toEqual([explained.decide, explained.rule]);
    }),
    { numRuns: 2_000 },
  );
});
