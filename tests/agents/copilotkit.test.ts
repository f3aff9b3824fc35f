import { build } from 'esbuild';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openForeignPage } from '../support/foreign-page.ts';
import { openBrowser } from '../support/open-browser.ts';
import { startRoomyPuppetServer, steps } from '../support/puppets.ts';

const puppets = await startRoomyPuppetServer();
const { api } = puppets;
let browser: Browser;
let script: string;

/** As their guide has it, without a runtime in between: the agent is our server. */
const copilotPage = `
import { CopilotChat, CopilotKitProvider, useInterrupt } from '@copilotkit/react-core/v2';
import { HttpAgent } from '@ag-ui/client';
import { createRoot } from 'react-dom/client';
const query = new URLSearchParams(location.search);
const threadId = query.get('id');
const agent = new HttpAgent({ url: '/api/agui?agent=' + query.get('agent'), threadId });
function Questions() {
  useInterrupt({
    agentId: 'default',
    render: ({ interrupt, resolve, cancel }) => (
      <div>
        <p>{interrupt.message}</p>
        <button onClick={() => resolve({ approved: true })}>Approve</button>
        <button onClick={() => cancel()}>Cancel</button>
      </div>
    ),
  });
  return null;
}
createRoot(document.body.appendChild(document.createElement('div'))).render(
  <CopilotKitProvider selfManagedAgents={{ default: agent }}>
    <Questions />
    <div style={{ height: 700 }}>
      <CopilotChat agentId="default" threadId={threadId} input={{ textArea: { 'aria-label': 'Message' } }} />
    </div>
  </CopilotKitProvider>,
);
`;

beforeAll(async () => {
  browser = await openBrowser();
  const { outputFiles } = await build({
    stdin: { contents: copilotPage, resolveDir: process.env.CONCERTO_TEST_COPILOTKIT ?? '', loader: 'jsx' },
    jsx: 'automatic',
    bundle: true,
    write: false,
    minify: true,
    format: 'esm',
    target: 'chrome120',
    outdir: puppets.folder,
    define: { 'process.env.NODE_ENV': '"production"' },
    loader: { '.css': 'empty' },
  });
  script = outputFiles[0]?.text ?? '';
}, 300_000);
afterAll(async () => {
  await browser?.close();
  await puppets.close();
});

test('a chat of CopilotKit follows a session: words as they come, tools, the next message, an interrupt that is answered', {
  timeout: 240_000,
}, async () => {
  const { page, problems } = await openForeignPage(browser, puppets, { script, id: 'copilot' });
  const shown = () => page.locator('body').innerText();
  const say = async (text: string) => {
    await page.getByLabel('Message').fill(text);
    await page.getByLabel('Message').press('Enter');
  };
  const gate = puppets.gate();
  await say(
    steps(
      { say: { type: 'partial', text: 'One moment.' } },
      { until: gate.path },
      { say: { type: 'tool_call', id: 't1', name: 'Bash', args: { command: 'ls' } } },
      { say: { type: 'tool_result', id: 't1', content: 'a.txt' } },
      { say: { type: 'result', text: 'All there.' } },
    ),
  );
  await expect.poll(shown, { timeout: 40_000 }).toMatch(/\n\s*One moment\./);
  expect(await shown()).not.toMatch(/\n\s*All there\./);
  await gate.open();
  await expect.poll(shown, { timeout: 40_000 }).toMatch(/\n\s*All there\./);
  await say('and now?');
  await expect.poll(shown, { timeout: 40_000 }).toContain('did: and now?');
  await say(steps({ ask: { type: 'approval', id: 'a1', description: 'rm -r build' } }, { tell: 'answer' }));
  await page.getByRole('button', { name: 'Approve' }).click();
  await expect.poll(shown, { timeout: 40_000 }).toContain('"value":"yes"');
  const { history } = (await api.get('/api/sessions/copilot/messages?all=true')).body;
  expect(history).toHaveLength(3);
  expect(problems).toEqual([]);
});
