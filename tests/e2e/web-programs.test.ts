import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBrowser, pictures, visit } from '../support/open-browser.ts';
import { accessFaults } from '../support/page-faults.ts';
import { type PuppetServer, startPuppetServer } from '../support/puppets.ts';

const program = `/// Paints what it is told to.
agent Worker { connector: asker }

fn main() -> Result<String, AgentError> {
    let done = Worker.execute("paint")?;
    Ok(done)
}
`;
const asker = join(import.meta.dirname, '../vectors/lang/_kit/agents/ask.mjs');
const manifest = `
[programs.painter]
entry = "main.conc"
description = "Has a worker paint."
[connections.local]
provider = "mock"
[assistants.editor]
connection = "local"
functions = ["read_graph", "inspect_node", "apply_edits", "edit_graph"]
[agents.asker]
command = ${JSON.stringify(process.execPath)}
args = [${JSON.stringify(asker)}]
`;

let folder: string;
let puppets: PuppetServer;
let browser: Browser;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'concerto-programs-'));
  await writeFile(join(folder, 'main.conc'), program);
  [puppets, browser] = await Promise.all([startPuppetServer({ folder, manifest }), openBrowser()]);
});

afterAll(async () => {
  await browser?.close();
  await puppets?.close();
  await rm(folder, { recursive: true, force: true });
});

test('17.5 sources are read by all, written only as they were read, and nothing but sources', async () => {
  const { body } = await puppets.api.get('/api/programs');
  expect(body).toEqual({ programs: [{ name: 'painter', entry: 'main.conc', description: 'Has a worker paint.' }] });
  const { body: source } = await puppets.api.get('/api/programs/painter');
  expect(source).toMatchObject({ entry: 'main.conc', mayWrite: true, files: [{ path: 'main.conc', text: program }] });
  for (const name of ['nobody', 'constructor'])
    expect((await puppets.api.get(`/api/programs/${name}`)).status).toBe(404);
  const [{ version }] = source.files;
  const put = (file: object) => puppets.api.call('PUT', '/api/programs/painter', file);
  expect((await put({ path: 'main.conc', text: 'x', version: 'old' })).body.code).toBe('stale_file');
  expect((await put({ path: '../main.conc', text: 'x', version })).body.code).toBe('no_such_file');
  expect((await put({ path: 'Concerto.toml', text: 'x', version })).body.code).toBe('no_such_file');
  expect(await readFile(join(folder, 'main.conc'), 'utf8')).toBe(program);
});

