import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cancelSession, openBrowser, pictures, startSession, statusBadge, visit } from '../support/open-browser.ts';
import { type StartedServer, startServer } from '../support/start-server.ts';

let server: StartedServer;
let browser: Browser;

beforeAll(async () => {
  [server, browser] = await Promise.all([startServer(), openBrowser()]);
});

afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

const lane = (page: Page, name: 'Queued' | 'Steering') => page.getByRole('list', { name: `${name} messages` });

async function queue(page: Page, ...texts: readonly string[]): Promise<void> {
  for (const text of texts) {
    await page.getByLabel('Message', { exact: true }).fill(text);
    await page.keyboard.press('Enter');
  }
  for (const text of texts) await lane(page, 'Queued').getByText(text, { exact: true }).waitFor();
}

/** Until the lane shows exactly these, in this order. */
async function untilOrder(page: Page, ...texts: readonly string[]): Promise<void> {
  await expect
    .poll(() => lane(page, 'Queued').locator('.queue-text').allTextContents(), { timeout: 15_000 })
    .toEqual(texts);
}

test('queue, reorder, edit, promote, unsend and steer', async () => {
  const { context, page, problems } = await visit(browser, server.entrance);
  await startSession(page, 'slow', 'A long run');
  await page.getByText('Step 1 of 60').waitFor();
  await queue(page, 'first', 'second', 'third');
  await untilOrder(page, 'first', 'second', 'third');
  await page.screenshot({ path: `${pictures}/queue-light.png` });

  const row = (text: string) => lane(page, 'Queued').getByRole('listitem').filter({ hasText: text });
  expect(await row('first').getByRole('button', { name: 'Move up' }).isDisabled()).toBe(true);
  expect(await row('third').getByRole('button', { name: 'Move down' }).isDisabled()).toBe(true);
  await row('third').getByRole('button', { name: 'Move up' }).click();
  await untilOrder(page, 'first', 'third', 'second');
  await row('first').getByRole('button', { name: 'Move down' }).press('Enter');
  await untilOrder(page, 'third', 'first', 'second');

  await row('second').getByRole('button', { name: 'Edit' }).click();
  await page.getByLabel('Edit message').fill('second, but better');
  await page.keyboard.press('Enter');
  await untilOrder(page, 'third', 'first', 'second, but better');

  await row('first').getByRole('button', { name: 'Unsend' }).click();
  await untilOrder(page, 'third', 'second, but better');

  // A promoted message enters the running turn; so does one that is steered in at once.
  await row('third').getByRole('button', { name: 'Steer with it now' }).click();
  await page.locator('.prompt[data-how=steer]', { hasText: 'third' }).waitFor();
  await untilOrder(page, 'second, but better');
  await page.getByLabel('Message', { exact: true }).fill('now, please');
  await page.keyboard.press('Control+Enter');
  await page.locator('.prompt[data-how=steer]', { hasText: 'now, please' }).waitFor();
  await page
    .getByRole('log')
    .getByText(/Step \d+ of 60 .*now, please/)
    .first()
    .waitFor();

  await page.getByText('History').click();
  const history = page.getByRole('list', { name: 'Settled messages' });
  await history.getByRole('listitem').filter({ hasText: 'first' }).getByText('cancelled by the user').waitFor();
  await history.getByRole('listitem').filter({ hasText: 'now, please' }).getByText('Steered into the turn').waitFor();
  expect(problems).toEqual([]);

  // What still waits when the session ends is shown as not delivered.
  await cancelSession(page);
  await statusBadge(page, 'Cancelled').waitFor();
  await history
    .getByRole('listitem')
    .filter({ hasText: 'second, but better' })
    .getByText(/Not delivered/)
    .waitFor();
  await page.getByText('This session is over').waitFor();
  await context.close();
}, 90_000);

test('a queue that changed elsewhere refuses an old order and is shown anew', async () => {
  const { context, page } = await visit(browser, server.entrance);
  const id = await startSession(page, 'slow', 'Two at one queue');
  await page.getByText('Step 1 of 60').waitFor();
  await queue(page, 'one', 'two');
  // The answer of the server is held back, so that the page acts on what it last saw.
  await page.route('**/messages/order', async (route) => {
    await page.request.post(`${server.url}/api/sessions/${id}/messages`, {
      data: { content: 'three' },
      headers: { authorization: `Bearer ${server.token}` },
    });
    await route.continue();
  });
  await lane(page, 'Queued').getByRole('listitem').filter({ hasText: 'two' }).getByLabel('Move up').click();
  await page.getByRole('alert').getByText('The queue had changed meanwhile').waitFor();
  await untilOrder(page, 'one', 'two', 'three');
  await context.close();
}, 60_000);

