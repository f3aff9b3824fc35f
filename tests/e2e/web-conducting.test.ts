import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Conducted, startConducted } from '../support/conducted.ts';
import { openBrowser, pictures, statusBadge, visit } from '../support/open-browser.ts';
import { accessFaults } from '../support/page-faults.ts';
import { steps } from '../support/puppets.ts';

const phone = { width: 360, height: 740 };

let conducted: Conducted;
let browser: Browser;

beforeAll(async () => {
  [conducted, browser] = await Promise.all([startConducted(), openBrowser()]);
});

afterAll(async () => {
  await browser?.close();
  await conducted?.close();
});

const goTo = (page: Page, id: string) => page.goto(`${conducted.server.url}/sessions/${id}`);

test('14.2 a program shows what it says, what its model answered for how many tokens, and its agents as timelines', async () => {
  const { api } = conducted;
  const { id } = await api.start({ program: 'conduct' });
  const { context, page, problems } = await visit(browser, conducted.server.entrance);
  await goTo(page, id);

  // Its own emits, as what they are.
  await page.locator('.activity-text', { hasText: 'reading the tree' }).waitFor();
  await page.locator('.json', { hasText: 'plan' }).getByText('files: 3').waitFor();
  const model = page.locator('.tool > summary', { hasText: 'Architect' });
  await model.getByText('answered RS256, 312 tokens').waitFor();
  await page.getByText('Answered Coder: RS256').waitFor();

  // What it asks carries the edit.
  const card = page.locator('.request', { hasText: 'Edit auth.ts' }).last();
  await card.getByText('RS256').first().waitFor();
  await card.getByText('HS256').first().waitFor();

  // The agent's own timeline, in its place, with who decided and where.
  const coder = page.locator('.tool', { hasText: 'Coder' }).first();
  await coder.locator('summary').first().click();
  const nested = coder.locator('.run-timeline');
  await nested.getByText('opening auth.ts').first().waitFor();
  const settled = nested.locator('.settled', { hasText: 'RS256' });
  await settled.getByText('by program conduct').waitFor();
  // Who decided is said once, and what stands on the card is not said again below it.
  expect(await nested.getByRole('list', { name: 'Who was asked' }).getByText('program conduct').count()).toBe(1);
  expect(await page.getByText('listen:start').count()).toBe(0);
  expect(await card.getByText('Details').count()).toBe(0);
  expect(await accessFaults(page)).toEqual([]);
  await page.screenshot({ path: `${pictures}/conducting-light.png` });
  const there = await settled.getByRole('link', { name: 'where it was decided' }).getAttribute('href');
  expect(there).toMatch(new RegExp(`^/sessions/${id}\\?event=\\d+$`));

  await card.getByRole('button', { name: 'Approve' }).click();
  await statusBadge(page, 'Completed').waitFor();
  await page.locator('.log', { hasText: 'coded, now reviewed' }).waitFor();
  await page.locator('.tool > summary', { hasText: 'Reviewer' }).getByText('answered did: look at it').waitFor();

  // And back: what was decided says for whom.
  await page.getByRole('link', { name: 'Coder' }).first().click();
  await page.getByRole('link', { name: 'the session that opened it' }).waitFor();
  expect(problems).toEqual([]);
  await context.close();
}, 90_000);

test('14.2 all of it can be read on a phone', async () => {
  const { api } = conducted;
  const { id } = await api.start({ program: 'conduct' });
  await api.until(id, (event) => event.type === 'queryConsent');
  const { context, page } = await visit(browser, conducted.server.entrance);
  await page.setViewportSize(phone);
  await goTo(page, id);
  const answer = page.locator('.tool-answer', { hasText: 'answered RS256, 312 tokens' });
  await answer.waitFor();
  expect(await answer.evaluate((element) => element.scrollWidth <= element.clientWidth)).toBe(true);
  const coder = page.locator('.tool', { hasText: 'Coder' }).first();
  await coder.locator('summary').first().click();
  const said = coder.locator('.run-timeline .settled', { hasText: 'RS256' }).locator('strong');
  await said.waitFor();
  // In one line, not a letter in each.
  const box = await said.boundingBox();
  expect(box?.height).toBeLessThan(box?.width ?? 0);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(phone.width);
  expect(await accessFaults(page)).toEqual([]);
  await said.scrollIntoViewIfNeeded();
  await page.screenshot({ path: `${pictures}/conducting-phone-light.png` });
  await context.close();
}, 90_000);

test('14.2 from a program’s page its agents are steered, held and ended; with several it says which there are', async () => {
  const { api } = conducted;
  const gate = conducted.gate();
  const { id } = await api.start({
    program: 'pair',
    prompt: steps({ until: gate.path }, { say: { type: 'result', text: 'done' } }),
  });
  const { context, page, problems } = await visit(browser, conducted.server.entrance);
  await goTo(page, id);
  const opened = page.getByRole('region', { name: 'Sessions it opened' });
  await opened.getByText('Working').nth(1).waitFor();
  await page.getByLabel('Message', { exact: true }).fill('look left');
  await page.getByRole('button', { name: 'Queue' }).click();
  await page.getByText('2 of its agents are at work').waitFor();
  expect(await page.getByLabel('Message', { exact: true }).inputValue()).toBe('look left');

  await page.getByRole('button', { name: 'Pause', exact: true }).click();
  await statusBadge(page, 'Paused').waitFor();
  await opened.getByText('Paused').nth(1).waitFor();
  await page.getByRole('button', { name: 'Resume', exact: true }).click();
  await opened.getByText('Working').nth(1).waitFor();

  await opened.getByRole('link', { name: 'Left' }).click();
  await page.getByRole('button', { name: 'Cancel', exact: true }).click();
  await page.waitForTimeout(400);
  await page.getByRole('button', { name: 'End it for good?' }).click();
  await statusBadge(page, 'Cancelled').waitFor();

  // One is left: a word to the program is a word to it.
  await page.getByRole('link', { name: 'the session that opened it' }).click();
  await opened.getByText('Cancelled').waitFor();
  await page.getByLabel('Message', { exact: true }).fill('look right');
  await page.getByRole('button', { name: 'Steer' }).click();
  await opened.getByRole('link', { name: 'Right' }).click();
  await page.getByText('Steered by owner').waitFor();
  await gate.open();
  await page.getByRole('link', { name: 'the session that opened it' }).click();
  await statusBadge(page, 'Completed').waitFor();
  await page.getByText('cancelled: agent Left was cancelled by user:owner').first().waitFor();
  expect(problems).toEqual([]);
  await context.close();
}, 90_000);
