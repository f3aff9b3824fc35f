import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBrowser, pictures, type Visit, visit } from '../support/open-browser.ts';
import { accessFaults } from '../support/page-faults.ts';
import { type PuppetServer, startPuppetServer, steps } from '../support/puppets.ts';

let puppets: PuppetServer;
let browser: Browser;

beforeAll(async () => {
  [puppets, browser] = await Promise.all([startPuppetServer(), openBrowser()]);
});

afterAll(async () => {
  await browser?.close();
  await puppets?.close();
});

async function look(prompt: string, width?: number): Promise<Visit & { id: string }> {
  const { id } = await puppets.api.start({ agent: 'able', prompt, title: 'Work to look at' });
  const seen = await visit(browser, puppets.server.entrance, width === undefined ? {} : { width });
  await seen.page.goto(`${puppets.server.url}/sessions/${id}`);
  await seen.page.getByRole('log', { name: 'Timeline' }).waitFor();
  return { ...seen, id };
}

const done = { say: { type: 'result' } };
const text = (page: Page) => page.locator('.said .rich-text').first();

const article = `# Title

A paragraph with **bold**, *leaning*, ~~gone~~ and \`code\`; 1 &lt; 2.
Its second line.

| name | count |
|:-----|------:|
| a    |     1 |

- [x] written
- [ ] tested
  1. nested
  2. lists

> quoted
> > twice

<b onclick="alert(1)">no HTML</b><img src=x onerror="document.title='owned'">

[https://github.com/login](https://evil.test/login) and [docs](https://example.com/) and [run](javascript:alert(1))

bidi: \u202Etxt.exe

\`\`\`ts
const answer: number = 42;
\`\`\`
`;

test('17.2 CommonMark and GFM as elements, never HTML; links and hidden characters are marked; code can be copied', async () => {
  const { context, page, problems } = await look(steps({ say: { type: 'message', text: article } }, { hang: true }));
  await text(page).getByRole('heading', { name: 'Title' }).waitFor();
  expect(await text(page).getByRole('cell').allTextContents()).toEqual(['a', '1']);
  expect(await text(page).locator('li.task').count()).toBe(2);
  expect(await text(page).locator('li ol li').allTextContents()).toEqual(['nested', 'lists']);
  expect(await text(page).locator('blockquote blockquote').textContent()).toContain('twice');
  expect(await text(page).locator('del').textContent()).toBe('gone');
  expect(await text(page).textContent()).toContain('1 < 2.\nIts second line.');

  // HTML is the text that it is.
  expect(await text(page).locator('b, img').count()).toBe(0);
  expect(await text(page).textContent()).toContain('<b onclick=');
  expect(await page.title()).not.toBe('owned');
  const links = text(page).getByRole('link');
  expect(await links.count()).toBe(2);
  expect(await text(page).locator('.link-warning').allTextContents()).toEqual([' → evil.test']);
  expect(await links.first().getAttribute('rel')).toContain('noopener');
  expect(await text(page).locator('.hidden-character').textContent()).toBe('U+202E');

  await text(page).locator('.hljs-keyword', { hasText: 'const' }).waitFor();
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await text(page).getByRole('button', { name: 'Copy the code' }).click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('const answer: number = 42;');
  await page.screenshot({ path: `${pictures}/markdown-light.png` });
  expect(await accessFaults(page)).toEqual([]);
  expect(problems).toEqual([]);
  await context.close();
}, 60_000);

test('17.2 a text that streams in leaves what already stands alone', async () => {
  const gate = puppets.gate();
  const pieces = ['# Plan\n\nFirst **words** ', 'and `more`.\n\n', '- one\n', '- two\n\n', '```js\nlet a'];
  const { context, page } = await look(
    steps(
      ...pieces.map((piece) => ({ say: { type: 'partial', text: piece } })),
      { until: gate.path },
      { say: { type: 'partial', text: ' = 1;\n```\n\nThe end.' } },
      done,
    ),
  );
  await text(page).locator('pre', { hasText: 'let a' }).waitFor();
  await text(page).evaluate((element) => {
    for (const child of element.children) Reflect.set(child, 'wasHere', true);
  });
  await gate.open();
  await text(page).getByText('The end.').waitFor();
  const kept = await text(page).evaluate((element) => [...element.children].map((it) => Reflect.has(it, 'wasHere')));
  expect(kept).toEqual([true, true, true, true, false]);
  await context.close();
}, 60_000);

