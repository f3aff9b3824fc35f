import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBrowser, pictures, visit } from '../support/open-browser.ts';
import { accessFaults } from '../support/page-faults.ts';
import { type PuppetServer, startPuppetServer, steps } from '../support/puppets.ts';

const guard = `agent Worker { connector: able }

fn is_forbidden(command: String) -> Bool {
    command.starts_with("git push")
}

@supervisor
fn guard(session: Session) {
    listen session {
        "approval" => |a: Approval| {
            if is_forbidden("\${a.command}") {
                return "no, a person pushes";
            }
            nil
        },
    };
}

@test("pushing is forbidden")
fn pushing() {
    assert(is_forbidden("git push origin"));
}

@test("listing is forbidden")
fn listing() {
    print("looking at ls");
    assert(is_forbidden("ls"), "ls is not forbidden");
}

@test("never ends")
fn endless() {
    while true {}
}

@test("asks a worker")
fn asks() {
    let done = Worker.execute("paint")?;
    assert_eq(done, "painted");
}
`;
const manifest = `
[programs.guard]
entry = "guard.conc"
[programs.guard.limits]
steps = 100_000
`;

let folder: string;
let puppets: PuppetServer;
let browser: Browser;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'concerto-policies-'));
  await writeFile(join(folder, 'guard.conc'), guard);
  [puppets, browser] = await Promise.all([startPuppetServer({ folder, manifest }), openBrowser()]);
});

afterAll(async () => {
  await browser?.close();
  await puppets?.close();
  await rm(folder, { recursive: true, force: true });
});

/** A session in which somebody allowed a command. */
async function allowed(command: string): Promise<string> {
  const { api } = puppets;
  const ask = { type: 'approval', id: 'a', description: command, tool: 'Bash', command };
  const { id } = await api.start({ agent: 'able', title: command, prompt: steps({ ask }, { tell: 'answer' }) });
  await api.untilStatus(id, 'waitingForApproval');
  const { body } = await api.get(`/api/sessions/${id}/requests`);
  await api.post(`/api/sessions/${id}/requests/${body.requests[0].requestId}`, { response: true });
  await api.untilStatus(id, 'idle');
  return id;
}

test('17.5 tests of a program are run in the server within its limits, and start nothing that they do not mock', async () => {
  const { api } = puppets;
  const { body } = await api.post('/api/programs/guard/test', {});
  expect(body.tests).toMatchObject([
    { description: 'pushing is forbidden', outcome: 'passed', file: 'guard.conc', line: 20 },
    {
      description: 'listing is forbidden',
      outcome: 'failed',
      message: expect.stringContaining('ls is not forbidden'),
      at: { file: 'guard.conc', line: 27 },
      output: 'looking at ls',
    },
    { description: 'never ends', outcome: 'failed', message: expect.stringContaining('100000') },
    { description: 'asks a worker', outcome: 'failed', message: expect.stringContaining('mocks no such agent') },
  ]);
  expect((await api.post('/api/programs/nobody/test', {})).status).toBe(404);
});

test('17.5 a policy is tried by the API on what was asked before, and is named once', async () => {
  const { api } = puppets;
  const pushed = await allowed('git push origin');
  const tried = await api.post('/api/policies/try', { supervisor: 'guard', session: pushed });
  expect(tried.body).toMatchObject({
    requests: [
      {
        session: pushed,
        agent: 'able',
        outcome: 'differs',
        before: { decision: 'allow', by: 'user:owner' },
        now: { decision: 'deny', by: 'supervisor:guard', reason: 'a person pushes' },
      },
    ],
    counts: { sessions: 1, requests: 1, differs: 1, same: 0, open: 0, spared: 0 },
    isCut: false,
  });
  const both = await api.post('/api/policies/try', { supervisor: 'guard', rules: [] });
  expect(both.body.code).toBe('invalid_policy');
  expect((await api.post('/api/policies/try', { supervisor: 'nobody' })).body.code).toBe('no_such_program');
});

