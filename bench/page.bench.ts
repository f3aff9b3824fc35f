import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { concertoClient } from '@concerto/client';
import type { Page } from 'playwright-core';
import { openBrowser, visit } from '../tests/support/open-browser.ts';
import { startServer } from '../tests/support/start-server.ts';
import { compare, median, type Row } from './row.ts';

export const name = 'the page: a long session against a short one, a busy one against a quiet one';

/** The prompt is a number of events to say at once, or so many a second until it is cancelled. */
const talker = `
import { createInterface } from 'node:readline';
const say = (message) => process.stdout.write(JSON.stringify(message) + '\\n');
let n = 0;
const one = () => {
  n += 1;
  const which = n % 4;
  if (which === 0) say({ type: 'partial', message: 'm' + Math.floor(n / 40), text: 'Some **words** of message ' + n + '. ' });
  else if (which === 1) say({ type: 'log', level: 'info', message: 'line ' + n });
  else if (which === 2) say({ type: 'tool_call', id: 't' + n, name: 'read_file', args: { path: 'src/file-' + n + '.ts' } });
  else say({ type: 'tool_result', id: 't' + (n - 1), content: 'The content of file ' + n });
};
createInterface({ input: process.stdin }).on('line', (line) => {
  const { text = '' } = JSON.parse(line);
  const [how, count] = text.split(' ');
  if (how === 'all') {
    for (let left = Number(count); left > 0; left--) one();
    say({ type: 'result', text: 'The end.' });
  }
  if (how === 'rate') setInterval(() => { for (let left = Number(count) / 20; left > 0; left--) one(); }, 50);
});
`;

const short = 500;
const long = 50_000;
const eventsPerSecond = 2_000;
const keys = 60;

export async function run(): Promise<readonly Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'concerto-bench-page-'));
  writeFileSync(join(folder, 'talker.mjs'), talker);
  const agent = `[agents.talker]\ncommand = ${JSON.stringify(process.execPath)}\nargs = ["talker.mjs"]\n`;
  writeFileSync(join(folder, 'Concerto.toml'), agent);
  const server = await startServer({ folder, args: ['--store', `sqlite:${join(folder, 'bench.db')}`] });
  const browser = await openBrowser();
  try {
    const client = concertoClient({ url: server.url, token: server.token });
    const start = async (prompt: string): Promise<string> => (await client.start({ agent: 'talker', prompt })).id;
    const said = async (count: number): Promise<string> => {
      const id = await start(`all ${count}`);
      for await (const event of client.follow(id)) if (event.type === 'turnComplete') break;
      return id;
    };
    const [few, many] = [await said(short), await said(long)];
    const { page } = await visit(browser, server.entrance);
    const open = (id: string) => () => opened(page, `${server.url}/sessions/${id}`);
    const opening = await compare(
      { name: `open ${long} events against ${short}`, unit: 'ms', target: '<= 1.5' },
      { ours: open(many), reference: open(few) },
    );
    const all = await compare(
      { name: `read all of ${long} events, a thousand, against opening ${short}`, unit: 'ms' },
      {
        ours: async () => (await readAll(page, `${server.url}/sessions/${many}`)) / (long / 1000),
        reference: open(few),
      },
      3,
    );
    const id = await start(`rate ${eventsPerSecond}`);
    const quiet: number[][] = [];
    const busy: number[][] = [];
    const heaps: number[] = [];
    // The machine has as much to do while the quiet page is typed into: only the page differs.
    const other = await page.context().newPage();
    for (let round = 0; round < 6; round++) {
      await other.goto(`${server.url}/sessions/${few}`);
      await other.bringToFront();
      quiet.push(await typed(other));
      await page.goto(`${server.url}/sessions/${id}`);
      await page.bringToFront();
      await page.waitForTimeout(3000);
      busy.push(await typed(page));
      heaps.push(await heap(page));
    }
    await client.cancel(id);
    return [opening, all, typing('median', 0.5, quiet, busy), typing('95 of 100', 0.95, quiet, busy), growth(heaps)];
  } finally {
    await browser.close();
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Until the last words are there to read. */
async function opened(page: Page, url: string): Promise<number> {
  await page.goto('about:blank');
  const start = performance.now();
  await page.goto(url, { waitUntil: 'commit' });
  await page.locator('.said', { hasText: 'The end.' }).waitFor();
  return performance.now() - start;
}

async function readAll(page: Page, url: string): Promise<number> {
  const start = performance.now();
  await opened(page, url);
  await page.getByRole('region', { name: /Result of turn/ }).waitFor({ timeout: 120_000 });
  return performance.now() - start;
}

/** From a key to the frame that shows it, for a person who types eight keys a second. */
async function typed(page: Page): Promise<number[]> {
  const field = page.getByLabel('Message', { exact: true });
  await field.fill('');
  await field.focus();
  await page.evaluate(() => {
    const took: number[] = [];
    Reflect.set(globalThis, 'took', took);
    // The time of the event is when the key was pressed, however long the page was busy after it.
    addEventListener('keydown', ({ timeStamp }) => {
      requestAnimationFrame(() => setTimeout(() => took.push(performance.now() - timeStamp)));
    });
  });
  for (let key = 0; key < keys; key++) {
    await page.keyboard.press('a');
    await page.waitForTimeout(50);
  }
  return await page.evaluate(() => Reflect.get(globalThis, 'took'));
}

function typing(label: string, part: number, quiet: readonly number[][], busy: readonly number[][]): Row {
  const at = (values: readonly number[]): number =>
    values.toSorted((a, b) => a - b)[Math.floor(values.length * part)] ?? 0;
  const reference = median(quiet.map(at));
  const ours = median(busy.map(at));
  const title = `a key at ${eventsPerSecond} events/s, ${label}, against a quiet page`;
  return { name: title, unit: 'ms', ours, reference, ratio: ours / reference, target: '<= 3', spread: 0 };
}

async function heap(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  await session.detach();
  return usedSize;
}

/** What the second half of the time added, to what the first half had. */
function growth(heaps: readonly number[]): Row {
  const reference = heaps.at(Math.floor(heaps.length / 2)) ?? 1;
  const ours = heaps.at(-1) ?? 1;
  const title = `memory after twice the time at ${eventsPerSecond} events/s`;
  return { name: title, unit: 'bytes', ours, reference, ratio: ours / reference, target: '<= 1.2', spread: 0 };
}
