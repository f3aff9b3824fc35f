import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBrowser, pictures, visit } from '../support/open-browser.ts';
import { accessFaults } from '../support/page-faults.ts';
import { type PuppetServer, startPuppetServer, steps } from '../support/puppets.ts';

let puppets: PuppetServer;
let browser: Browser;
let folder: string;

/** A program that has an agent work, and answers nothing for it. */
const program = `
agent Worker { connector: asker }

fn main() -> Result<String, AgentError> {
    let done = Worker.execute("paint")?;
    Ok(done)
}
`;
/** The same, answered by the program. */
const decided = `
agent Worker { connector: asker }

fn main() -> Result<String, AgentError> {
    let done = listen Worker.execute("paint") {
        "question" => |q| { "red" },
    }?;
    Ok(done.text)
}
`;
const asker = join(import.meta.dirname, '../vectors/lang/_kit/agents/ask.mjs');
const manifest = `
[project]
name = "overview"
version = "0.1.0"
entry = "main.conc"
[programs.painter]
entry = "main.conc"
[programs.decider]
entry = "decided.conc"
[agents.asker]
command = ${JSON.stringify(process.execPath)}
args = [${JSON.stringify(asker)}]
`;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'concerto-overview-'));
  await writeFile(join(folder, 'main.conc'), program);
  await writeFile(join(folder, 'decided.conc'), decided);
  [puppets, browser] = await Promise.all([startPuppetServer({ folder, manifest }), openBrowser()]);
});

afterAll(async () => {
  await browser?.close();
  await puppets?.close();
  await rm(folder, { recursive: true, force: true });
});

const question = (text: string) => ({ ask: { type: 'question', id: 'q', question: text } });

async function asking(title: string, text: string): Promise<string> {
  const { id } = await puppets.api.start({ agent: 'able', title, prompt: steps(question(text), { tell: 'answer' }) });
  await puppets.api.untilStatus(id, 'waitingForInput');
  return id;
}

test('17.3 grouped by what needs me, with counts, search, sort and what is unread', async () => {
  const first = await asking('Migration', 'Which database should the invoices go to, the old one or the new one?');
  await asking('Release', 'Shall I tag 2.0?');
  const { id: idle } = await puppets.api.start({ agent: 'able', title: 'Zoo', prompt: 'feed the wombat' });
  await puppets.api.untilStatus(idle, 'idle');
  await puppets.api.post(`/api/sessions/${idle}/messages`, { content: 'now the others' });
  let turns = 0;
  await puppets.api.until(idle, ({ type }) => type === 'turnComplete' && ++turns === 2);
  const { id: over } = await puppets.api.start({ agent: 'able', title: 'Once', prompt: 'only this', once: true });
  await puppets.api.untilStatus(over, 'completed');

  const { context, page, problems } = await visit(browser, puppets.server.entrance);
  const group = (name: string) => page.getByRole('list', { name: new RegExp(`^${name}`) }).getByRole('listitem');
  await group('Needs you').first().waitFor();
  expect(await page.getByRole('heading', { level: 2 }).allTextContents()).toEqual([
    'New session',
    'Needs you 2',
    'Idle 1',
    'Over 1',
  ]);
  // Who has waited longest is first, with the whole question.
  expect(await group('Needs you').first().textContent()).toContain('the old one or the new one?');
  expect(await page.getByRole('button', { name: 'Needs you 2' }).count()).toBe(1);
  expect(await group('Idle').first().getAttribute('data-unread')).toBe('true');
  expect(await accessFaults(page)).toEqual([]);
  await page.screenshot({ path: `${pictures}/overview-light.png` });

  // Said in its first turn, and in no row: the server looks for it.
  expect(JSON.stringify((await puppets.api.get(`/api/sessions/${idle}`)).body)).not.toContain('wombat');
  await page.keyboard.press('/');
  await page.keyboard.type('wombat');
  await expect.poll(() => page.locator('.session-row').count(), { timeout: 15_000 }).toBe(1);
  await page.reload();
  await group('Idle').getByText('Zoo').waitFor();
  expect(await page.getByLabel('Search sessions').inputValue()).toBe('wombat');
  await page.getByLabel('Search sessions').fill('nowhere to be found');
  await page.getByText('Nothing found.').waitFor();
  await page.getByLabel('Search sessions').press('Escape');
  await page.getByLabel('Sort by').selectOption('Newest');
  await group('Needs you').first().waitFor();

  // What was looked at is no longer unread.
  const lookedAt = async (): Promise<string | null> => {
    await group('Idle').getByRole('link').click();
    await page.getByText('did: feed the wombat').waitFor();
    await page.keyboard.press('g');
    await group('Idle').first().waitFor();
    return await group('Idle').first().getAttribute('data-unread');
  };
  // Who leaves before the last event has come has not seen it, and looks once more.
  await expect.poll(lookedAt, { timeout: 20_000 }).toBe('false');

  // Wherever one is, those that wait are a key away, and the tab says how many.
  await page.getByRole('link', { name: '2 waiting' }).waitFor();
  await page.waitForFunction(() => document.title.startsWith('● (2)'));
  await page.keyboard.press('w');
  await page.waitForURL(`**/sessions/${first}`);
  await page.keyboard.press('w');
  await page.getByRole('heading', { name: 'Release' }).waitFor();
  // What is written before the question is there is not sent as its answer unseen.
  await page.getByText('Answers: Shall I tag 2.0?').waitFor();
  await page.getByLabel('Message', { exact: true }).fill('yes');
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: '1 waiting' }).waitFor();
  expect(problems).toEqual([]);
  await context.close();
}, 90_000);