test('17.5 a program is read, checked, written and run on its page, which shows where the run stands', async () => {
  await writeFile(join(folder, 'main.conc'), program);
  const { context, page, problems } = await visit(browser, puppets.server.entrance);
  await page.getByRole('heading', { name: 'Sessions', exact: true }).waitFor();
  await page.keyboard.press('p');
  await page.getByRole('link', { name: 'painter' }).click();
  const source = page.getByRole('textbox', { name: 'Source' });
  await page.getByText('Nothing is wrong.').waitFor();
  await page.locator('.code-keyword', { hasText: 'agent' }).first().waitFor();
  expect(await accessFaults(page)).toEqual([]);

  // What a name means, by pointing at it.
  await page.locator('.cm-line', { hasText: 'Worker.execute' }).getByText('Worker').first().hover();
  await page.locator('.code-hover', { hasText: 'agent Worker' }).waitFor();
  await page.mouse.move(0, 0);

  // What is wrong is said at once, and by completion it is not written wrong.
  await source.press('ControlOrMeta+End');
  await page.keyboard.type('fn more() -> String { Wrk }');
  await page.getByRole('list', { name: 'What the checker says' }).getByText('main.conc:8').first().waitFor();
  await page.locator('.cm-lint-marker-error').first().waitFor();
  expect(await accessFaults(page)).toEqual([]);
  await page.screenshot({ path: `${pictures}/program-source-light.png` });
  for (let back = 0; back < 5; back++) await page.keyboard.press('Backspace');
  await page.keyboard.type('Wor');
  await page.locator('.cm-tooltip-autocomplete').getByText('Worker').first().waitFor();
  await page.keyboard.press('Escape');
  await source.press('ControlOrMeta+End');
  await source.press('Shift+ArrowUp');
  await page.keyboard.press('Backspace');
  await page.keyboard.type('\n// It is blue.\n');
  await page.keyboard.press('ControlOrMeta+s');
  await page.getByText('Saved.').waitFor();
  expect(await readFile(join(folder, 'main.conc'), 'utf8')).toContain('// It is blue.');

  await page.getByLabel('Input, as JSON').fill('{');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByText('The input is no JSON').waitFor();
  await page.getByLabel('Input, as JSON').fill('');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.waitForURL('**/programs/painter?run=*');
  await page.locator('.runs-here', { hasText: 'Worker.execute' }).waitFor();
  // A run that is followed is seen so by whoever comes later, too.
  await page.reload();
  await page.locator('.runs-here', { hasText: 'Worker.execute' }).waitFor();
  await page.screenshot({ path: `${pictures}/program-run-light.png` });
  await page.getByRole('link', { name: '1 waiting' }).click();
  await page.getByText('Answers: Which color?').waitFor();
  await page.getByLabel('Message', { exact: true }).fill('blue');
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: 'the session that opened it' }).click();
  // The decision in a line; what the agent did, in its place.
  const call = page.locator('.tool', { hasText: 'answered painted blue' });
  await call.locator('summary').first().click();
  await call.locator('.run-timeline .settled', { hasText: 'blue' }).waitFor();
  expect(await accessFaults(page)).toEqual([]);
  await page.getByRole('link', { name: 'painter, its source' }).click();
  const runs = page.getByRole('complementary', { name: 'Runs' });
  await runs.locator('.badge', { hasText: 'Completed' }).first().waitFor();
  await page.locator('.runs-here').waitFor({ state: 'detached' });

  await page.setViewportSize({ width: 360, height: 740 });
  await page.getByRole('button', { name: 'Run', exact: true }).scrollIntoViewIfNeeded();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
  const help = await page.getByRole('button', { name: 'Keyboard help' }).boundingBox();
  expect((help?.x ?? 999) + (help?.width ?? 0)).toBeLessThanOrEqual(360);
  expect(problems).toEqual([]);
  await context.close();
}, 120_000);

