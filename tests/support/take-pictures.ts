import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { type Api, apiOf } from './api.ts';
import { openBrowser, visit } from './open-browser.ts';
import { accessFaults } from './page-faults.ts';
import { startServer } from './start-server.ts';

const folderOfPictures = join(import.meta.dirname, '../../docs/images');
const sizes = [
  { name: 'wide', width: 1360, height: 860 },
  { name: 'phone', width: 360, height: 760 },
] as const;
const themes = ['light', 'dark'] as const;

type Sessions = {
  readonly approval: string;
  readonly done: string;
  readonly question: string;
  readonly failed: string;
  readonly program: string;
};
type Scene = { readonly name: string; readonly show: (page: Page, url: string, sessions: Sessions) => Promise<void> };

/** Every page and state. Each waits until it is what it is called. */
const scenes: readonly Scene[] = [
  {
    name: 'overview',
    show: async (page, url) => {
      await page.goto(`${url}/`);
      await page.getByText('Which of the two databases').first().waitFor();
    },
  },
  {
    name: 'approval',
    show: async (page, url, { approval }) => {
      await page.goto(`${url}/sessions/${approval}`);
      await page.getByRole('button', { name: 'Approve' }).waitFor();
      await page.locator('.hljs-keyword, .diff-word').first().waitFor();
    },
  },
  {
    name: 'question',
    show: async (page, url, { question }) => {
      await page.goto(`${url}/sessions/${question}`);
      await page.getByRole('button', { name: 'The new one' }).waitFor();
    },
  },
  {
    name: 'result',
    show: async (page, url, { done }) => {
      await page.goto(`${url}/sessions/${done}`);
      await page.getByRole('region', { name: 'Result of turn 1' }).waitFor();
    },
  },
  {
    name: 'failed',
    show: async (page, url, { failed }) => {
      await page.goto(`${url}/sessions/${failed}`);
      await page.getByRole('region', { name: 'Error' }).waitFor();
    },
  },
  {
    name: 'inspector',
    show: async (page, url, { done }) => {
      // A runner is called after its machine, which is nobody's business.
      await page.route('**/audit*', async (route) => {
        const response = await route.fetch();
        const text = await response.text();
        await route.fulfill({ response, body: text.replaceAll(/(runner"?:"?)[\w.-]+/g, '$1one') });
      });
      await page.goto(`${url}/sessions/${done}`);
      await page.getByRole('region', { name: 'Result of turn 1' }).waitFor();
      await page.keyboard.press('i');
      await page.getByRole('dialog', { name: 'Inspect' }).getByRole('row').nth(2).waitFor();
    },
  },
  {
    name: 'program',
    show: async (page, url, { program }) => {
      await page.goto(`${url}/programs/release?run=${program}`);
      await page.locator('.runs-here').waitFor();
      await page.locator('.code-keyword').first().waitFor();
    },
  },
  {
    name: 'policy',
    show: async (page, url) => {
      await page.goto(`${url}/programs/guard`);
      await page.getByRole('button', { name: 'Run the tests' }).click();
      await page.getByText(/^\d passed, in /).waitFor();
      await page.getByRole('button', { name: 'Try on past sessions' }).click();
      await page.getByRole('region', { name: 'What it would have said' }).getByRole('listitem').first().waitFor();
      await page.getByRole('heading', { name: 'Tests' }).scrollIntoViewIfNeeded();
    },
  },
  {
    name: 'insight',
    show: async (page, url) => {
      await page.goto(`${url}/insight?days=7`);
      await page.getByRole('region', { name: 'Tokens' }).waitFor();
    },
  },
  {
    name: 'graph',
    show: async (page, url) => {
      const step = (id: string, title: string, prompt: string) => ({
        id,
        type: 'agent',
        configuration: { agent: 'builder', prompt },
        metadata: { title },
      });
      const graph = {
        title: 'Sign with a key pair',
        nodes: [
          step('plan', 'Plan', 'List the files that have to change, and why.'),
          step('code', 'Change', 'Make the change.'),
          step('tests', 'Tests', 'Write the tests for it.'),
          step('review', 'Review', 'Review both, and say what is missing.'),
        ],
        edges: [
          { from: 'plan', to: 'code' },
          { from: 'plan', to: 'tests' },
          { from: 'code', to: 'review' },
          { from: 'tests', to: 'review' },
        ],
      };
      await page.evaluate(async (drawn) => {
        const { version } = await (await fetch('/api/graph')).json();
        const body = JSON.stringify({ graph: drawn, version, label: 'Draw it', seen: {} });
        await fetch('/api/graph', { method: 'PUT', headers: { 'content-type': 'application/json' }, body });
      }, graph);
      await page.goto(`${url}/graph`);
      await page.getByRole('button', { name: 'Program' }).click();
      await page.locator('.react-flow__node', { hasText: 'Review' }).waitFor();
      await page.locator('.hljs-keyword').first().waitFor();
    },
  },
  {
    name: 'start',
    show: async (page, url) => {
      await page.goto(`${url}/`);
      const form = page.getByRole('form', { name: 'New session' });
      await form.getByLabel('In a git worktree of its own').check();
      await form.getByText('Options').click();
      await form.getByText('Answered by rules').waitFor();
      await form.getByLabel('Model').fill('large');
    },
  },
  {
    name: 'selected',
    show: async (page, url) => {
      await page.goto(`${url}/`);
      await page.getByRole('button', { name: 'Select', exact: true }).click();
      await page.getByLabel('Select Publish 2.0').check();
    },
  },
  {
    name: 'settings',
    show: async (page, url) => {
      // Where Node is installed is nobody's business.
      await page.route('**/api/agents', async (route) => {
        const response = await route.fetch();
        await route.fulfill({ response, body: (await response.text()).replaceAll(process.execPath, 'node') });
      });
      await page.goto(`${url}/settings`);
      await page.getByText("None beside the server's own.").waitFor();
    },
  },
  {
    name: 'keyboard',
    show: async (page, url) => {
      await page.goto(`${url}/`);
      await page.getByRole('heading', { name: 'Sessions', exact: true }).waitFor();
      await page.keyboard.press('?');
      await page.getByRole('dialog', { name: 'Keyboard' }).waitFor();
    },
  },
  {
    name: 'empty',
    show: async (page, url) => {
      await page.route('**/api/sessions?*', (route) => route.fulfill({ json: { sessions: [] } }));
      await page.goto(`${url}/`);
      await page.getByRole('heading', { name: 'No sessions yet' }).waitFor();
    },
  },
  {
    name: 'not-found',
    show: async (page, url) => {
      await page.goto(`${url}/sessions/s_nowhere`);
      await page.getByRole('heading', { name: 'This session does not exist' }).waitFor();
    },
  },
];