test('17.3 one who looks elsewhere is called when an agent begins to wait, once, and led there by a click', async () => {
  await asking('Seen', 'Do you see me?');
  const { context, page } = await visit(browser, puppets.server.entrance);
  await context.grantPermissions(['notifications'], { origin: puppets.server.url });
  await page.addInitScript(() => {
    const told: unknown[] = [];
    Reflect.set(globalThis, 'told', told);
    class Told extends EventTarget {
      static permission = 'granted';
      constructor(title: string, options: { body: string }) {
        super();
        told.push({ title, body: options.body, click: () => this.dispatchEvent(new Event('click')) });
      }
      close(): void {}
    }
    Reflect.set(globalThis, 'Notification', Told);
    Object.defineProperty(document, 'hidden', {
      configurable: true,
      get: () => Reflect.get(globalThis, 'isAway') === true,
    });
  });
  await page.reload();
  // What is seen before one looks elsewhere calls nobody.
  await page.getByRole('link', { name: /^\d+ waiting$/ }).waitFor();
  await page.evaluate(() => Reflect.set(globalThis, 'isAway', true));
  const id = await asking('Away', 'Are you there?');
  await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
  await page.waitForFunction(() => Reflect.get(globalThis, 'told').length === 1);
  expect(await page.evaluate(() => Reflect.get(globalThis, 'told')[0].body)).toBe('Are you there?');
  await page.evaluate(() => Reflect.get(globalThis, 'told')[0].click());
  await page.waitForURL(`**/sessions/${id}`);
  await context.close();
}, 60_000);

test('17.3 an agent that a program called is a session of its own: found, answered, and linked both ways', async () => {
  const { id } = await puppets.api.start({ program: 'painter', title: 'Paint the shed' });
  const { context, page } = await visit(browser, puppets.server.entrance);
  const asked = page.locator('.session-row', { hasText: 'Which color?' });
  await asked.getByText('in a program').waitFor();
  await asked.getByRole('link').click();
  await page.getByText('Answers: Which color?').waitFor();
  await page.getByRole('link', { name: 'the session that opened it' }).click();
  await page.waitForURL(`**/sessions/${id}`);
  await page.getByRole('region', { name: 'Sessions it opened' }).getByText('Needs answer').waitFor();
  const call = page.locator('.tool').first();
  await call.locator('summary').first().click();
  await call.getByRole('link', { name: 'Open its session' }).click();
  await page.getByText('Answers: Which color?').waitFor();
  await page.getByLabel('Message', { exact: true }).fill('blue');
  await page.keyboard.press('Enter');
  await page.locator('.settled', { hasText: 'blue' }).waitFor();
  await page.goto(`${puppets.server.url}/sessions/${id}`);
  await page.getByRole('region', { name: 'Result of turn 1' }).getByText('painted blue').waitFor();
  await page.screenshot({ path: `${pictures}/program-light.png` });
  await context.close();
}, 60_000);

test('17.1 what a program answered says so, and leads to where it was decided', async () => {
  const { id } = await puppets.api.start({ program: 'decider', title: 'Decide for me' });
  await puppets.api.untilStatus(id, 'completed');
  const { body } = await puppets.api.get(`/api/sessions?parent=${id}`);
  // Whoever watches trees hears of the child too; whoever does not, does not.
  const isOver = (event: any): boolean => event.summary?.id === id && event.summary.status === 'completed';
  const parents = async (query: string) =>
    (await puppets.api.eventsUntil(`/api/events?after=0${query}`, isOver)).map((event: any) => event.summary?.parent);
  expect(await parents('&tree=true')).toContain(id);
  expect(await parents('')).not.toContain(id);
  const { context, page } = await visit(browser, puppets.server.entrance);
  await page.goto(`${puppets.server.url}/sessions/${body.sessions[0].id}`);
  const note = page.locator('.settled', { hasText: 'red' });
  expect(await note.textContent()).toContain('by program');
  await note.getByRole('link', { name: 'where it was decided' }).click();
  await page.waitForURL(`**/sessions/${id}?event=*`);
  await page.getByRole('dialog', { name: 'Inspect' }).locator('.event[data-sought=true]').waitFor();
  await context.close();
}, 60_000);

