import { mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import chromium from '@sparticuz/chromium';
import { type Browser, type BrowserContext, type Page, chromium as playwright } from 'playwright-core';
import { ensureBuiltPage } from './built-page.ts';

/** Longer than anything takes that a test waits for; shorter than a test may take. */
const actionTimeoutMs = 20_000;

/** A page that crashes or a tab that closes must not take the browser along, and the page's own rules must hold. */
const unwanted = ['--single-process', '--no-zygote', '--disable-web-security', '--allow-running-insecure-content'];

// Without a graphics card its work is computed, and the page needs none of it: it draws in two dimensions only.
chromium.setGraphicsMode = false;

/** Where pictures of the page are left for people to look at. */
export const pictures = join(tmpdir(), 'concerto-pictures');

export async function openBrowser(): Promise<Browser> {
  await ensureBuiltPage();
  mkdirSync(pictures, { recursive: true });
  return await playwright.launch({
    executablePath: await chromium.executablePath(),
    args: chromium.args.filter((flag) => !unwanted.includes(flag)),
    headless: true,
  });
}

export type Visit = { readonly context: BrowserContext; readonly page: Page; readonly problems: string[] };

/** A signed-in browser profile with one tab. `problems` fills with what goes wrong in the page itself. */
export async function visit(
  browser: Browser,
  entrance: string,
  look: { readonly colorScheme?: 'light' | 'dark'; readonly width?: number } = {},
): Promise<Visit> {
  const context = await browser.newContext({
    viewport: { width: look.width ?? 1280, height: 800 },
    colorScheme: look.colorScheme ?? 'light',
    reducedMotion: 'reduce',
  });
  context.setDefaultTimeout(actionTimeoutMs);
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) {
      problems.push(message.text());
    }
  });
  await page.goto(entrance);
  return { context, page, problems };
}

/** Starts a session from the list page, as a person does, and waits for its page. Returns its id. */
export async function startSession(page: Page, agent: string, prompt: string): Promise<string> {
  await page.getByRole('radio', { name: agent }).check();
  await page.getByLabel('Prompt').fill(prompt);
  await page.getByRole('button', { name: 'Start session' }).click();
  await page.getByRole('log', { name: 'Timeline' }).waitFor();
  return new URL(page.url()).pathname.replace('/sessions/', '');
}

export function statusBadge(page: Page, label: string) {
  return page.locator('.session-header .badge', { hasText: label });
}

/** Ends the session that is shown, for good: asked for twice, and not by a double click. */
export async function cancelSession(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Cancel', exact: true }).click();
  await page.waitForTimeout(400);
  await page.getByRole('button', { name: 'End it for good?' }).click();
}
