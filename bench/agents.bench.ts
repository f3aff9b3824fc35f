import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startAgent } from '@concerto/agents';
import { LineSplitter, parseAgentLine } from '@concerto/protocol';
import { compare, median, type Row } from './row.ts';

export const name = 'agents: what the wire costs';

const lines = 200_000;
const trips = 2_000;

/** Half progress, half partial: what a working agent says. */
const line = (index: number): string =>
  index % 2 === 0
    ? JSON.stringify({
        type: 'progress',
        message: `step ${index}: reading packages/session/src/decide.ts`,
        percent: index % 100,
      })
    : JSON.stringify({ type: 'partial', text: `The change ${index} touches the login and two of its callers, ` });

const asker = `
import { createInterface } from 'node:readline';
let left = 0;
createInterface({ input: process.stdin }).on('line', (text) => {
  const message = JSON.parse(text);
  if (message.type === 'prompt') left = Number(message.text);
  if (left-- > 0) process.stdout.write('{"type":"question","id":"q","question":"go on?"}\\n');
  else process.stdout.write('{"type":"result","text":"done"}\\n');
});`;

export async function run(): Promise<readonly Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'concerto-bench-'));
  try {
    return [await ingest(), await roundTrip(folder)];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function ingest(): Promise<Row> {
  const texts = Array.from({ length: lines }, (_, index) => line(index));
  const bytes = Buffer.from(`${texts.join('\n')}\n`);
  const chunks = Array.from({ length: Math.ceil(bytes.length / 65_536) }, (_, index) =>
    bytes.subarray(index * 65_536, (index + 1) * 65_536),
  );
  return await compare(
    { name: 'NDJSON ingest: split, parse, check', unit: 'lines/s', target: '>= 0.85' },
    {
      ours: () =>
        perSecond(lines, () => {
          const splitter = new LineSplitter();
          let messages = 0;
          for (const chunk of chunks) {
            for (const text of splitter.push(chunk)) {
              if (typeof text === 'string' && parseAgentLine(text).kind === 'message') messages++;
            }
          }
          if (messages !== lines) throw new Error(`${messages} of ${lines} messages`);
        }),
      reference: () =>
        perSecond(lines, () => {
          for (const text of texts) JSON.parse(text);
        }),
    },
  );
}

async function roundTrip(folder: string): Promise<Row> {
  const file = join(folder, 'asker.mjs');
  writeFileSync(file, asker);
  return await compare(
    { name: 'question to answer over stdio', unit: 'µs', target: '<= 1.5' },
    { ours: () => questionTrips(file), reference: () => pipeTrips(file) },
  );
}

/** The median of the trips, in µs: a mean would tell of whatever else ran meanwhile. */
async function questionTrips(file: string): Promise<number> {
  const agent = await startAgent({ name: 'asker', command: process.execPath, args: [file] }, {});
  const times: number[] = [];
  let asked = performance.now();
  await agent.prompt({ text: String(trips) });
  for await (const batch of agent.output) {
    for (const item of batch) {
      if (item.kind !== 'message') continue;
      times.push(performance.now() - asked);
      if (item.message.type === 'result') {
        await agent.end();
        return median(times) * 1000;
      }
      asked = performance.now();
      void agent.reply({ inReplyTo: 'question', inReplyToId: 'q', value: 'yes' });
    }
  }
  throw new Error(`the agent ended after ${times.length} questions`);
}

/** The same agent at the end of a bare pipe: a write, and whatever comes back. */
async function pipeTrips(file: string): Promise<number> {
  const child = spawn(process.execPath, [file], { stdio: ['pipe', 'pipe', 'inherit'] });
  const message = '{"type":"response","in_reply_to":"question","in_reply_to_id":"q","value":"yes"}\n';
  child.stdin.write(`${JSON.stringify({ type: 'prompt', text: String(trips + 2) })}\n`);
  await once(child.stdout, 'data');
  const times: number[] = [];
  await new Promise<void>((resolve) => {
    let asked = performance.now();
    child.stdout.on('data', () => {
      times.push(performance.now() - asked);
      if (times.length === trips) return resolve();
      asked = performance.now();
      child.stdin.write(message);
    });
    child.stdin.write(message);
  });
  child.kill();
  return median(times) * 1000;
}

/** By processor time: others who use the machine at the same time should not count. */
function perSecond(count: number, work: () => void): number {
  const start = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(start);
  return count / ((user + system) / 1e6);
}
