import { ok } from '@concerto/base';
import { buildProgram, readManifest } from '@concerto/language';
import { afterEach, expect, test } from 'vitest';
import type { CatalogEntry } from '../src/index.ts';
import { openStage, type Stage } from './session-stage.ts';

/** Asks, and goes on without an answer where it gets none. */
const script = `
const lines = require('node:readline').createInterface({ input: process.stdin });
const say = (message) => console.log(JSON.stringify(message));
say({ type: 'init_ack', capabilities: ['interrupt', 'cancel'] });
lines.on('line', (line) => {
  const message = JSON.parse(line.startsWith('{') ? line : JSON.stringify({ type: 'prompt' }));
  if (message.type === 'prompt') say({ type: 'question', id: 'q1', question: 'Which?' });
  if (message.type === 'response') say({ type: 'result', text: 'then without' });
  if (message.type === 'interrupt' || message.type === 'cancel')
    setTimeout(() => say({ type: 'ack', in_reply_to: message.type, in_reply_to_id: message.id }), 50);
});
`;

const { manifest } = readManifest(
  `[agents.asks]\ncommand = ${JSON.stringify(process.execPath)}\nargs = ["-e", ${JSON.stringify(script)}]\n`,
);

const source = `
agent Coder { connector: asks }
fn main() -> Result<String, String> {
    match Coder.execute("go") {
        Ok(result) => Ok("it said: \${result}"),
        Err(error) => Ok("\${error.kind}: \${error.message}"),
    }
}
`;

let stage: Stage | undefined;
afterEach(async () => {
  await stage?.close();
});

test.each([
  ['cancel', 'cancelled'],
  ['interrupt', 'interrupted'],
] as const)(
  'an agent that somebody asks to %s, and that answers the withdrawn question with a result, was %s: an error of the call',
  async (verb, outcome) => {
    const { module, diagnostics } = buildProgram({ entry: 'main.conc', readFile: () => source, manifest });
    if (module === undefined) throw new Error(diagnostics.map(({ message }) => message).join('\n'));
    const entries: CatalogEntry[] = [
      { kind: 'agent', name: 'asks', spec: { name: 'asks', command: process.execPath, args: ['-e', script] } },
      { kind: 'program', name: 'p', load: () => ok({ module, projectDirectory: '.' }) },
    ];
    const here = openStage({ agents: [], entries });
    stage = here;
    const started = await here.start({ program: 'p' });
    if (!started.ok) throw new Error(started.error.message);
    const { id } = started.value;
    const call = await here.until(id, (event) => event.childSession !== undefined);
    const child = String(call.childSession);
    await here.until(child, (event) => event.type === 'waitForInput');
    const asked = await here.sessions.control(child, verb, { actor: 'user:ann', key: undefined });
    expect(asked.ok).toBe(true);
    expect(await here.until(child, (event) => event.type === 'turnComplete')).toMatchObject({ outcome });
    await here.until(id, (event) => event.type === 'finish');
    expect((await here.sessions.get(id))?.result).toEqual({
      text: `cancelled: agent Coder was ${outcome} by user:ann`,
    });
    const shown = await here.until(id, (event) => event.type === 'functionResult' && event.callId === call.callId);
    expect(shown).toMatchObject({ outcome: 'cancelled' });
    await here.until(child, (event) => event.type === 'finish');
    expect(await here.sessions.get(child)).toMatchObject({ status: 'cancelled', reason: outcome });
  },
);

test('one whose question nobody answered in time, and that fails for it, has run out of time', async () => {
  const { module, diagnostics } = buildProgram({ entry: 'main.conc', readFile: () => source, manifest });
  if (module === undefined) throw new Error(diagnostics.map(({ message }) => message).join('\n'));
  const spec = { name: 'asks', command: process.execPath, args: ['-e', script] };
  const entries: CatalogEntry[] = [
    { kind: 'agent', name: 'asks', spec, answerWithinMs: 300, onTimeout: 'fail' },
    { kind: 'program', name: 'p', load: () => ok({ module, projectDirectory: '.' }) },
  ];
  stage = openStage({ agents: [], entries });
  const started = await stage.start({ program: 'p' });
  if (!started.ok) throw new Error(started.error.message);
  const { id } = started.value;
  await stage.until(id, (event) => event.type === 'finish');
  expect((await stage.sessions.get(id))?.result).toEqual({
    text: 'timeout: agent Coder: nobody answered within 0.3 seconds',
  });
});
