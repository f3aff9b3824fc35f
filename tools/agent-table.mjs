// What the real agent programs can do, as their tests have shown it: the table in docs/guide/agents.md.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './root.mjs';

const guide = join(root, 'docs', 'guide', 'agents.md');
/** What the last whole run has shown; the table is made of it. */
const shown = join(root, 'tests', 'agents', 'shown.json');
const begin = '<!-- written by `npm run test:agents` -->';
const end = '<!-- until here -->';

/** By what the tests of each are called, and the program whose version stands above its column. */
const agents = [
  ['Claude Code', /^(the real claude program|.* of the real Claude Code)\b/, 'CONCERTO_TEST_CLAUDE'],
  ['Codex', /^(the real codex program|.* of the real Codex)\b/, 'CONCERTO_TEST_CODEX'],
  ['Gemini CLI', /^(the real|.* of the real) Gemini CLI\b/, 'CONCERTO_TEST_GEMINI'],
  ['Claude over ACP', /^(the real|.* of the real) Claude over ACP\b/, 'CONCERTO_TEST_CLAUDE_ACP'],
  ['OpenCode', /^(the real|.* of the real) OpenCode\b/, 'CONCERTO_TEST_OPENCODE'],
];

const cells = [
  ['a tool that is approved runs', /is approved|are approved|is allowed|allowed tool runs|approved runs/],
  ['one that is refused does not', /is denied|refused tool|refusal ends/],
  ['questions', /question with options|question that it does not wait/],
  ['pictures', /^a picture to the model/],
  ['steering in the middle of a turn', /steers/],
  ['interrupt, and the next prompt', /interrupt (keeps|in the middle of an answer)/],
  ['interrupt with a permission open', /interrupt (in the middle of (a permission|an approval)|while a permission)/],
  ['interrupt ends the command', /in the middle of a command/],
  ['work in the background', /^work in the background/],
  ['a model that writes code', /which writes code/],
  ['its own sandbox inside ours', /^the sandbox of/],
  ['a new process goes on with the conversation', /goes on with the (conversation|thread)/],
  ["a session's servers", /servers and rules|session’s server/],
  ["a session's rules", /servers and rules|session forbids|rules forbid/],
  ['switched while it runs', /switched while it runs/],
  ['heard by a program in the same words', /a listen hears/],
  ['goes on after the server was killed', /server (was|is) killed/],
  ['cancel ends everything', /cancel ends/],
];

/** `results` is what the test runner writes as JSON; gives what has changed since the table was last written. */
export function writeAgentTable(results, versions) {
  const before = existsSync(shown) ? rowsOf(JSON.parse(readFileSync(shown, 'utf8'))) : [];
  const found = { versions, cells: marksOf(results) };
  writeFileSync(shown, `${JSON.stringify(found, undefined, 2)}\n`);
  writeFileSync(guide, withTable(readFileSync(guide, 'utf8'), found));
  return rowsOf(found).filter((row) => !before.includes(row));
}

/** The guide as it should be by what was shown last; for the check that nobody wrote into the table by hand. */
export function agentTable() {
  const found = JSON.parse(readFileSync(shown, 'utf8'));
  const text = readFileSync(guide, 'utf8');
  return { text, expected: withTable(text, found), versions: found.versions };
}

function marksOf({ testResults }) {
  const tests = testResults
    .flatMap(({ assertionResults }) => assertionResults)
    // Names that a list has put in stand in quotes.
    .map(({ fullName, status }) => ({ name: fullName.replaceAll("'", ''), status }));
  return Object.fromEntries(
    cells.map(([cell, pattern]) => [
      cell,
      Object.fromEntries(
        agents.map(([agent, own]) => [agent, mark(tests.filter(({ name }) => own.test(name) && pattern.test(name)))]),
      ),
    ]),
  );
}

function mark(tests) {
  const ran = tests.filter(({ status }) => status === 'passed' || status === 'failed');
  if (ran.length === 0) return '–';
  return ran.every(({ status }) => status === 'passed') ? '✔' : '✘';
}

function rowsOf({ versions, cells: marks }) {
  const heads = agents.map(([name, , variable]) => `${name} ${versions[variable] ?? ''}`.trim());
  const rows = Object.entries(marks).map(([cell, by]) => [cell, ...agents.map(([name]) => by[name] ?? '–')]);
  const line = (row) => `| ${row.join(' | ')} |`.replace('|  |', '| |');
  return [line(['', ...heads]), line(['---', ...heads.map(() => '---')]), ...rows.map(line)];
}

function withTable(text, found) {
  const [before, after] = [text.indexOf(begin), text.indexOf(end)];
  if (before < 0 || after < 0) throw new Error(`${guide} has no place for the table`);
  return `${text.slice(0, before)}${begin}\n\n${rowsOf(found).join('\n')}\n\n${text.slice(after)}`;
}
