import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AgentKeeper, type KeptAgent, startAgent } from '@concerto/agents';
import { KeeperClient } from '@concerto/keeper';
import { compare, median, type Row } from './row.ts';

export const name = 'keeper: what it costs that agents outlive the server';

const lines = 100_000;
const trips = 1_000;

const talker = `
import { createInterface } from 'node:readline';
const line = (i) => '{"type":"partial","text":"The change ' + i + ' touches the login and two of its callers, "}\\n';
let left = 0;
createInterface({ input: process.stdin }).on('line', (text) => {
  const message = JSON.parse(text);
  if (message.type === 'prompt' && message.text === 'talk') {
    let i = 0;
    const more = () => {
      while (i < ${lines}) if (!process.stdout.write(line(i++))) return process.stdout.once('drain', more);
      process.stdout.write('{"type":"result","text":"done"}\\n');
    };
    return more();
  }
  if (message.type === 'prompt') left = Number(message.text);
  if (left-- > 0) process.stdout.write('{"type":"question","id":"q","question":"go on?"}\\n');
  else process.stdout.write('{"type":"result","text":"done"}\\n');
});`;

export async function run(): Promise<readonly Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'concerto-bench-'));
  const file = join(folder, 'talker.mjs');
  writeFileSync(file, talker);
  const keeper = new AgentKeeper(new KeeperClient({ folder: join(folder, 'keeper') }), 60_000);
  let started = 0;
  const kept = (): KeptAgent => keeper.begin(`agent-${++started}`, 1);
  try {
    return [
      await compare(
        { name: 'ingest of an agent that a keeper holds, against our child', unit: 'lines/s', target: '>= 0.70' },
        { ours: () => ingest(file, kept()), reference: () => ingest(file) },
      ),
      await compare(
        { name: 'question to answer through the keeper, against our child', unit: 'µs', target: '<= 2.0' },
        { ours: () => questionTrips(file, kept()), reference: () => questionTrips(file) },
      ),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function ingest(file: string, kept?: KeptAgent): Promise<number> {
  const agent = await startAgent(
    { name: 'talker', command: process.execPath, args: [file] },
    kept === undefined ? {} : { kept },
  );
  await agent.prompt({ text: 'talk' });
  const began = performance.now();
  let heard = 0;
  for await (const batch of agent.output) {
    heard += batch.length;
    if (heard > lines) break;
  }
  const rate = lines / ((performance.now() - began) / 1000);
  await agent.end({ atWork: true });
  agent.kept?.forget();
  return rate;
}

/** The median of the trips, in µs: a mean would tell of whatever else ran meanwhile. */
async function questionTrips(file: string, kept?: KeptAgent): Promise<number> {
  const agent = await startAgent(
    { name: 'asker', command: process.execPath, args: [file] },
    kept === undefined ? {} : { kept },
  );
  const times: number[] = [];
  let asked = performance.now();
  await agent.prompt({ text: String(trips) });
  for await (const batch of agent.output) {
    for (const item of batch) {
      if (item.kind !== 'message') continue;
      times.push(performance.now() - asked);
      if (item.message.type === 'result') {
        await agent.end({ atWork: true });
        agent.kept?.forget();
        return median(times) * 1000;
      }
      asked = performance.now();
      void agent.reply({ inReplyTo: 'question', inReplyToId: 'q', value: 'yes' });
    }
  }
  throw new Error(`the agent ended after ${times.length} questions`);
}