const esc = '\u001b';
const log = Array.from({ length: 300 }, (_, n) => `line ${n + 1}${n === 150 ? ' needle' : ''}`).join('\n');

test('17.2 tool output is terminal text: live, coloured, first and last lines, search, copy', async () => {
  const gate = puppets.gate();
  const call = { type: 'tool_call', id: 't1', name: 'Bash', kind: 'execute', args: { command: 'npm test' } };
  const { context, page } = await look(
    steps(
      { say: call },
      { say: { type: 'tool_output', id: 't1', text: `${esc}[31mred${esc}[0m 10 %\r${esc}[32mgreen${esc}[0m 99 %\n` } },
      { until: gate.path },
      { say: { type: 'tool_output', id: 't1', text: log } },
      { say: { type: 'tool_result', id: 't1', content: 'exit 1', outcome: 'failed' } },
      done,
    ),
  );
  const tool = page.locator('.tool');
  // It is seen while it runs, without a click: the line as it was written over, in its colour.
  await tool.getByText('running', { exact: true }).first().waitFor();
  const green = tool.locator('.terminal-line span', { hasText: 'green' });
  expect(await green.evaluate((it) => getComputedStyle(it).color)).not.toBe(
    await tool
      .locator('.terminal-line')
      .first()
      .evaluate((it) => getComputedStyle(it).color),
  );
  expect(await tool.getByText('red').count()).toBe(0);
  expect(await tool.getByRole('figure', { name: 'Command' }).textContent()).toContain('npm test');

  await gate.open();
  await tool.locator('.tool-outcome', { hasText: 'failed' }).waitFor();
  await tool.getByText('line 300').waitFor();
  await tool.getByText('line 2', { exact: true }).waitFor();
  expect(await tool.getByText('line 100', { exact: true }).count()).toBe(0);
  await tool.getByText('exit 1').waitFor();
  await page.screenshot({ path: `${pictures}/terminal-light.png` });
  expect(await accessFaults(page)).toEqual([]);
  await tool.getByRole('button', { name: 'Search the output' }).click();
  await page.keyboard.type('needle');
  await tool.getByText('1 line found').waitFor();
  expect(await tool.locator('mark').textContent()).toBe('needle');
  await page.keyboard.press('Escape');
  await tool.getByRole('button', { name: /show all/ }).click();
  await tool.getByText('line 100', { exact: true }).waitFor();
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await tool.getByRole('button', { name: 'Copy the output' }).click();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(copied.split('\n')).toHaveLength(301);
  expect(copied).not.toContain(esc);
  await context.close();
}, 60_000);

const edit =
  '--- a/src/login.ts\n+++ b/src/login.ts\n@@ -10,4 +10,5 @@\n import { sign } from "jwt";\n-const port = 80;\n+const port = 8080;\n+const host = "localhost";\n \n export {};\n';
const changes = [
  { path: 'src/login.ts', kind: 'edit', patch: edit },
  { path: 'src/keys.ts', kind: 'create', patch: '--- /dev/null\n+++ b/src/keys.ts\n@@ -0,0 +1,1 @@\n+export {};\n' },
  { path: 'old.ts', kind: 'delete', patch: '--- a/old.ts\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-old();\n' },
  { path: 'a.md', kind: 'move', moved_to: 'docs/a.md' },
  { path: 'logo.png', kind: 'edit', patch: 'Binary files a/logo.png and b/logo.png differ\n' },
];
const approval = {
  type: 'approval',
  id: 'a1',
  description: 'Edit src/login.ts',
  risk_level: 'medium',
  tool: 'Edit',
  kind: 'edit',
  changes,
};