test('17.5 a supervisor is tested, tried on past sessions and attached on its page', async () => {
  const { api } = puppets;
  await allowed('git push origin');
  await allowed('ls -l');
  const ask = { type: 'approval', id: 'a', description: 'Push', tool: 'Bash', command: 'git push --force' };
  const { id } = await api.start({ agent: 'able', title: 'Pushes', prompt: 'look' });
  await api.untilStatus(id, 'idle');
  const { context, page, problems } = await visit(browser, puppets.server.entrance);
  await page.getByRole('heading', { name: 'Sessions', exact: true }).waitFor();
  await page.keyboard.press('p');
  await page.getByRole('link', { name: 'guard' }).click();
  const tests = page.getByRole('region', { name: 'Tests' });
  await tests.getByRole('button', { name: 'Run the tests' }).click();
  await tests.getByText(/^3 failed, 1 passed, in /).waitFor();
  await tests.getByText('ls is not forbidden').waitFor();
  await tests.getByRole('button', { name: 'guard.conc:27' }).click();
  await page
    .locator('.cm-editor.cm-focused .cm-activeLineGutter, .cm-editor.cm-focused .cm-activeLine')
    .first()
    .waitFor();
  expect(await page.locator('.cm-activeLine').textContent()).toContain('is_forbidden("ls")');
  expect(await accessFaults(page)).toEqual([]);
  await page.screenshot({ path: `${pictures}/program-tests-light.png`, fullPage: true });

  const supervise = page.getByRole('region', { name: 'Supervise' });
  await supervise.getByRole('button', { name: 'Try on past sessions' }).click();
  const said = supervise.getByRole('region', { name: 'What it would have said' });
  await said.getByText(/would be answered otherwise/).waitFor();
  expect(await said.getByRole('listitem').first().textContent()).toMatch(
    /git push.*now deny by supervisor guard: a person pushes/,
  );
  expect(await said.getByRole('listitem').last().textContent()).toMatch(/ls -l/);
  await supervise.getByLabel('Attach it to a session that runs').selectOption({ label: 'Pushes' });
  await supervise.getByRole('button', { name: 'Attach', exact: true }).click();
  const attached = supervise
    .getByRole('list', { name: 'Sessions that it answers for' })
    .getByRole('link', { name: 'Pushes' });
  await attached.waitFor();
  await api.post(`/api/sessions/${id}/messages`, { content: steps({ ask }, { tell: 'answer' }) });
  await api.until(id, (event) => event.type === 'requestSettled' && event.by === 'supervisor:guard');
  await attached.click();
  await page.getByText('supervisor guard').first().waitFor();
  // On the session's own page it is taken away again.
  await page.getByRole('button', { name: 'Change who answers' }).click();
  await page.getByLabel('Who answers before a person').selectOption('nobody');
  await page.getByText(/^a person change/).waitFor();
  await page.goBack();
  await page.getByRole('link', { name: 'Start a session that it answers for' }).click();
  await page.locator('.start-options summary', { hasText: 'guard' }).waitFor();
  expect(problems).toEqual([]);
  await context.close();
}, 60_000);

test('17.5 rules are written as a draft, tried on past sessions, and put in force', async () => {
  const { api } = puppets;
  await allowed('git push origin');
  const { context, page, problems } = await visit(browser, `${puppets.server.entrance.replace('/?', '/settings?')}`);
  const rules = page.getByRole('region', { name: 'Rules' });
  await rules.getByRole('button', { name: 'Add a rule' }).click();
  const form = rules.getByRole('form', { name: 'New rule' });
  await form.getByLabel('For').selectOption('able');
  await form.getByLabel(/^Command/).fill('git push*');
  await form.getByLabel('What is answered').selectOption('deny');
  await form.getByLabel(/^Reason/).fill('not from here');
  expect(await accessFaults(page)).toEqual([]);
  await form.getByRole('button', { name: 'Add to the draft' }).click();
  await rules.getByText('This is a draft').waitFor();
  expect((await api.get('/api/rules')).body.rules).toEqual([]);
  await rules.getByRole('button', { name: 'Try on past sessions' }).click();
  const said = rules.getByRole('region', { name: 'What it would have said' });
  await said.getByText(/would be answered otherwise/).waitFor();
  expect(await said.getByRole('listitem').first().textContent()).toMatch(
    /git push.*deny by rule store\.new-1: not from here/,
  );
  await page.setViewportSize({ width: 360, height: 740 });
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
  expect(await accessFaults(page)).toEqual([]);
  await page.screenshot({ path: `${pictures}/rules-draft-phone-light.png`, fullPage: true });
  await page.setViewportSize({ width: 1360, height: 900 });
  await page.screenshot({ path: `${pictures}/rules-draft-light.png`, fullPage: true });
  await rules.getByRole('button', { name: 'Put in force' }).click();
  await page.getByText('The rules count from the next request on.').waitFor();
  const put = { agent: 'able', command: 'git push*', decide: 'deny', reason: 'not from here', source: 'store' };
  expect((await api.get('/api/rules')).body.rules).toMatchObject([put]);
  await rules.getByRole('button', { name: /^Edit: deny/ }).click();
  await rules
    .getByRole('form', { name: 'Rule', exact: true })
    .getByLabel(/^Command/)
    .fill('git push --force\ngit push -f');
  await rules.getByRole('button', { name: 'Change in the draft' }).click();
  await rules.getByRole('button', { name: 'Discard' }).click();
  await rules.getByText('command = git push*').waitFor();
  expect(problems).toEqual([]);
  await context.close();
}, 60_000);
