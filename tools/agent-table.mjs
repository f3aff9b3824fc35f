// What the real agent programs can do, as their tests have shown it: the table in docs/guide/agents.md.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './root.mjs';

const guide = join(root, 'docs', 'guide', 'agents.md');
const begin = '<!-- written by `npm run test:agents` -->';
const end = '<!-- until here -->';

/** By what the tests of each are called, and the program whose version stands above its column. */
const agents = [
  ['Claude Code', /^(the real claude program, driven|.* of the real Claude Code)\b/, 'CONCERTO_TEST_CLAUDE'],
  ['Codex', /^(the real codex program, driven|.* of the real Codex)\b/, 'CONCERTO_TEST_CODEX'],
  ['Gemini CLI', /^(the real|.* of the real) Gemini CLI\b/, 'CONCERTO_TEST_GEMINI'],
  ['Claude over ACP', /^(the real|.* of the real) Claude over ACP\b/, 'CONCERTO_TEST_CLAUDE_ACP'],
  ['OpenCode', /^(the real|.* of the real) OpenCode\b/, 'CONCERTO_TEST_OPENCODE'],
];

const cells = [
  ['a tool that is approved runs', /is approved|is allowed|allowed tool runs|approved runs/],
  ['one that is refused does not', /is denied|refused tool|refusal ends/],
  ['questions', /question with options|question that it does not wait/],
  ['steering in the middle of a turn', /steers/],
  ['interrupt, and the next prompt', /interrupt (keeps|in the middle of an answer)/],
  ['interrupt with a permission open', /interrupt (in the middle of (a permission|an approval)|while a permission)/],
  ['interrupt ends the command', /in the middle of a command|command ends with it/],
  ['work in the background', /^work in the background/],
  ['a new process goes on with the conversation', /goes on with the (conversation|thread)/],
  ["a session's servers and rules", /servers and rules|session’s server|session forbids/],
  ['switched while it runs', /switched while it runs/],
  ['heard by a program in the same words', /a listen hears/],
  ['goes on after the server was killed', /server was killed/],
  ['cancel ends everything', /cancel ends/],
];

/** `results` is what the test runner writes as JSON; gives what has changed since the table was last written. */
export function writeAgentTable(results, versions) {
  const tests = results.testResults.flatMap(({ assertionResults }) => assertionResults);
  const rows = cells.map(([cell, pattern]) => [
    cell,
    ...agents.map(([, own]) => mark(tests.filter(({ fullName }) => own.test(fullName) && pattern.test(fullName)))),
  ]);
  const heads = agents.map(([name, , variable]) => `${name} ${versions[variable] ?? ''}`.trim());
  const table = [['', ...heads], ['---', ...heads.map(() => '---')], ...rows]
    .map((row) => `| ${row.join(' | ')} |`.replace('|  |', '| |'))
    .join('\n');
  const text = readFileSync(guide, 'utf8');
  const [before, after] = [text.indexOf(begin), text.indexOf(end)];
  if (before < 0 || after < 0) throw new Error(`${guide} has no place for the table`);
  const old = text.slice(before + begin.length, after).trim();
  writeFileSync(guide, `${text.slice(0, before)}${begin}\n\n${table}\n\n${text.slice(after)}`);
  return changes(old.split('\n'), table.split('\n'));
}

function mark(tests) {
  const ran = tests.filter(({ status }) => status === 'passed' || status === 'failed');
  if (ran.length === 0) return '–';
  return ran.every(({ status }) => status === 'passed') ? '✔' : '✘';
}

function changes(old, now) {
  return now.filter((line, index) => line !== old[index] && index !== 1);
}