async function startSessions(api: Api): Promise<Sessions> {
  const start = async (title: string, prompt: string, ...statuses: string[]): Promise<string> => {
    const { id } = await api.start({ agent: 'builder', title, prompt });
    await api.untilStatus(id, ...statuses);
    return id;
  };
  const task = 'Sign the login tokens with a key pair instead of the shared secret.';
  const done = await start('Shorten the life of tokens', task, 'waitingForApproval');
  const { body } = await api.get(`/api/sessions/${done}/requests`);
  await api.post(`/api/sessions/${done}/requests/${body.requests[0].requestId}`, { response: true });
  await api.untilStatus(done, 'idle');
  const { id: program } = await api.start({ program: 'release', title: 'Release 2.1' });
  return {
    done,
    program,
    failed: await start('Publish 2.0', 'Publish it; this will fail.', 'idle'),
    question: await start('Move the invoices', 'Move them, and ask me your question.', 'waitingForInput'),
    approval: await start('Sign tokens with a key pair', task, 'waitingForApproval'),
  };
}

const release = `/// Changes what is left to change, then says what it has done.
agent Builder { connector: builder }

fn main() -> Result<String, AgentError> {
    let changed = Builder.execute("Sign the login tokens with a key pair instead of the shared secret.")?;
    Ok(changed)
}
`;
const guard = `/// Answers for an agent before a person does.
fn is_key(path: String) -> Bool {
    path.ends_with("keys.ts")
}

@supervisor
fn guard(session: Session) {
    listen session {
        "approval" => |a: Approval| {
            if a.paths.any(|path| is_key(path)) {
                return "no, keys are changed by hand";
            }
            nil
        },
    };
}

@test("keys are nobody's")
fn keys() {
    assert(is_key("src/auth/keys.ts"));
    assert(!is_key("src/auth/token.ts"));
}
`;
/** Only these, where any is named. */
const wanted = process.argv.slice(2);
const folder = await mkdtemp(join(tmpdir(), 'concerto-pictures-'));
const agent = join(import.meta.dirname, 'picture-agent.mjs');
await writeFile(
  join(folder, 'Concerto.toml'),
  `[agents.builder]\ncommand = ${JSON.stringify(process.execPath)}\nargs = [${JSON.stringify(agent)}]\ndescription = "Changes code, and asks before it does"\ninput_format = "json"\nper_session = ["working_dir", "worktree", "model", "effort"]\n[programs.release]\nentry = "release.conc"\n[programs.guard]\nentry = "guard.conc"\n`,
);
await writeFile(join(folder, 'release.conc'), release);
await writeFile(join(folder, 'guard.conc'), guard);
const [server, browser] = await Promise.all([startServer({ folder }), openBrowser()]);
const faults: string[] = [];
try {
  await mkdir(folderOfPictures, { recursive: true });
  const sessions = await startSessions(apiOf(server));
  for (const colorScheme of themes) {
    for (const { name: size, width, height } of sizes) {
      for (const { name, show } of scenes) {
        if (wanted.length > 0 && !wanted.includes(name)) continue;
        const { context, page } = await visit(browser, server.entrance, { colorScheme, width });
        await page.setViewportSize({ width, height });
        await show(page, server.url, sessions);
        await page.screenshot({ path: join(folderOfPictures, `${name}-${size}-${colorScheme}.png`) });
        faults.push(...(await accessFaults(page)).map((fault) => `${name} ${size} ${colorScheme}: ${fault}`));
        await context.close();
      }
    }
  }
} finally {
  await browser.close();
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}
for (const fault of faults) console.error(fault);
console.log(`${scenes.length * sizes.length * themes.length} pictures in docs/images, ${faults.length} faults`);
process.exitCode = faults.length === 0 ? 0 : 1;
