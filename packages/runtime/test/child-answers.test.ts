import { ok } from '@concerto/base';
import { buildProgram, readManifest } from '@concerto/language';
import { afterEach, expect, test } from 'vitest';
import type { CatalogEntry } from '../src/index.ts';
import { openStage, type Stage } from './session-stage.ts';

/** Asks whether it may run something, naming only the call that it is about, and tells what it heard. */
const script = `
const lines = require('node:readline').createInterface({ input: process.stdin });
const say = (message) => console.log(JSON.stringify(message));
lines.on('line', (line) => {
  const message = JSON.parse(line.startsWith('{') ? line : JSON.stringify({ type: 'prompt' }));
  if (message.type === 'prompt') {
    say({ type: 'tool_call', id: 'c1', name: 'Bash', kind: 'execute', args: { command: 'rm -rf b' } });
    say({ type: 'approval', id: 'a1', description: 'May I?', call: 'c1' });
  }
  if (message.type === 'response') say({ type: 'result', text: String(message.value) + ', ' + (message.reason ?? '') });
});
`;

const { manifest } = readManifest(
  `[agents.asks]\ncommand = ${JSON.stringify(process.execPath)}\nargs = ["-e", ${JSON.stringify(script)}]\n`,
);

let stage: Stage;
afterEach(async () => {
  await stage.close();
});

function open(body: string): void {
  const source = `agent Coder { connector: asks }\nfn main() -> Result<String, AgentError> { ${body} }`;
  const { module, diagnostics } = buildProgram({ entry: 'main.conc', readFile: () => source, manifest });
  if (module === undefined) throw new Error(diagnostics.map(({ message }) => message).join('\n'));
  const rules = [{ tool: 'Bash', command: 'rm *', decide: 'deny', reason: 'not from here' }];
  const entries: CatalogEntry[] = [
    { kind: 'agent', name: 'asks', spec: { name: 'asks', command: process.execPath, args: ['-e', script] }, rules },
    { kind: 'program', name: 'p', load: () => ok({ module, projectDirectory: '.' }) },
  ];
  stage = openStage({ agents: [], entries });
}

async function ended(): Promise<{ readonly result: unknown; readonly child: string }> {
  const started = await stage.start({ program: 'p' });
  if (!started.ok) throw new Error(started.error.message);
  const { id } = started.value;
  await stage.until(id, (event) => event.type === 'finish');
  const call = await stage.until(id, (event) => event.childSession !== undefined);
  return { result: (await stage.sessions.get(id))?.result, child: String(call.childSession) };
}

test('a call without handlers: the rules of the agent answer, also about a call that is only named', async () => {
  open('Coder.execute("go")');
  const { result, child } = await ended();
  expect(result).toMatchObject({ text: 'no, not from here' });
  expect(await stage.until(child, (event) => event.type === 'requestSettled')).toMatchObject({
    by: 'rule:agents.asks.1',
  });
});

test('a call with handlers: the program answers first, and everybody sees that it is asked', async () => {
  open('let r = listen Coder.execute("go") { "approval" => |a| { "yes" } }?; Ok("${r.text}")');
  const { result, child } = await ended();
  expect(result).toMatchObject({ text: 'yes, ' });
  const parent = (await stage.sessions.get(child))?.parent;
  const by = `program:${parent}`;
  expect(await stage.until(child, (event) => event.type === 'requestRouted')).toMatchObject({ to: by });
  expect(await stage.until(child, (event) => event.type === 'requestSettled')).toMatchObject({ by });
});
