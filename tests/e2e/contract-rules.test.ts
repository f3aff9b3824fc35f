import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Api, apiOf } from '../support/api.ts';
import { type PuppetServer, startPuppetServer, steps } from '../support/puppets.ts';
import { runConcerto } from '../support/run-concerto.ts';
import { startServer } from '../support/start-server.ts';

const manifest = `
[[rules]]
tool = "Bash"
command = ["rm *"]
decide = "deny"
reason = "not from here"
[[rules]]
risk = "low"
decide = "allow"
[[rules]]
text = "*colour*"
decide = "answer:red"
`;

let puppets: PuppetServer;
let api: Api;

beforeAll(async () => {
  puppets = await startPuppetServer({ manifest });
  api = puppets.api;
});

afterAll(async () => {
  await puppets?.close();
});

async function told(...asked: readonly object[]): Promise<readonly unknown[]> {
  const all = asked.flatMap((ask) => [{ ask }, { tell: 'answer' }]);
  const answers: unknown[] = [];
  for (let index = 0; index < all.length; index += 2) {
    const { id } = await api.start({ agent: 'puppet', prompt: steps(...all.slice(index, index + 2)) });
    const events = await api.until(id, (event) => event.type === 'functionResult');
    answers.push(JSON.parse(events.at(-1).content.parts[0].functionResponse.response.text));
  }
  return answers;
}

test('rules of the manifest answer approvals and questions, and the log says which', async () => {
  const answers = await told(
    { type: 'approval', id: 1, description: 'x', tool: 'Bash', command: 'ls && rm -rf b', risk_level: 'low' },
    { type: 'approval', id: 2, description: 'x', tool: 'Bash', command: 'ls' },
    { type: 'question', id: 3, question: 'Which colour?' },
  );
  expect(answers).toMatchObject([{ value: 'no', reason: 'not from here' }, { value: 'yes' }, { value: 'red' }]);
  const { sessions } = (await api.get('/api/sessions')).body;
  const settled = await Promise.all(
    sessions.map(async ({ id }: { id: string }) => {
      const { events } = (await api.get(`/api/sessions/${id}/events?format=json`)).body;
      const of = (type: string) => events.find((event: { type: string }) => event.type === type);
      return `${of('requestRouted').to} ${of('requestSettled').by}`;
    }),
  );
  expect(new Set(settled)).toEqual(new Set(['rules rule:all.1', 'rules rule:all.2', 'rules rule:all.3']));
});

test('what is remembered of an answer that names an option is what that option says', async () => {
  const options = [{ id: 'go', label: 'Go on', kind: 'allow_once' }];
  const ask = { type: 'approval', id: 1, description: 'Tag', tool: 'Bash', command: 'git tag v1', options };
  const { id } = await api.start({
    agent: 'puppet',
    prompt: steps({ ask }, { ask: { ...ask, id: 2 } }, { tell: 'answer' }),
  });
  const { requestId } = (await api.until(id, (event) => event.type === 'queryConsent')).at(-1);
  const path = `/api/sessions/${id}/requests/${requestId}`;
  expect((await api.post(path, { response: 'go', remember: 'session' })).status).toBe(200);
  const events = await api.until(id, (event) => event.type === 'functionResult');
  expect(events.filter(({ type }) => type === 'requestSettled')).toMatchObject([
    { by: 'user:owner', response: 'go' },
    { by: 'rule:session.1', response: true },
  ]);
});