test('17.1 an approval shows its edit as a diff, by keyboard unified or side by side, and a no carries its reason', async () => {
  const { context, page, problems } = await look(steps({ ask: approval }, { tell: 'answer' }));
  const card = page.getByRole('region', { name: 'Approval, waits for your answer' });
  await card.getByText('5 files').waitFor();
  const file = (path: string) => card.locator('.diff-file', { hasText: path });
  expect(await file('src/login.ts').locator('tr[data-kind=added] .diff-word').allTextContents()).toEqual(['8080']);
  expect(await file('src/login.ts').locator('tr[data-kind=removed] .diff-word').allTextContents()).toEqual(['80']);
  expect(await file('src/login.ts').locator('.diff-counts').first().textContent()).toBe('+2−1');
  expect(await file('src/keys.ts').locator('.diff-kind').textContent()).toBe('new');
  expect(await file('old.ts').locator('.diff-kind').textContent()).toBe('deleted');
  expect(await file('a.md').locator('.diff-path').textContent()).toBe('a.md → docs/a.md');
  await file('logo.png').getByText('A binary file').waitFor();
  await page.screenshot({ path: `${pictures}/diff-unified-light.png` });

  await page.keyboard.press('a');
  await page.keyboard.press('v');
  await card.locator('.diff-table[data-mode=split]').first().waitFor();
  const row = file('src/login.ts').locator('tr', { hasText: '8080' });
  expect(await row.locator('.diff-text').allTextContents()).toEqual(['const port = 80;', 'const port = 8080;']);
  await page.screenshot({ path: `${pictures}/diff-split-light.png` });
  expect(await accessFaults(page)).toEqual([]);

  await page.keyboard.press('r');
  await page.keyboard.type('keep the port');
  await page.keyboard.press('Enter');
  await page.locator('.settled[data-answer=no]', { hasText: 'Denied: keep the port' }).waitFor();
  await page.getByRole('region', { name: 'Result of turn 1' }).getByText('keep the port').waitFor();
  expect(problems).toEqual([]);
  await context.close();
}, 60_000);

test('17.1 a command to approve is shown as a command, and nothing runs over at 360 px', async () => {
  const command = 'rm -rf build && npm run a-very-long-name-of-a-script-that-does-not-fit-in-a-line -- --with=flags';
  const ask = { type: 'approval', id: 'a2', description: 'Run a command', tool: 'Bash', kind: 'execute', command };
  const { context, page } = await look(steps({ ask }, { hang: true }), 360);
  const card = page.getByRole('region', { name: 'Approval, waits for your answer' });
  expect(await card.getByLabel('Command').locator('pre').textContent()).toBe(command);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
  await page.screenshot({ path: `${pictures}/command-narrow.png` });
  await context.close();
}, 60_000);

test('17.1 a call shows what it changed, with counts', async () => {
  const { context, page } = await look(
    steps(
      { say: { type: 'tool_call', id: 't1', name: 'Edit', kind: 'edit', args: {}, changes: changes.slice(0, 1) } },
      { say: { type: 'tool_result', id: 't1', content: 'ok' } },
      done,
    ),
  );
  const tool = page.locator('.tool');
  await tool.locator('.diff-word', { hasText: '8080' }).waitFor();
  expect(await tool.locator('summary').first().textContent()).toContain('src/login.ts');
  expect(await tool.locator('summary .diff-counts').first().textContent()).toBe('+2−1');
  await context.close();
}, 60_000);