test('what is being written survives a closed tab, and a refused message comes back into the field', async () => {
  const { context, page } = await visit(browser, server.entrance);
  await startSession(page, 'slow', 'Drafts');
  const field = page.getByLabel('Message', { exact: true });
  await field.fill('half a thought');
  const address = page.url();
  await page.close();
  const again = await context.newPage();
  await again.goto(address);
  await expect
    .poll(() => again.getByLabel('Message', { exact: true }).inputValue(), { timeout: 15_000 })
    .toBe('half a thought');

  await again.route('**/messages', (route) =>
    route.request().method() === 'POST'
      ? route.fulfill({
          status: 409,
          contentType: 'application/problem+json',
          body: JSON.stringify({
            type: 'urn:concerto:problem:queue_full',
            title: 'Conflict',
            status: 409,
            code: 'queue_full',
            detail: '100 messages are pending, the most there may be',
          }),
        })
      : route.continue(),
  );
  await again.getByRole('button', { name: 'Queue' }).click();
  await again.getByRole('alert').getByText('100 messages are pending').waitFor();
  expect(await again.getByLabel('Message', { exact: true }).inputValue()).toBe('half a thought');
  await context.close();
}, 60_000);

test('what is being made of a message is not lost when that is handed over meanwhile, nor the place where one writes', async () => {
  const { context, page } = await visit(browser, server.entrance);
  const id = await startSession(page, 'slow', 'A long run');
  await page.getByText('Step 1 of 60').waitFor();
  await queue(page, 'say it', 'and this');
  await lane(page, 'Queued').getByRole('button', { name: 'Edit' }).first().click();
  await page.keyboard.type(' kindly');
  const field = page.getByLabel('Edit message');
  expect(await field.inputValue()).toBe('say it kindly');
  const headers = { authorization: `Bearer ${server.token}` };
  for (const verb of ['interrupt', 'resume']) {
    await fetch(`${server.url}/api/sessions/${id}/${verb}`, { method: 'POST', headers });
    await statusBadge(page, verb === 'interrupt' ? 'Interrupted' : 'Working').waitFor();
  }
  await page.getByText('Too late: this message is not in the queue any more').waitFor();
  // Not the keys of the page.
  await page.keyboard.type(', please');
  expect(await field.inputValue()).toBe('say it kindly, please');
  await page.getByRole('button', { name: 'Discard' }).click();
  expect(await field.count()).toBe(0);
  await cancelSession(page);
  await context.close();
}, 60_000);

test('a message of which nobody knows whether it was read is sent again or dropped by the person', async () => {
  const { context, page } = await visit(browser, server.entrance);
  const id = await startSession(page, 'slow', 'Uncertain');
  await page.getByText('Step 1 of 60').waitFor();
  // Such a message needs a crash within the microseconds of a delivery; the server's word for it is given instead.
  const message = {
    id: 'm_uncertain',
    content: 'did you get this?',
    priority: 'queued',
    status: 'pending',
    source: 'user',
    createdAt: new Date().toISOString(),
    uncertain: true,
  };
  const settled: unknown[] = [];
  await page.route('**/messages?all=true', (route) =>
    route.fulfill({ json: { pending: settled.length === 0 ? [message] : [], history: [], version: 1 } }),
  );
  await page.route(`**/sessions/${id}/messages/m_uncertain`, (route) => {
    settled.push(route.request().postDataJSON());
    return route.fulfill({ json: { ...message, uncertain: false } });
  });
  await page.reload();
  const row = lane(page, 'Queued').getByRole('listitem');
  await row.getByText('It may or may not have read this').waitFor();
  expect(await row.getByRole('button').allTextContents()).toEqual(['Resend', 'Drop']);
  await page.screenshot({ path: `${pictures}/uncertain-light.png` });
  await row.getByRole('button', { name: 'Resend' }).click();
  await page.getByText('Nothing waits.').waitFor();
  expect(settled).toEqual([{ uncertain: 'resend' }]);
  await context.close();
}, 60_000);
