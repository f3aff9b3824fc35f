import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { AgentKeeper, type KeptAgent, startAgent } from '@concerto/agents';
import { KeeperClient } from '@concerto/keeper';
import { compare, type Row } from './row.ts';

type Programs = { readonly talker: string; readonly relay: string };

export const name = 'keeper: what it costs that agents outlive the server';

const lines = 100_000;
/** Before the first round: what is measured is agents that have been at work, not how their code is compiled. */
const tripsBefore = 2_000;
/** Ours and the reference take turns trip by trip, so that what the scheduler does hits both alike. */
const trips = 300;
/**
 * Between two trips, since no agent asks in one breath. Without it a child comes to share our core, and a trip to it costs
 * a third of what the first one of an idle agent does.
 */
const pauseMs = 5;

/** A process in the middle that does nothing but hand on: what a keeper takes beyond it is the keeper's own. */
const relay = `
import { spawn } from 'node:child_process';
const child = spawn(process.execPath, process.argv.slice(2), { stdio: ['pipe', 'pipe', 'inherit'] });
process.stdin.on('data', (chunk) => child.stdin.write(chunk));
child.stdout.on('data', (chunk) => process.stdout.write(chunk));`;

const talker = `
import { createInterface } from 'node:readline';
const line = (i) => '{"type":"partial","text":"The change ' + i + ' touches the login and two of its callers, "}\\n';
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
  process.stdout.write('{"type":"question","id":"q","question":"go on?"}\\n');
});`;

export async function run(): Promise<readonly Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'concerto-bench-'));
  const programs = { talker: join(folder, 'talker.mjs'), relay: join(folder, 'relay.mjs') };
  writeFileSync(programs.talker, talker);
  writeFileSync(programs.relay, relay);
  const keeper = new AgentKeeper(new KeeperClient({ folder: join(folder, 'keeper') }), 60_000);
  let started = 0;
  const kept = (): KeptAgent => keeper.begin(`agent-${++started}`, 1);
  try {
    return [
      await compare(
        { name: 'ingest of an agent that a keeper holds, against our child', unit: 'lines/s', target: '>= 0.70' },
        { ours: () => ingest(programs.talker, kept()), reference: () => ingest(programs.talker) },
      ),
      ...(await questions(programs, kept())),
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

/** All agents live all the while. */
async function questions({ talker, relay }: Programs, kept: KeptAgent): Promise<readonly Row[]> {
  const ours = await startAsker([talker], kept);
  const child = await startAsker([talker]);
  const relayed = await startAsker([relay, talker]);
  const against = (reference: Asker) => ({ ours: () => afterPause(ours), reference: () => afterPause(reference) });
  try {
    for (let n = 0; n < tripsBefore; n++) for (const { trip } of [child, relayed, ours]) await trip();
    return [
      await compare(
        { name: 'question to answer through the keeper, against our child', unit: 'µs', target: '<= 2.0' },
        against(child),
        trips,
      ),
      await compare({ name: 'the same, against a relay that only hands on', unit: 'µs' }, against(relayed), trips),
    ];
  } finally {
    for (const { stop } of [child, relayed, ours]) await stop();
  }
}

type Asker = { readonly trip: () => Promise<number>; readonly stop: () => Promise<void> };

async function afterPause({ trip }: Asker): Promise<number> {
  await sleep(pauseMs);
  return await trip();
}

/** An agent whose every answer is followed by its next question. */
async function startAsker(args: readonly string[], kept?: KeptAgent): Promise<Asker> {
  const agent = await startAgent(
    { name: 'asker', command: process.execPath, args },
    kept === undefined ? {} : { kept },
  );
  const batches = agent.output[Symbol.asyncIterator]();
  const question = async (): Promise<void> => {
    for (;;) {
      const { done, value } = await batches.next();
      if (done === true) throw new Error('the agent ended');
      if (value.some(({ kind }) => kind === 'message')) return;
    }
  };
  await agent.prompt({ text: 'ask' });
  await question();
  return {
    /** From our answer to its next question, in µs. */
    trip: async () => {
      const from = performance.now();
      const taken = agent.reply({ inReplyTo: 'question', inReplyToId: 'q', value: 'yes' });
      await question();
      const took = (performance.now() - from) * 1000;
      await taken;
      return took;
    },
    stop: async () => {
      await agent.end({ atWork: true });
      agent.kept?.forget();
    },
  };
}