test('17.1 a change of several files has each under its name; a long plan is folded around where it is', async () => {
  const entries = Array.from({ length: 24 }, (_, at) => {
    const done = at < 12 ? 'completed' : 'pending';
    return { content: `Step number ${at + 1}`, status: at === 12 ? 'in_progress' : done };
  });
  const part = (name: string) => `--- a/${name}\n+++ b/${name}\n@@ -1 +1 @@\n-old ${name}\n+new ${name}\n`;
  const changes = [{ path: 'one.ts', patch: `${part('one.ts')}${part('two.ts')}` }];
  const ask = { type: 'approval', id: 'a', description: 'Change two', tool: 'edit', changes };
  const { context, page } = await look(steps({ say: { type: 'plan', entries } }, { ask }, done));
  const plan = page.getByRole('region', { name: /^Plan/ });
  await plan.getByText('11 done before these').waitFor();
  expect(await plan.getByRole('listitem').count()).toBe(7);
  await plan.getByText('Step number 13').waitFor();
  const card = page.getByRole('region', { name: 'Approval, waits for your answer' });
  await card.getByText('2 files').waitFor();
  for (const name of ['one.ts', 'two.ts'])
    await card.locator('.diff-file-head').getByText(name, { exact: true }).waitFor();
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await accessFaults(page)).toEqual([]);
    await page.screenshot({ path: `${pictures}/plan-folded-${colorScheme}.png` });
  }
  await plan.getByRole('button', { name: 'Show all 24 steps' }).focus();
  await page.keyboard.press('Enter');
  expect(await plan.getByRole('listitem').count()).toBe(24);
  await plan.getByRole('button', { name: 'Show less', expanded: true }).waitFor();
  await context.close();
}, 60_000);

test('17.2 thoughts are folded, the plan moves, calls of a sub-agent are nested, usage and context are told', async () => {
  const gate = puppets.gate();
  const plan = (first: string, second: string) => ({
    say: {
      type: 'plan',
      entries: [
        { content: 'Read the code', status: first },
        { content: 'Change it', status: second },
      ],
    },
  });
  const { context, page } = await look(
    steps(
      { say: { type: 'thought', text: 'First I look.\nThen I leap.' } },
      plan('in_progress', 'pending'),
      { say: { type: 'tool_call', id: 'task', name: 'Task', title: 'Look around', args: { goal: 'find it' } } },
      { say: { type: 'tool_call', id: 'read', name: 'Read', kind: 'read', parent: 'task', args: { path: 'a.ts' } } },
      { say: { type: 'tool_result', id: 'read', content: 'nested text' } },
      { until: gate.path },
      { say: { type: 'tool_result', id: 'task', content: '**found** it' } },
      plan('completed', 'in_progress'),
      {
        say: {
          type: 'usage',
          input_tokens: 12_000,
          output_tokens: 345,
          cost_usd: 0.12,
          context: { used: 90, size: 100 },
        },
      },
      { say: { type: 'result', text: 'All done.' } },
    ),
  );
  const log = page.getByRole('log');
  const thought = log.locator('.thought');
  await thought.getByText('Then I leap.').waitFor();
  expect(await thought.getAttribute('open')).toBeNull();
  await thought.locator('summary').click();
  await thought.getByText('First I look.').waitFor();

  const panel = page.getByRole('region', { name: 'Plan' });
  await panel.getByText('0 of 2').waitFor();
  const task = log.locator('.tool', { hasText: 'Look around' }).first();
  const nested = task.getByRole('list', { name: 'Calls of Look around' }).locator('.tool');
  await nested.locator('summary').click();
  await nested.getByText('nested text').waitFor();
  await gate.open();
  await panel.getByText('1 of 2').waitFor();
  expect(await panel.locator('li[data-status=completed]').textContent()).toContain('Read the code');
  await page.getByRole('region', { name: 'Result of turn 1' }).getByText('12k in, 345 out · $0.12').waitFor();
  await page.getByText('90 % of 100').waitFor();
  // Folded again, it is one line; a report of a sub-agent is prose.
  await task.locator('summary').first().click();
  await task.locator('summary').first().click();
  await task.locator('strong', { hasText: 'found' }).waitFor();
  expect(await accessFaults(page)).toEqual([]);
  await page.screenshot({ path: `${pictures}/work-light.png` });

  // What came live is what is replayed.
  const before = await log.innerText();
  await page.reload();
  await page.getByRole('region', { name: 'Result of turn 1' }).waitFor();
  await task.locator('summary').first().click();
  await thought.locator('summary').click();
  await expect.poll(() => log.innerText(), { timeout: 15_000 }).toBe(before);
  await context.close();
}, 60_000);
