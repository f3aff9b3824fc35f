import { SessionStatus } from '@concerto/protocol';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isAllowed, isOver } from '../../apps/web/src/session/lifecycle-table.ts';
import { lifecycleMatrix } from '../../packages/session/src/session/lifecycle-matrix.ts';
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

test('a button is off exactly where the domain would refuse', () => {
  for (const status of SessionStatus.options) {
    for (const verb of ['interrupt', 'pause', 'resume', 'cancel'] as const) {
      const permission = lifecycleMatrix[status][verb];
      expect([status, verb, isAllowed(status, verb)]).toEqual([status, verb, ['ask', 'direct'].includes(permission)]);
    }
    expect(isOver(status)).toBe(lifecycleMatrix[status].cancel === 'wrong');
  }
});

test('pause, resume, interrupt, resume, cancel', async () => {
  const { context, page, problems } = await visit(browser, server.entrance);
  await startSession(page, 'slow', 'A life');
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  await page.getByText('Step 1 of 60').waitFor();

  await button('Pause').click();
  await statusBadge(page, 'Paused').waitFor();
  await page.getByText('Paused until it is resumed').waitFor();
  expect(await button('Interrupt').isDisabled()).toBe(true);
  expect(await button('Cancel').isEnabled()).toBe(true);
  await page.screenshot({ path: `${pictures}/paused-light.png` });

  await button('Resume').click();
  await statusBadge(page, 'Working').waitFor();
  await page.locator('.status-line', { hasText: 'Resumed' }).waitFor();

  await page.getByLabel('Message', { exact: true }).fill('afterwards');
  await page.keyboard.press('Enter');
  await button('Interrupt').click();
  await statusBadge(page, 'Interrupted').waitFor();
  // The queue is parked until the person says so.
  await page.getByText('1 message is held until a message is sent or the session resumed').waitFor();
  await button('Go on').click();
  await page.locator('.prompt', { hasText: 'afterwards' }).waitFor();
  await statusBadge(page, 'Working').waitFor();

  await cancelSession(page);
  await statusBadge(page, 'Cancelled').waitFor();
  expect(await page.getByRole('group', { name: 'Session control' }).count()).toBe(0);
  await page.getByLabel('Connection').getByText('Complete').waitFor();
  expect(problems).toEqual([]);
  await context.close();
}, 90_000);

test('a refusal is told with the reason of the server, and the button works again', async () => {
  const { context, page } = await visit(browser, server.entrance);
  const id = await startSession(page, 'slow', 'Refused');
  await page.getByText('Step 1 of 60').waitFor();
  // Somebody else was first: their pause is done when ours arrives.
  await page.route('**/pause', async (route) => {
    await page.request.post(`${server.url}/api/sessions/${id}/pause`, {
      headers: { authorization: `Bearer ${server.token}` },
    });
    await route.continue();
  });
  await page.getByRole('button', { name: 'Pause', exact: true }).click();
  await page
    .getByRole('alert')
    .getByText(/pausing since|cannot be asked to pause/)
    .waitFor();
  await statusBadge(page, 'Paused').waitFor();
  await page.getByRole('button', { name: 'Resume', exact: true }).click();
  await statusBadge(page, 'Working').waitFor();
  await context.close();
}, 60_000);
