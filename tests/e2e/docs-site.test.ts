import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, extname, join, posix } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { root } from '../support/built-concerto.ts';
import { openBrowser, visit } from '../support/open-browser.ts';
import { accessFaults } from '../support/page-faults.ts';

let folder: string;
let server: Server;
let built: { readonly status: number | null; readonly stderr: string };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'concerto-site-'));
  built = spawnSync(process.execPath, [join(root, 'tools/docs.mjs'), folder], { encoding: 'utf8' });
  const types: Record<string, string> = { '.css': 'text/css', '.js': 'text/javascript', '.html': 'text/html' };
  server = createServer((request, response) => {
    const file = join(folder, posix.normalize(new URL(request.url ?? '/', 'http://x').pathname));
    if (!existsSync(file)) return void response.writeHead(404).end();
    response.writeHead(200, { 'content-type': types[extname(file)] ?? 'application/octet-stream' });
    response.end(readFileSync(file));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
}, 120_000);

afterAll(async () => {
  server?.close();
  await rm(folder, { recursive: true, force: true });
});

test('19.7 every link of the site leads to a page, a place on it, or a picture that is there', () => {
  expect(built).toMatchObject({ status: 0 });
  const files: readonly string[] = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const pages = files.filter((file) => file.endsWith('.html'));
  const texts = new Map<string, string>(pages.map((page) => [page, readFileSync(join(folder, page), 'utf8')]));
  const broken = [...texts].flatMap(([page, text]) =>
    [...text.matchAll(/(?:href|src)="([^"]*)"/g)].flatMap(([, link = '']) => {
      if (/^[a-z]+:/.test(link)) return [];
      const [path = '', anchor = ''] = link.split('#');
      const target = path === '' ? page : posix.join(dirname(page), path);
      const isThere =
        existsSync(join(folder, target)) && (anchor === '' || texts.get(target)?.includes(`id="${anchor}"`));
      return isThere === true ? [] : [`${page}: ${link}`];
    }),
  );
  expect(broken).toEqual([]);
  expect(pages).toEqual(expect.arrayContaining(['index.html', 'api.html', 'guide/error-codes.html']));
  expect(texts.get('api.html')).toContain('POST /api/sessions');
});

test('19.7 what is searched for is found, by keyboard', { timeout: 60_000 }, async () => {
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  const browser = await openBrowser();
  try {
    const { page, problems } = await visit(browser, `http://127.0.0.1:${port}/guide/who-answers.html`);
    expect(await accessFaults(page)).toEqual([]);
    await page.keyboard.press('/');
    await page.keyboard.type('keep_agents');
    await page
      .getByRole('link', { name: /Run the server/ })
      .nth(1)
      .waitFor();
    expect(await accessFaults(page)).toEqual([]);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/guide/server.html#*');
    expect(problems).toEqual([]);
  } finally {
    await browser.close();
  }
});
