import { readManifest } from '@concerto/language';
import { OverviewEvent, readStored } from '@concerto/protocol';
import { afterEach, expect, test } from 'vitest';
import { Overview, overviewStream, systemClock } from '../src/index.ts';
import { programEntry } from './program-entry.ts';
import { openStage, type Stage } from './session-stage.ts';

const user = { actor: 'user:ann', key: undefined };
let stage: Stage;
afterEach(async () => {
  await stage.close();
});

/** Asks what its prompt says, one after the other. */
const asking = `
const say = (message) => console.log(JSON.stringify(message));
let left = [];
say({ type: 'init_ack', version: '1', capabilities: [] });
const next = () => {
  const id = left.shift();
  say(id === undefined ? { type: 'result', text: 'over' } : { type: 'question', id, question: id });
};
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const message = line.startsWith('{') ? JSON.parse(line) : { type: 'prompt', text: line };
  if (message.type === 'prompt') left = message.text.split(' ');
  if (message.type === 'prompt' || message.type === 'response') next();
});
`;

const source = `agent Worker { connector: asks }
async fn main() -> Result<String, String> {
    let done = listen Worker.execute("mine too") {
        "question" => |q: Question| { "here" },
    };
    let _ = Worker.execute("ruled yours")?;
    Ok("over")
}`;

async function told(): Promise<readonly OverviewEvent[]> {
  const { entries } = await stage.log.read({ session: overviewStream, stream: 'events', after: 0, limit: 1_000 });
  return entries.map(({ data }) => readStored(OverviewEvent, JSON.parse(data)));
}

test('who watches for what waits for people hears that a request is settled where it was told of that request', async () => {
  const declared = readManifest(
    `[agents.asks]\ncommand = ${JSON.stringify(process.execPath)}\nargs = ${JSON.stringify(['-e', asking])}\n`,
  );
  const spec = { name: 'asks', command: process.execPath, args: ['-e', asking] };
  const rules = [{ text: 'ruled', decide: 'answer:so' }];
  const asks = { kind: 'agent', name: 'asks', spec, rules } as const;
  stage = openStage({ agents: [], entries: [asks, programEntry('hears', source, declared)] });
  const { log, store } = stage;
  const overview = new Overview({ log, store, clock: systemClock, report: () => undefined });
  const program = await stage.start({ program: 'hears' });
  const alone = await stage.start({ agent: 'asks', prompt: 'ruled yours' });
  if (!program.ok || !alone.ok) throw new Error('not started');
  const { id } = program.value;
  const child = String((await stage.until(id, ({ childSession }) => childSession !== undefined)).childSession);
  for (const session of [child, alone.value.id]) {
    const isYours = (event: Record<string, unknown>): boolean =>
      event.type === 'waitForInput' && JSON.stringify(event).includes('"yours"');
    const request = String((await stage.until(session, isYours)).requestId);
    expect(await stage.sessions.answer({ session, request }, { response: 'there' }, user)).toMatchObject({ ok: true });
  }
  await stage.until(id, (event) => event.type === 'complete');
  await stage.until(alone.value.id, (event) => event.type === 'functionResult');
  await overview.close();
  const requests = (await told()).filter((event) => event.type === 'request');
  const settled = (await told()).filter((event) => event.type === 'requestSettled');
  expect(requests).toHaveLength(2);
  expect(settled.map(({ requestId }) => requestId).toSorted()).toEqual(
    requests.map(({ requestId }) => requestId).toSorted(),
  );
});
