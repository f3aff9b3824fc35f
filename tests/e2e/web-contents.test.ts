import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBrowser, pictures, startSession, statusBadge, visit } from '../support/open-browser.ts';
import { type StartedServer, startServer } from '../support/start-server.ts';

const scripted = join(import.meta.dirname, '../../packages/agents/test/agents/acp.mjs');
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
let folder: string;
let server: StartedServer;
let browser: Browser;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'concerto-web-contents-'));
  const manifest = `[agents.foreign]\nprotocol = "acp"\ncommand = ${JSON.stringify(process.execPath)}\nargs = [${JSON.stringify(scripted)}]\n`;
  await writeFile(join(folder, 'Concerto.toml'), manifest);
  [server, browser] = await Promise.all([startServer({ folder }), openBrowser()]);
});

afterAll(async () => {
  await browser?.close();
  await server?.stop();
  await rm(folder, { recursive: true, force: true });
});

test('a picture is pasted into a start, another attached, sent and shown; what the agent does not take is refused and stays', async () => {
  const { page, problems } = await visit(browser, server.entrance);
  await page.getByLabel('Prompt').evaluate((field, data) => {
    const clipboardData = new DataTransfer();
    const bytes = Uint8Array.from(atob(data), (char) => char.charCodeAt(0));
    clipboardData.items.add(new File([bytes], 'pasted.png', { type: 'image/png' }));
    field.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true }));
  }, png);
  await page.getByRole('list', { name: 'Attached files' }).getByText('70 B').waitFor();
  await startSession(page, 'foreign', 'hello');
  await statusBadge(page, 'Idle').waitFor();
  await page.locator('.prompt img[alt="picture, 70 B, pasted.png"]').waitFor();
  const attach = page.getByLabel('Attach files', { exact: true });
  await attach.setInputFiles({ name: 'dot.png', mimeType: 'image/png', buffer: Buffer.from(png, 'base64') });
  const files = page.getByRole('list', { name: 'Attached files' });
  await files.getByText('70 B').waitFor();
  await page.screenshot({ path: `${pictures}/attached-picture.png` });
  await page.getByRole('textbox', { name: 'Message' }).fill('Look at this');
  await page.keyboard.press('Enter');
  const shown = page.locator('.prompt img.inline-image').last();
  await expect.poll(() => shown.getAttribute('alt')).toBe('picture, 70 B, dot.png');
  // It has loaded: bytes of a picture came.
  await expect
    .poll(() => shown.evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth))
    .toBe(1);
  await page.getByRole('region', { name: 'Result of turn 2' }).getByText(`"data":"${png}"`).waitFor();
  expect(await files.count()).toBe(0);

  await attach.setInputFiles({ name: 'sound.wav', mimeType: 'audio/wav', buffer: Buffer.from('RIFF') });
  await files.getByText('4 B').waitFor();
  await page.getByRole('textbox', { name: 'Message' }).fill('Listen');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').getByText('takes text, image/*').waitFor();
  expect(await page.getByRole('textbox', { name: 'Message' }).inputValue()).toBe('Listen');
  await files.getByText('sound.wav').waitFor();
  expect(problems.filter((problem) => !problem.includes('422'))).toEqual([]);
}, 120_000);
