import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBrowser, statusBadge, type Visit, visit } from '../support/open-browser.ts';
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

async function look(start: object, width?: number): Promise<Visit & { id: string }> {
  const { id } = await puppets.api.start(start);
  const seen = await visit(browser, puppets.server.entrance, width === undefined ? {} : { width });
  await seen.page.goto(`${puppets.server.url}/sessions/${id}`);
  await seen.page.getByRole('log', { name: 'Timeline' }).waitFor();
  return { ...seen, id };
}

const group = (page: Page, name: string) => page.locator(`.session-group[data-group="${name}"]`);

test('an answer that is being written does not go to what is asked next', async () => {
  const ask = (id: string, description: string) => ({ say: { type: 'approval', id, description } });
  const { context, page, id } = await look({
    agent: 'able',
    prompt: steps(ask('one', 'Read it'), ask('two', 'Push it'), { collect: 2 }, { tell: 'answers' }),
  });
  const open = async () => (await puppets.api.get(`/api/sessions/${id}/requests`)).body.requests;
  await page.locator('.request[data-open="true"]').nth(1).waitFor();
  const field = page.getByRole('textbox', { name: 'Message' });
  await field.fill('yes');
  await page.locator('.composer').getByText('Approves: Read it').waitFor();
  const [first, second] = await open();
  // Somebody else is quicker, and the Enter was on its way.
  await puppets.api.post(`/api/sessions/${id}/requests/${first.requestId}`, { response: false });
  await page.locator('.composer').getByText('Approves: Push it').waitFor();
  await field.press('Enter');
  await page.getByRole('alert').getByText('This was asked after you began to write').waitFor();
  expect((await open()).map(({ requestId }: { requestId: string }) => requestId)).toEqual([second.requestId]);
  expect(await field.inputValue()).toBe('yes');
  await field.press('Enter');
  const events = await puppets.api.untilStatus(id, 'idle');
  const settled = events.filter(({ type }) => type === 'requestSettled');
  expect(settled.map(({ response }) => response)).toEqual([false, true]);
  await context.close();
}, 60_000);

test('keys that were meant for a field that somebody else’s answer took away are nobody’s', async () => {
  const ask = (id: string) => ({ say: { type: 'question', id, question: `Which, ${id}?` } });
  const { context, page, id } = await look({ agent: 'able', prompt: steps(ask('one'), ask('two'), { collect: 2 }) });
  const card = page.locator('.request', { hasText: 'Which, one?' });
  await card.getByLabel('Your answer').pressSequentially('the');
  const [first] = (await puppets.api.get(`/api/sessions/${id}/requests`)).body.requests;
  await puppets.api.post(`/api/sessions/${id}/requests/${first.requestId}`, { response: 'mine' });
  await page.keyboard.type(' g');
  await card.getByLabel('Your answer').waitFor({ state: 'detached' });
  await page.keyboard.type('png');
  expect(page.url()).toContain(id);
  await puppets.api.post(`/api/sessions/${id}/cancel`);
  await context.close();
}, 60_000);

test('a session that has used up its budget is one that needs you: in the list, the count, the title; its card has the figures and both answers', async () => {
  const spend = { say: { type: 'usage', input_tokens: 90, output_tokens: 30, cost_usd: 0.01 } };
  const { context, page, id } = await look({
    agent: 'able',
    title: 'Spends too much',
    prompt: steps(spend, { say: { type: 'result', text: 'Spent.' } }),
    budget: { tokens: 100 },
  });
  const card = page.getByRole('region', { name: 'Budget, waits for your answer' });
  await card.getByText('120 of 100 tokens').waitFor();
  await statusBadge(page, 'Paused, needs answer').waitFor();
  await expect.poll(() => page.title()).toMatch(/^● \(1\) Spends too much/);
  // What the card is made of is folded away, and no field says yes or no to what is neither.
  expect(await card.locator('.json[open]').count()).toBe(0);
  expect(await page.getByRole('button', { name: 'Deny' }).count()).toBe(0);
  expect(await accessFaults(page)).toEqual([]);

  await page.goto(`${puppets.server.url}/`);
  const row = group(page, 'you').getByRole('listitem').filter({ hasText: 'Spends too much' });
  await row.getByText('The budget is used up').waitFor();
  await row.getByText('Paused, needs answer').waitFor();
  expect(await group(page, 'held').count()).toBe(0);
  await page.getByRole('link', { name: '1 waiting' }).click();

  await card.getByRole('button', { name: 'As much again' }).click();
  await page.getByText('Budget raised').waitFor();
  await page.getByText('120 of 200 tokens').first().waitFor();
  await expect.poll(() => page.title()).not.toMatch(/^●/);
  await puppets.api.post(`/api/sessions/${id}/cancel`);
  await context.close();
}, 60_000);

