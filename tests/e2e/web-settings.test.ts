import type { Browser, Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBrowser, pictures, visit } from '../support/open-browser.ts';
import { accessFaults } from '../support/page-faults.ts';
import { type PuppetServer, startPuppetServer, steps } from '../support/puppets.ts';

const manifest = `
[[rules]]
tool = "Read"
decide = "allow"
reason = "Reading is free."
[templates.review]
agent = "able"
prompt = "Review the last commit"
`;

let puppets: PuppetServer;
let browser: Browser;

beforeAll(async () => {
  [puppets, browser] = await Promise.all([startPuppetServer({ manifest }), openBrowser()]);
});

afterAll(async () => {
  await browser?.close();
  await puppets?.close();
});

test('17.7 settings: agents, pool, rules to try and revoke, templates, tokens', async () => {
  const { version } = (await puppets.api.get('/api/rules')).body;
  const stored = { id: 'r1', agent: 'able', tool: 'Bash', command: 'npm test', decide: 'allow' };
  await puppets.api.call('PUT', '/api/rules', { rules: [stored], version });
  const { context, page, problems } = await visit(browser, puppets.server.entrance);
  await page.getByRole('heading', { name: 'Sessions', exact: true }).waitFor();
  await page.keyboard.press('s');
  const part = (name: string) => page.getByRole('region', { name });
  await page.getByText('Signed in as owner').waitFor();
  await part('Agents, assistants, programs').getByText('deaf-pause').waitFor();
  await part('Rules').getByText('tool = Read').waitFor();
  await part('Tokens').getByText("None beside the server's own.").waitFor();
  expect(await accessFaults(page)).toEqual([]);
  await page.screenshot({ path: `${pictures}/settings-light.png`, fullPage: true });

  const tried = page.getByRole('form', { name: 'Try the rules' });
  await tried.getByLabel('Agent').fill('able');
  await tried.getByLabel('Command').fill('npm test');
  await tried.getByRole('button', { name: 'Try' }).click();
  await tried.getByText('allow by rule:store.r1').waitFor();
  await part('Rules').getByRole('button', { name: 'Revoke: allow' }).click();
  await part('Rules').getByRole('button', { name: 'Put in force' }).click();
  await page.getByText('The rules count from the next request on.').waitFor();
  await tried.getByRole('button', { name: 'Try' }).click();
  await tried.getByText('no rule decides').waitFor();
  expect((await puppets.api.get('/api/rules')).body.rules).toHaveLength(1);

  await part('Pool').getByLabel('Slots', { exact: true }).fill('7');
  await part('Pool').getByRole('button', { name: 'Change' }).click();
  await part('Pool').getByText('of 7 slots').waitFor();

  // What nothing brings back is asked for twice.
  const twice = async (button: Locator, again: Locator): Promise<void> => {
    await button.click();
    await page.waitForTimeout(400);
    await again.click();
  };
  await twice(
    part('Templates').getByRole('button', { name: 'Delete template review' }),
    part('Templates').getByRole('button', { name: 'Delete it for good? template review' }),
  );
  await part('Templates').getByText('None.').waitFor();

  const add = page.getByRole('form', { name: 'Add a token' });
  await add.getByLabel('Name').fill('ada');
  await add.getByLabel('Role').selectOption('observer');
  await add.getByRole('button', { name: 'Add' }).click();
  const token = (await part('Tokens').locator('.told-once code').textContent()) ?? '';
  expect(await accessFaults(page)).toEqual([]);

  // Who may only look sees what there is, and no button that would be refused.
  const { page: hers, context: other } = await visit(browser, `${puppets.server.url}/settings?token=${token}`);
  await hers.getByText('Signed in as ada').waitFor();
  await hers.getByText('tool = Read').waitFor();
  expect(await hers.getByRole('button', { name: /Revoke|Change|Delete|Check/ }).count()).toBe(0);
  await other.close();
  await twice(
    part('Tokens').getByRole('button', { name: 'Revoke the token of ada' }),
    part('Tokens').getByRole('button', { name: 'Revoke for good? the token of ada' }),
  );
  await part('Tokens').getByText("None beside the server's own.").waitFor();

  await page.setViewportSize({ width: 360, height: 740 });
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
  expect(problems).toEqual([]);
  await context.close();
}, 90_000);

test('17.7 insight: what was used, by day, agent and model; how long people took; what failed', async () => {
  const { api } = puppets;
  const used = { type: 'usage', input_tokens: 900, output_tokens: 100, cost_usd: 0.25, model: 'big-1' };
  const ask = { ask: { type: 'question', id: 'q', question: 'Which?' } };
  const { id } = await api.start({
    agent: 'able',
    title: 'Costs',
    prompt: steps(ask, { say: used }, { tell: 'answer' }),
  });
  await api.untilStatus(id, 'waitingForInput');
  const { body } = await api.get(`/api/sessions/${id}/requests`);
  await api.post(`/api/sessions/${id}/requests/${body.requests[0].requestId}`, { response: 'this' });
  await api.untilStatus(id, 'idle');
  const { id: broken } = await api.start({ agent: 'able', title: 'Breaks', prompt: steps({ exit: 3 }) });
  await api.until(broken, (event) => event.type === 'turnComplete');

  const told = (await api.get('/api/insight?days=7')).body;
  expect(told.days).toHaveLength(7);
  expect(told.days.at(-1)).toMatchObject({ failures: 1, answers: 1, usage: { inputTokens: 900 } });
  expect((await api.get('/api/insight?days=0')).body.code).toBe('bad_days');

  const { context, page, problems } = await visit(browser, puppets.server.entrance);
  await page.getByRole('heading', { name: 'Sessions', exact: true }).waitFor();
  await page.keyboard.press('u');
  const part = (name: string) => page.getByRole('region', { name, exact: true });
  await part('Cost').getByText('$0.25').first().waitFor();
  await part('Tokens').getByText('1,000').first().waitFor();
  await part('Waiting for people')
    .getByText(/^\d+ answers? /)
    .waitFor();
  await part('Models')
    .getByRole('row', { name: /^big-1/ })
    .waitFor();
  await part('Agents').getByRole('row', { name: /^able/ }).waitFor();
  await part('Who answered').getByRole('row', { name: 'People 1' }).waitFor();
  await part('What failed').getByRole('link', { name: 'last' }).waitFor();
  await part('Tokens').getByText('Figures').click();
  await part('Tokens')
    .getByRole('row', { name: /900 100$/ })
    .waitFor();
  expect(await accessFaults(page)).toEqual([]);
  await page.screenshot({ path: `${pictures}/insight-light.png`, fullPage: true });
  await page.getByRole('button', { name: '7 days' }).click();
  await page.waitForURL('**/insight?days=7');
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.setViewportSize({ width: 360, height: 740 });
  await part('Cost').getByText('$0.25').first().waitFor();
  expect(await accessFaults(page)).toEqual([]);
  await page.screenshot({ path: `${pictures}/insight-phone-dark.png`, fullPage: true });
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
  await part('What failed').getByRole('link', { name: 'last' }).click();
  await page.waitForURL(`**/sessions/${broken}`);
  expect(problems).toEqual([]);
  await context.close();
}, 60_000);