test('a person is asked for the rest, and "always" is a rule of the store', async () => {
  const ask = { type: 'approval', id: 1, description: 'Publish', tool: 'Bash', command: 'npm publish' };
  const { id } = await api.start({ agent: 'puppet', prompt: steps({ ask }, { tell: 'answer' }) });
  const routed = (await api.until(id, (event) => event.type === 'requestRouted')).at(-1);
  expect(routed).toMatchObject({ to: 'person' });
  expect((await api.get(`/api/sessions/${id}/requests`)).body.requests).toMatchObject([
    { requestId: routed.requestId, routedTo: 'person', next: [], since: expect.any(String) },
  ]);
  expect((await api.get(`/api/sessions/${id}`)).body.waiting).toMatchObject({ asked: 'person', next: [] });
  const path = `/api/sessions/${id}/requests/${routed.requestId}`;
  expect((await api.post(path, { response: true, remember: 'sometimes' })).status).toBe(422);
  expect((await api.post(path, { response: false, reason: 'not today', remember: 'always' })).status).toBe(200);
  const events = await api.until(id, (event) => event.type === 'functionResult');
  expect(events.find((event) => event.type === 'requestSettled')).toMatchObject({ reason: 'not today' });
  expect(await told(ask)).toMatchObject([{ value: 'no', reason: 'not today' }]);

  const { rules, version } = (await api.get('/api/rules')).body;
  expect(rules.map((rule: { source: string }) => rule.source)).toEqual(['manifest', 'manifest', 'manifest', 'store']);
  expect(rules[3]).toMatchObject({
    id: expect.stringMatching(/^rule:store\./),
    agent: 'puppet',
    from: { session: id, requestId: routed.requestId },
  });
  expect(await api.call('PUT', '/api/rules', { rules: [], version: version + 7 })).toMatchObject({
    status: 409,
    body: { code: 'stale_rules', version },
  });
  expect((await api.call('PUT', '/api/rules', { rules: [{ decide: 'maybe' }], version })).status).toBe(422);
  expect((await api.call('PUT', '/api/rules', { rules: [{ tol: 'x', decide: 'ask' }], version })).status).toBe(422);
  const mine = { id: 'mine', tool: 'Deploy', decide: 'deny', reason: 'ask Ann' };
  expect((await api.call('PUT', '/api/rules', { rules: [mine], version })).body.rules.at(-1)).toMatchObject({
    id: 'rule:store.mine',
    source: 'store',
  });
  const tried = await api.post('/api/rules/try', { agent: 'puppet', request: { tool: 'Deploy', risk: 'low' } });
  expect(tried.body).toMatchObject({ decision: 'deny', rule: 'rule:store.mine', reason: 'ask Ann', others: [] });
});

test('the terminal shows them, and which decides', async () => {
  const file = join(puppets.folder, 'request.json');
  // As an editor of Windows writes it.
  await writeFile(file, `\uFEFF${JSON.stringify({ tool: 'Bash', command: 'rm -rf b' })}`);
  const { url, token } = puppets.server;
  const at = ['--url', url, '--token', token];
  const listed = await runConcerto(['rules', ...at]).ended;
  expect(listed.out).toContain('rule:all.1');
  const tried = await runConcerto(['rules', 'try', file, '--agent', 'puppet', ...at]).ended;
  expect(tried.out).toContain('deny by rule:all.1');
  expect(tried.out).toContain('not from here');
  const wrong = await runConcerto(['rules', 'try', file, ...at]).ended;
  expect(wrong.code).toBe(2);
});