test('who denies with a reason on the card says it as the wire has it: a no, and beside it why', async () => {
  const approval = { type: 'approval', id: 'a1', description: 'Rename the module by hand' };
  const { context, page, id } = await look({ agent: 'able', prompt: steps({ ask: approval }, { tell: 'answer' }) });
  await page.getByRole('button', { name: 'Deny with a reason' }).waitFor();
  await page.keyboard.press('a');
  await page.keyboard.press('r');
  await page.getByLabel('Reason').waitFor();
  // Who thinks better of it goes on at the card.
  await page.keyboard.press('Escape');
  await page.keyboard.press('r');
  await page.keyboard.type('use git mv');
  await page.keyboard.press('Enter');
  await page.locator('.settled', { hasText: 'Denied: use git mv' }).waitFor();
  const heard = page.getByRole('region', { name: 'Result of turn 1' });
  await heard.waitFor();
  expect(JSON.parse((await heard.locator('.rich-text').textContent()) ?? '')).toMatchObject({
    in_reply_to: 'approval',
    value: 'no',
    reason: 'use git mv',
  });
  const settled = (await puppets.api.untilStatus(id, 'idle')).find(({ type }) => type === 'requestSettled');
  expect(settled).toMatchObject({ response: false, reason: 'use git mv' });
  await context.close();
}, 60_000);

test('the bar says which page this is, and the way back from a session is the list as it was filtered', async () => {
  const { context, page } = await look({ agent: 'able', title: 'Rests', prompt: steps({ tell: 'prompt' }) });
  await statusBadge(page, 'Idle').waitFor();
  const sessions = page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Sessions' });
  expect(await sessions.getAttribute('aria-current')).toBe('true');
  await sessions.click();
  expect(await sessions.getAttribute('aria-current')).toBe('page');
  await page.getByRole('button', { name: /^Idle \d/ }).click();
  const rows = group(page, 'idle').getByRole('link');
  for (const back of ['link', 'key'] as const) {
    await rows.first().click();
    await page.getByRole('log', { name: 'Timeline' }).waitFor();
    if (back === 'key') await page.keyboard.press('g');
    else await page.getByRole('link', { name: 'All sessions', exact: true }).click();
    await rows.first().waitFor();
    expect(new URL(page.url()).search).toBe('?show=idle');
  }
  await sessions.click();
  expect(new URL(page.url()).search).toBe('');
  await context.close();
}, 60_000);

test('on a phone the head says how many messages are queued, and leads to them', async () => {
  const { context, page, id } = await look({ agent: 'able', prompt: steps({ hang: true }) }, 390);
  await statusBadge(page, 'Working').waitFor();
  await puppets.api.post(`/api/sessions/${id}/messages`, { content: 'then the docs', priority: 'queued' });
  const side = page.getByRole('complementary', { name: 'Queue and facts' });
  const isInSight = async (): Promise<boolean> => {
    const box = await side.getByText('then the docs').boundingBox();
    return box !== null && box.y >= 0 && box.y + box.height <= 800;
  };
  await side.getByText('then the docs').waitFor();
  expect(await isInSight()).toBe(false);
  await page.getByRole('button', { name: 'Details, 1 queued' }).click();
  await expect.poll(isInSight).toBe(true);
  await puppets.api.post(`/api/sessions/${id}/cancel`);
  await context.close();
}, 60_000);

test('who may not do something is not offered it: an observer reads, a member answers and adds no rule', async () => {
  const run = { type: 'approval', id: 'a1', description: 'Run the tests', tool: 'Bash', command: 'npm test' };
  const { id } = await puppets.api.start({ agent: 'able', title: 'Watched', prompt: steps({ ask: run }) });
  await puppets.api.untilStatus(id, 'waitingForApproval');
  const as = async (role: 'observer' | 'member'): Promise<Visit> => {
    const { body } = await puppets.api.post('/api/tokens', { name: `a-${role}`, role });
    const seen = await visit(browser, `${puppets.server.url}/?token=${body.token}`);
    await seen.page.locator('.who-am-i').waitFor();
    return seen;
  };
  const observer = await as('observer');
  const { page } = observer;
  await page.getByText('You may look at sessions, and start none.').waitFor();
  await page.getByRole('link', { name: /^Watched/ }).click();
  const card = page.getByRole('region', { name: 'Approval, waits for your answer' });
  await card.getByText('It waits for somebody who may answer').waitFor();
  await page.getByText('You may read this session').waitFor();
  const offered = await page.locator('main').getByRole('button').allTextContents();
  expect(offered.filter((text) => text !== '').sort()).toEqual(['Export JSON', 'Export Markdown', 'Inspect']);
  expect(await page.getByRole('button', { name: /Rename|Unsend|Change/ }).count()).toBe(0);
  expect(await accessFaults(page)).toEqual([]);
  await observer.context.close();

  const member = await as('member');
  await member.page.goto(`${puppets.server.url}/sessions/${id}`);
  await member.page.getByRole('button', { name: 'Allow for this session' }).waitFor();
  expect(await member.page.getByRole('button', { name: 'Always allow this' }).count()).toBe(0);
  await member.page.getByRole('button', { name: 'Approve' }).click();
  await member.page.locator('.settled', { hasText: 'Approved' }).waitFor();
  await member.context.close();
}, 60_000);
