import { agentSpecOf } from '@concerto/agents';
import { ok } from '@concerto/base';
import { buildProgram, readManifest } from '@concerto/language';
import { afterEach, expect, test } from 'vitest';
import type { CatalogEntry } from '../src/index.ts';
import { openStage, type Stage } from './session-stage.ts';

/** Counts its turns, and says how long each prompt was. */
const counts = `
let turn = 0;
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { text } = line.startsWith('{') ? JSON.parse(line) : { text: line };
  console.log(JSON.stringify({ type: 'result', text: ++turn + ':' + text.length }));
});
`;
const refuses = `
process.stdin.once('data', () => console.log(JSON.stringify({ type: 'error', message: 'bad key' })));
`;
/** Takes its time over everything. */
const slow = `
process.stdin.once('data', () => process.stderr.write('stuck here\\n'));
setInterval(() => {}, 1000);
`;

const entryOf = (name: string, script: string, more = ''): string =>
  `[agents.${name}]\ncommand = ${JSON.stringify(process.execPath)}\nargs = ["-e", ${JSON.stringify(script)}]\n${more}`;
/** Knows nothing of messages. */
const plain = `process.stdin.on('data', () => console.log('Welcome, stranger'));`;

const { manifest } = readManifest(
  [
    entryOf('strict', plain, 'plain_text = "error"\n'),
    entryOf('json', counts, 'input_format = "json"\n'),
    entryOf('text', counts, 'input_format = "text"\n'),
    entryOf('refuses', refuses, '[agents.refuses.params]\nkey = "x"\n'),
    entryOf('slow', slow, 'timeout = 1\n'),
  ].join(''),
);

let stage: Stage;
afterEach(async () => {
  await stage.close();
});

async function resultOf(body: string): Promise<unknown> {
  const agents = ['json', 'text', 'refuses', 'slow', 'strict'].map(
    (name) => `agent ${name.toUpperCase()} { connector: ${name} }`,
  );
  const source = `${agents.join('\n')}\nfn main() -> Array<Any> { ${body} }`;
  const { module, diagnostics } = buildProgram({ entry: 'main.conc', readFile: () => source, manifest });
  if (module === undefined) throw new Error(diagnostics.map(({ message }) => message).join('\n'));
  const entries: CatalogEntry[] = [{ kind: 'program', name: 'p', load: () => ok({ module, projectDirectory: '.' }) }];
  stage = openStage({ agents: [], entries });
  const started = await stage.start({ program: 'p' });
  if (!started.ok) throw new Error(started.error.message);
  const { id } = started.value;
  await stage.until(id, (event) => event.type === 'finish');
  return (await stage.sessions.get(id))?.result;
}

const outcome = (call: string): string =>
  `match ${call} { Ok(v) => "${'${v}'}", Err(e) => "${'${e.kind}'}: ${'${e.message}'}, ${'${e.details}'}" }`;

test('a prompt of a program may be empty, or longer than what people send, and the process serves on', async () => {
  const calls = ['JSON.execute("")', 'JSON.execute("x".repeat(200000))', 'JSON.execute("again")'].map(outcome);
  expect(await resultOf(`[${calls.join(', ')}]`)).toMatchObject({ value: ['1:0', '2:200000', '3:5'] });
});

test('a prompt of several lines is one line to an agent that takes text', async () => {
  const calls = ['TEXT.execute("two\\nlines")', 'TEXT.execute("again")'].map(outcome);
  expect(await resultOf(`[${calls.join(', ')}]`)).toMatchObject({ value: ['1:10', '2:5'] });
});

test('what was on stderr is in the error of one that did not come up, and of one that took too long', async () => {
  const read = (call: string): string => `match ${call} { Ok(_) => "ok", Err(e) => e.details.stderr }`;
  expect(await resultOf(`[${read('REFUSES.execute("x")')}, ${read('SLOW.execute("x")')}]`)).toMatchObject({
    value: ['', 'stuck here\n'],
  });
});

test('plain text of an agent that must not write any fails the call, or the turn, and names the line', async () => {
  const said = 'agent "STRICT" wrote a line that is no typed message: Welcome, stranger';
  const result = await resultOf(`[${outcome('STRICT.execute("hello")')}]`);
  expect(result).toMatchObject({ value: [expect.stringContaining(`protocol: ${said}`)] });
  await stage.close();
  stage = openStage({ agents: [], entries: [{ kind: 'agent', name: 'strict', spec: strictSpec() }] });
  const started = await stage.start({ agent: 'strict', prompt: 'hello' });
  if (!started.ok) throw new Error(started.error.message);
  const ended = await stage.until(started.value.id, (event) => event.type === 'turnComplete');
  expect(ended).toMatchObject({ outcome: 'failed', reason: said.replace('STRICT', 'strict') });
});

function strictSpec() {
  return agentSpecOf('strict', manifest?.agents.strict, '.');
}