test('without a server the terminal reads the manifest and the store', { timeout: 120_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'concerto-rules-'));
  const rules = async (...args: string[]) => await runConcerto(['rules', ...args], {}, folder).ended;
  try {
    await writeFile(join(folder, 'Concerto.toml'), `[agents.one]\ncommand = "true"\n${manifest}`);
    expect(await rules()).toMatchObject({ code: 0, out: expect.stringContaining('rule:all.1') });
    // Nobody looks for rules in order to make a store.
    expect(existsSync(join(folder, '.concerto'))).toBe(false);
    const args = ['--store', 'sqlite:kept/rules.db'];
    const server = await startServer({ folder, args });
    const mine = { id: 'mine', tool: 'Deploy', decide: 'deny', reason: 'ask Ann' };
    const put = await apiOf(server).call('PUT', '/api/rules', { rules: [mine], version: 0 });
    await server.stop();
    expect(put.status).toBe(200);
    expect((await rules(...args)).out).toContain('rule:store.mine');
    await writeFile(join(folder, 'request.json'), JSON.stringify({ tool: 'Deploy' }));
    const tried = await rules('try', 'request.json', '--agent', 'one', '--json', ...args);
    expect(tried.code).toBe(0);
    expect(JSON.parse(tried.out)).toMatchObject({ decision: 'deny', rule: 'rule:store.mine', reason: 'ask Ann' });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

test('a session is started with rules of its own: they come before all others', async () => {
  const file = join(puppets.folder, 'own.toml');
  await writeFile(file, '[[rules]]\ncommand = "ls *"\ndecide = "deny"\nreason = "not this time"\n');
  const ask = { type: 'approval', id: 1, description: 'x', tool: 'Bash', command: 'ls src' };
  const prompt = steps({ ask }, { tell: 'answer' });
  const env = { CONCERTO_TOKEN: api.token, CONCERTO_URL: api.url };
  const started = await runConcerto(['sessions', 'start', 'puppet', prompt, '--rules', file, '--json'], env).ended;
  expect(started.err).toBe('');
  const events = await api.until(JSON.parse(started.out).id, (event) => event.type === 'requestSettled');
  expect(events.at(-1)).toMatchObject({ by: 'rule:session.1', response: false, reason: 'not this time' });
  const empty = await runConcerto(['sessions', 'start', 'puppet', prompt, '--rules', '/dev/null'], env).ended;
  expect([empty.code, empty.err]).toEqual([2, expect.stringContaining('has no [[rules]]')]);
}, 60_000);

test('a policy is tried on the past: which answers differ, by whom then and why now; 1 if any does', async () => {
  const ask = { type: 'approval', id: 1, description: 'x', tool: 'Bash', command: 'make all' };
  const { id } = await api.start({ agent: 'puppet', prompt: steps({ ask }, { tell: 'answer' }) });
  const [asked] = (await api.until(id, (event) => event.type === 'queryConsent')).slice(-1);
  await api.post(`/api/sessions/${id}/requests/${asked.requestId}`, { response: true });
  await api.until(id, (event) => event.type === 'requestSettled');
  const policy = join(puppets.folder, 'policy.toml');
  await writeFile(policy, '[[rules]]\ncommand = "make *"\ndecide = "deny"\nreason = "not here"\n');
  const env = { CONCERTO_TOKEN: api.token, CONCERTO_URL: api.url };
  const replay = (...args: string[]) => runConcerto(['sessions', 'replay', ...args, '--rules', policy], env).ended;
  const [one, all] = await Promise.all([replay(id), replay('--since', '1d', '--json')]);
  expect(one.code).toBe(1);
  expect(one.out).toContain('then  allow by user:owner');
  expect(one.out).toContain('now   deny by rule:all.1 (not here)');
  expect(one.out).toContain('1 request of 1 session: 1 differs, 0 are the same\n');
  expect(all.code).toBe(1);
  expect(JSON.parse(all.out).requests).toContainEqual(expect.objectContaining({ session: id, outcome: 'differs' }));
  const program = join(puppets.folder, 'strict.conc');
  const handler = '"approval" => |a: Approval| { if a.command == "make all" { "no, too slow" } else { nil } }';
  await writeFile(program, `@supervisor\nfn strict(session: Session) { listen session { ${handler} }; }\n`);
  const supervised = await runConcerto(['sessions', 'replay', id, '--supervisor', program], env).ended;
  expect([supervised.code, supervised.err]).toEqual([1, '']);
  expect(supervised.out).toContain('now   deny by supervisor:strict (too slow)');
  const nobody = await runConcerto(['sessions', 'replay', id, '--supervisor', 'nobody'], env).ended;
  expect([nobody.code, nobody.err]).toEqual([2, expect.stringContaining('there is no program "nobody"')]);
}, 120_000);

test('what the agent of a program asked is replayed with the rules of the agent that its connector names', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'concerto-replay-'));
  const script = `
    require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const say = (message) => console.log(JSON.stringify(message));
      if (line.includes('response')) say({ type: 'result', text: 'done' });
      else say({ type: 'approval', id: 1, description: 'x', tool: 'Deploy' });
    });`;
  const agent = `[agents.asks]\ncommand = ${JSON.stringify(process.execPath)}\nargs = ["-e", ${JSON.stringify(script)}]\n`;
  const rule = '[[agents.asks.rules]]\ntool = "Deploy"\ndecide = "allow"\n';
  await writeFile(join(folder, 'Concerto.toml'), `${agent}${rule}[programs.calls]\nentry = "calls.conc"\n`);
  const source = 'agent Worker { connector: asks }\nfn main() -> Result<String, AgentError> { Worker.execute("go") }\n';
  await writeFile(join(folder, 'calls.conc'), source);
  const server = await startServer({ folder });
  try {
    const own = apiOf(server);
    const { id } = await own.start({ program: 'calls' });
    const events = await own.until(id, ({ type }) => type === 'finish');
    const child = events.find(({ childSession }: { childSession?: string }) => childSession !== undefined).childSession;
    const env = { CONCERTO_TOKEN: server.token, CONCERTO_URL: server.url };
    const args = ['sessions', 'replay', child, '--rules', 'Concerto.toml'];
    const replayed = await runConcerto(args, env, folder).ended;
    expect(replayed.out).toContain('1 request of 1 session: 0 differ, 1 is the same');
    expect(replayed.code).toBe(0);
  } finally {
    await server.kill();
    await rm(folder, { recursive: true, force: true });
  }
}, 120_000);
