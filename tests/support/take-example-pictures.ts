import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@concerto/base';
import { type ScriptedRequest, type ScriptTurn, startScriptedModelServer } from '@concerto/models/testing';
import type { Browser, Page } from 'playwright-core';
import { apiOf } from './api.ts';
import { root } from './built-concerto.ts';
import { openBrowser, visit } from './open-browser.ts';
import { accessFaults } from './page-faults.ts';
import { startServer } from './start-server.ts';

const folderOfPictures = join(root, 'docs/images');
const width = 1080;

/** What the models say in the place of the offline mock, by a word of what they are asked; the last word that was said counts. */
const answers: Readonly<Record<string, ScriptTurn>> = {
  'auth flow': said('The authorization code flow with PKCE.', 318, 11),
  'test first': said('Yes: one for the redirect, one for a wrong state.', 204, 14),
  'login page live': said('In src/pages/login.tsx.', 197, 9),
  'old login': said('I approve: nothing links to it any more.', 251, 12),
  'Token bucket': said('Token bucket: it allows short bursts.', 226, 10),
  'slow tests': said('yes', 188, 1),
  'REST or GraphQL': said('REST: two routes need no query language.', 172, 11),
  'Which port': said('8080, beside the REST routes.', 236, 13),
  'src/app.ts': said('It renames what other files import: a person should look.', 341, 15),
  'Note for today': called('Notes__write', { title: 'today', text: 'tune the piano' }, 412, 27),
  'Two apples': called('Basket__add', { name: 'apple', cents: 45, count: 2 }, 388, 24),
  '"role":"tool"': said('Two apples, 90 cents in all.', 431, 12),
};

function said(text: string, input: number, output: number): ScriptTurn {
  return [{ text }, { usage: { input, output } }];
}

function called(tool: string, args: JsonObject, input: number, output: number): ScriptTurn {
  return [{ tool, arguments: args }, { usage: { input, output } }];
}

function answerTo({ body }: ScriptedRequest): ScriptTurn {
  const asked = JSON.stringify(body.messages);
  const [last] = Object.entries(answers)
    .filter(([word]) => asked.includes(word))
    .toSorted(([a], [b]) => asked.lastIndexOf(b) - asked.lastIndexOf(a));
  if (last === undefined) throw new Error(`no answer to ${asked}`);
  return last[1];
}

type Scene = {
  readonly name: string;
  readonly height: number;
  readonly start: object;
  readonly needsTheClone?: boolean;
  /** At which the picture is taken; when it is over, where none is given. */
  readonly status?: string;
  readonly show: (page: Page) => Promise<void>;
};

/** Opens what a call holds, and waits for the agent's own timeline in it. */
async function unfold(page: Page, name: string, index = 0): Promise<void> {
  const call = page.locator('.tool', { hasText: name }).nth(index);
  await call.locator('summary').first().click();
  await call.locator('.run-timeline .result-foot').first().waitFor();
}

const scenes: readonly Scene[] = [
  {
    name: 'supervise',
    height: 800,
    start: { program: 'supervise' },
    show: async (page) => await page.locator('.tool', { hasText: '263 tokens' }).waitFor(),
  },
  {
    name: 'pipeline',
    height: 1000,
    start: { program: 'pipeline' },
    show: (page) => unfold(page, 'Coder'),
  },
  {
    name: 'memory',
    height: 940,
    start: { program: 'memory' },
    show: (page) => unfold(page, 'Coder'),
  },
  {
    name: 'approval-policy',
    height: 700,
    start: { program: 'approval-policy' },
    status: 'waitingForApproval',
    show: async (page) => await page.getByRole('button', { name: 'Approve' }).waitFor(),
  },
  {
    name: 'guard',
    height: 1040,
    start: { agent: 'coder', prompt: 'Tidy up, then publish' },
    status: 'waitingForApproval',
    show: async (page) =>
      await page
        .locator('.request', { hasText: 'Rename a function' })
        .getByRole('button', { name: 'Approve' })
        .waitFor(),
  },
  {
    name: 'fan-out',
    height: 1000,
    start: { program: 'fan-out' },
    show: (page) => unfold(page, 'Frontend'),
  },
  {
    name: 'tools',
    height: 700,
    start: { program: 'tools' },
    show: async (page) => await page.locator('.tool', { hasText: 'Clerk' }).first().waitFor(),
  },
  {
    name: 'assistant',
    height: 700,
    start: { assistant: 'secretary', prompt: 'Note for today: tune the piano.' },
    status: 'waitingForApproval',
    show: async (page) => await page.getByRole('button', { name: 'Approve' }).waitFor(),
  },
  ...(['ts', 'python', 'shell'] as const).map(
    (language): Scene => ({
      name: `middleware-${language}`,
      needsTheClone: language === 'ts',
      height: 900,
      start: { program: `middleware-${language}` },
      show: (page) => unfold(page, { ts: 'Renamer', python: 'Researcher', shell: 'Counter' }[language]),
    }),
  ),
];

/** A copy of the example, with the models above in the place of the mock. */
async function copyOf(name: string, modelUrl: string): Promise<string> {
  const example = join(root, 'examples', name);
  const folder = await mkdtemp(join(tmpdir(), 'concerto-pictures-'));
  await cp(example, folder, { recursive: true });
  const manifest = await readFile(join(folder, 'Concerto.toml'), 'utf8');
  const connection = `provider = "openai"\napi_key_env = "NO_KEY"\ndefault_model = "gpt-4o"\nbase_url = "${modelUrl}"`;
  await writeFile(join(folder, 'Concerto.toml'), manifest.replaceAll('provider = "mock"', connection));
  return folder;
}

/** Gives what axe finds on the page that the picture is of. */
async function take(scene: Scene, browser: Browser, modelUrl: string): Promise<readonly string[]> {
  const copy = await copyOf(scene.name, modelUrl);
  const folder = scene.needsTheClone === true ? join(root, 'examples', scene.name) : copy;
  const server = await startServer({ folder, env: { NO_KEY: 'none' } });
  try {
    const api = apiOf(server);
    const { id } = await api.start(scene.start);
    await api.untilStatus(id, scene.status ?? 'completed');
    const { context, page } = await visit(browser, server.entrance);
    await page.setViewportSize({ width, height: scene.height });
    await page.goto(`${server.url}/sessions/${id}`);
    await page.getByRole('log', { name: 'Timeline' }).waitFor();
    await scene.show(page);
    await page.locator('.prompt').first().scrollIntoViewIfNeeded();
    // A third of what a PNG takes.
    const browserSide = await context.newCDPSession(page);
    const { data } = await browserSide.send('Page.captureScreenshot', { format: 'webp', quality: 90 });
    await writeFile(join(folderOfPictures, `example-${scene.name}.webp`), data, 'base64');
    const faults = await accessFaults(page);
    await context.close();
    return faults.map((fault) => `${scene.name}: ${fault}`);
  } finally {
    await server.stop();
    await rm(copy, { recursive: true, force: true });
  }
}

const wanted = process.argv.slice(2);
const [browser, model] = await Promise.all([openBrowser(), startScriptedModelServer(answerTo)]);
const faults: string[] = [];
try {
  for (const scene of scenes) {
    if (wanted.length === 0 || wanted.includes(scene.name)) faults.push(...(await take(scene, browser, model.url)));
  }
} finally {
  await browser.close();
  await model.close();
}
for (const fault of faults) console.error(fault);
console.log(`pictures of examples in docs/images, ${faults.length} faults`);
process.exitCode = faults.length === 0 ? 0 : 1;