test('17.3 several are put away with an undo, run again, deleted; one is renamed', async () => {
  const { api } = puppets;
  const kept = async (title: string, once: boolean): Promise<string> => {
    const { id } = await api.start({ agent: 'able', title, prompt: `keep ${title}`, once });
    await api.untilStatus(id, once ? 'completed' : 'idle');
    return id;
  };
  const [ant, bee, cow] = [await kept('Ant', true), await kept('Bee', true), await kept('Cow', false)];
  const { context, page, problems } = await visit(browser, `${puppets.server.entrance}`);
  const search = page.getByLabel('Search sessions');
  await search.fill('keep');
  const rows = page.locator('.session-row');
  await expect.poll(() => rows.count(), { timeout: 15_000 }).toBe(3);
  await search.blur();
  await page.keyboard.press('j');
  await page.keyboard.press('x');
  await page.getByLabel('Select Ant').check();
  await page.getByLabel('Select Bee').check();
  const bar = page.getByRole('toolbar', { name: 'Selected sessions' });
  await bar.getByText('3 selected').waitFor();
  expect(await accessFaults(page)).toEqual([]);
  await page.screenshot({ path: `${pictures}/bulk-light.png` });
  await bar.getByRole('button', { name: 'Archive' }).click();
  await page.getByText('3 sessions are archived.').waitFor();
  await expect.poll(() => rows.count(), { timeout: 15_000 }).toBe(0);
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect.poll(() => rows.count(), { timeout: 15_000 }).toBe(3);

  await rows.getByRole('link', { name: /^Ant/ }).click();
  await page.getByRole('heading', { name: 'Ant' }).waitFor();
  await page.keyboard.press('e');
  await page.getByLabel('Title').fill('Anteater');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Anteater' }).waitFor();
  await page.getByRole('button', { name: 'Archive' }).click();
  await page.getByRole('button', { name: 'Take out of the archive' }).waitFor();
  await page.goto(`${puppets.server.url}/?archive=true`);
  await rows.getByText('Anteater').waitFor();
  expect(await rows.count()).toBe(1);
  await rows.getByRole('link').click();
  await page.getByRole('button', { name: 'Delete' }).click();
  // Two presses that follow faster than a person's are one by habit.
  await page.waitForTimeout(400);
  await page.getByRole('button', { name: 'Delete it for good?' }).click();
  await page.waitForURL((url) => url.pathname === '/');
  expect((await api.get(`/api/sessions/${ant}`)).status).toBe(404);

  await page.getByRole('button', { name: 'Select' }).click();
  await page.getByLabel('Select Bee').check();
  await page.getByLabel('Select Cow').check();
  await bar.getByRole('button', { name: 'Run again' }).click();
  await page.getByText('2 sessions are started again.').waitFor();
  const again = (await api.get('/api/sessions')).body.sessions.filter(({ title }: any) => /^(Bee|Cow)$/.test(title));
  expect(again).toHaveLength(4);
  expect(again.map(({ id }: any) => id)).toEqual(expect.arrayContaining([bee, cow]));
  await page.setViewportSize({ width: 360, height: 740 });
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
  expect(problems).toEqual([]);
  await context.close();
}, 90_000);

test('17.3 the page can be installed', async () => {
  const { context, page } = await visit(browser, puppets.server.entrance);
  const href = await page.locator('link[rel=manifest]').getAttribute('href');
  const response = await page.request.get(`${puppets.server.url}${href}`);
  expect(response.headers()['content-type']).toContain('application/manifest+json');
  expect(await response.json()).toMatchObject({ start_url: '/', display: 'standalone' });
  await context.close();
}, 30_000);

test('17.9 the first load is at most 200 kB of JavaScript, compressed as it is sent', async () => {
  const { context, page } = await visit(browser, puppets.server.entrance);
  await page.getByRole('heading', { name: 'Sessions', exact: true }).waitFor();
  const bytes = await page.evaluate(() =>
    performance
      .getEntriesByType('resource')
      .filter((entry): entry is PerformanceResourceTiming => entry.name.endsWith('.js'))
      .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0),
  );
  expect(bytes).toBeGreaterThan(10_000);
  expect(bytes).toBeLessThan(200_000);
  await context.close();
}, 30_000);