test('17.6 a graph is drawn by hand and by talking, taken back a step at a time, read as a program and run', async () => {
  const { context, page, problems } = await visit(browser, puppets.server.entrance);
  await page.getByRole('link', { name: 'Graph' }).click();
  const bar = page.getByRole('toolbar', { name: 'Graph' });
  const nodes = page.locator('.react-flow__node');
  await bar.getByRole('button', { name: 'Add a step' }).click();
  const step = page.getByRole('region', { name: 'Step Step 1' });
  await step.getByLabel('What it is asked').fill('Write it');
  await step.getByLabel(/^Agent/).selectOption('puppet');
  await step.getByLabel('Title').fill('Draft');
  await page.keyboard.press('Enter');
  await nodes.getByText('Draft').waitFor();
  await nodes.getByText('Write it').waitFor();

  // By talking: what is asked of the graph it answers, what is told it shows, what does not fit is refused.
  await page.getByRole('button', { name: 'Talk' }).click();
  const talk = page.getByRole('region', { name: 'Talk' });
  const say = async (text: string): Promise<void> => {
    await talk.getByLabel('Message').fill(text);
    await page.keyboard.press('Enter');
  };
  const node = {
    id: 'review',
    type: 'agent',
    configuration: { agent: 'puppet', prompt: 'Review it' },
    metadata: { title: 'Review' },
  };
  const edge = { from: 'step-1', to: 'review' };
  const edits = [
    { type: 'addnode', graphId: '', node },
    { type: 'addedge', graphId: '', edge },
  ];
  await say(`/call apply_edits ${JSON.stringify({ label: 'Add a review', edits })}`);
  await page.waitForURL('**/graph?session=*');
  await talk
    .getByRole('group', { name: /Result of turn 1/ })
    .getByText('"success":true')
    .waitFor();
  await talk.getByText('Applied to the graph').waitFor();
  await nodes.getByText('Review', { exact: true }).waitFor();
  expect(await page.locator('.react-flow__edge').count()).toBe(1);
  await say(`/call apply_edits ${JSON.stringify({ label: 'Twice', edits })}`);
  await talk.getByText('there is a node').first().waitFor();
  await say('/call read_graph');
  await talk.getByText('"id":"review"').first().waitFor();
  const told = [{ type: 'changemetadata', id: 'review', metadata: { title: 'Judge' } }];
  await say(`/call edit_graph ${JSON.stringify({ label: 'Rename', edits: told })}`);
  await nodes.getByText('Judge', { exact: true }).waitFor();
  expect(await accessFaults(page)).toEqual([]);
  await page.screenshot({ path: `${pictures}/graph-light.png` });

  // Each change is a step with its name.
  await page.getByRole('button', { name: 'History' }).click();
  const steps = page.getByRole('region', { name: 'History' }).getByRole('listitem');
  expect(await steps.first().textContent()).toContain('Rename');
  await bar.getByRole('button', { name: 'Undo' }).click();
  await nodes.getByText('Review', { exact: true }).waitFor();
  await bar.getByRole('button', { name: 'Redo' }).click();
  await nodes.getByText('Judge', { exact: true }).waitFor();
  await page.reload();
  await nodes.getByText('Judge', { exact: true }).waitFor();
  expect(await nodes.count()).toBe(2);

  // The project's: another browser shows the same, and what both do at once is all there.
  const { context: other, page: there } = await visit(browser, puppets.server.entrance);
  await there.getByRole('link', { name: 'Graph', exact: true }).click();
  await there.locator('.react-flow__node').getByText('Judge', { exact: true }).waitFor();
  const { body: known } = await puppets.api.get('/api/graph');
  expect(known).toMatchObject({ by: 'user:owner', graph: { nodes: [{ id: 'step-1' }, { id: 'review' }] } });
  const named = { graph: { ...known.graph, title: 'Poems' }, version: known.version, label: 'Call it', seen: {} };
  const quicker: unknown[] = [];
  await there.route('**/api/graph', async (route) => {
    // Whoever is first has it; the page is second.
    if (route.request().method() === 'PUT' && quicker.length === 0) {
      quicker.push((await puppets.api.call('PUT', '/api/graph', named)).status);
      quicker.push((await puppets.api.call('PUT', '/api/graph', named)).body.code);
    }
    await route.continue();
  });
  await there.getByRole('button', { name: 'Add a step' }).click();
  await nodes.getByText('Step 3', { exact: true }).waitFor();
  expect(quicker).toEqual([200, 'stale_graph']);
  expect(await bar.getByLabel('Title').inputValue()).toBe('Poems');
  expect(await there.getByLabel('Title').first().inputValue()).toBe('Poems');
  await page.getByRole('button', { name: 'History' }).click();
  expect(await steps.first().textContent()).toContain('Add step 3 by owner, elsewhere');
  await bar.getByRole('button', { name: 'Undo' }).click();
  await there.locator('.react-flow__node').getByText('Step 3', { exact: true }).waitFor({ state: 'detached' });
  await other.close();

  await page.getByRole('button', { name: 'Program' }).click();
  const panel = page.getByRole('region', { name: 'Program' });
  expect(await panel.locator('pre').textContent()).toContain('stage judge = Puppet.execute("Review it');
  await panel.getByLabel('Task').fill('a poem');
  await panel.getByRole('button', { name: 'Save and run' }).click();
  await page.waitForTimeout(400);
  await page.setViewportSize({ width: 360, height: 740 });
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
  await panel.getByRole('button', { name: 'Replace main.conc?' }).click();
  await page.waitForURL('**/programs/painter?run=*');
  await page.getByText('did: Review it').first().waitFor();
  expect(problems).toEqual([]);
  await context.close();
}, 90_000);
