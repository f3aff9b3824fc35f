import { join } from 'node:path';
import { build } from 'esbuild';
import type { Browser, Page } from 'playwright-core';
import { visit } from './open-browser.ts';
import type { PuppetServer } from './puppets.ts';

/** A page that somebody else could have made, of a file beside this one. */
export async function bundlePage(file: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, file)],
    bundle: true,
    write: false,
    format: 'esm',
    target: 'chrome120',
    define: { 'process.env.NODE_ENV': '"production"' },
  });
  return outputFiles[0]?.text ?? '';
}

export type ForeignPage = { readonly page: Page; readonly problems: string[] };

/** It comes from the server's own origin, as from a proxy before both. */
export async function openForeignPage(
  browser: Browser,
  { server, api }: PuppetServer,
  { script, id }: { readonly script: string; readonly id: string },
): Promise<ForeignPage> {
  const { page, problems } = await visit(browser, server.entrance);
  await page.route('**/foreign.html*', (route) =>
    route.fulfill({
      contentType: 'text/html',
      body: '<!doctype html><body><script type="module" src="/foreign.js"></script>',
    }),
  );
  await page.route('**/foreign.js', (route) => route.fulfill({ contentType: 'text/javascript', body: script }));
  await page.goto(`${api.url}/foreign.html?id=${id}&agent=able`);
  await page.getByLabel('Message').waitFor();
  return { page, problems };
}

export async function sayOn(page: Page, text: string): Promise<void> {
  await page.getByLabel('Message').fill(text);
  await page.getByRole('button', { name: 'Send' }).click();
}

export const statusOn = (page: Page): Promise<string | null> => page.locator('output').textContent();
export const textsOn = (page: Page): Promise<string[]> => page.locator('.text').allTextContents();
