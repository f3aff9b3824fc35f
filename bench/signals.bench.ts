import { createSignalParser, type SignalEvent } from '@concerto/signals';
import { compare, median, type Row, spreadOf } from './row.ts';
import { mixedTranscript } from './signals-transcript.ts';

export const name = '§ parser: MB/s of a mixed transcript, deltas on, against indexOf and one event object a chunk';

/** Events are kept for a while, as a consumer would, so that neither side's allocation can be optimised away. */
const RING = 1024;

const sizes = [
  { chunk: 4, megabytes: 12, target: 0.3 },
  { chunk: 64, megabytes: 24, target: 0.12 },
  { chunk: 4096, megabytes: 50, target: 0.06 },
] as const;

export async function run(): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const { chunk, megabytes, target } of sizes) {
    const text = mixedTranscript(megabytes * 1e6);
    const rate = megabytesPerSecond(text);
    const chunks = cut(text, chunk);
    const row = { name: `mixed transcript, chunks of ${chunk}`, unit: 'MB/s', target: `>= ${target}` };
    rows.push(
      await compare(row, { ours: () => rate(() => parse(chunks)), reference: () => rate(() => floor(chunks)) }),
    );
  }
  rows.push(await growth('one RESPOND block of 50 MB against one of 5 MB', respond(50e6), respond(5e6)));
  rows.push(await growth('CALLS blocks of 1 MB against blocks of 10 kB', callsOf(1e6), callsOf(1e4)));
  rows.push(await memory());
  return rows;
}

/** Each chunk is a string of its own, read from JSON as a provider's client reads it; a slice would share memory. */
function cut(text: string, size: number): string[] {
  return Array.from({ length: Math.ceil(text.length / size) }, (_, index): string =>
    JSON.parse(JSON.stringify(text.slice(index * size, (index + 1) * size))),
  );
}

/** By processor time: others who use the machine at the same time should not count. */
function megabytesPerSecond(text: string): (work: () => void) => number {
  const bytes = Buffer.byteLength(text);
  return (work) => {
    const start = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(start);
    return bytes / (user + system);
  };
}

function parse(chunks: readonly string[]): void {
  const ring: (SignalEvent | undefined)[] = Array.from({ length: RING });
  let count = 0;
  const parser = createSignalParser({}, (event) => {
    ring[count++ % RING] = event;
  });
  for (const chunk of chunks) parser.push(chunk);
  parser.finish();
}

/** What no emitter of deltas can undercut: look for every sign, make one event. */
function floor(chunks: readonly string[]): void {
  const ring: ({ type: string; content: string; timestamp: number; block: number } | undefined)[] = Array.from({
    length: RING,
  });
  let count = 0;
  let block = 0;
  for (const chunk of chunks) {
    for (let at = chunk.indexOf('§'); at !== -1; at = chunk.indexOf('§', at + 1)) block++;
    ring[count++ % RING] = { type: 'respond', content: chunk, timestamp: 0, block };
  }
}

/** The cost of a byte must not grow with the block. */
async function growth(title: string, long: string, short: string): Promise<Row> {
  const longChunks = cut(long, 64);
  const shortChunks = cut(short, 64);
  return compare(
    { name: title, unit: 'MB/s', target: '>= 0.80' },
    {
      ours: () => megabytesPerSecond(long)(() => parse(longChunks)),
      reference: () => megabytesPerSecond(short)(() => parse(shortChunks)),
    },
  );
}

function respond(bytes: number): string {
  return `§RESPOND: ${'the quick brown fox jumps over the lazy dog.\n'.repeat(bytes / 45)}§END:`;
}

/** As many blocks as make up 20 MB, each with a call of this size. */
function callsOf(bytes: number): string {
  const body = 'the quick brown fox jumps over the lazy dog, '.repeat(bytes / 45);
  return `§CALLS: [{"name":"write","args":{"text":"${body}"}}]\n`.repeat(20e6 / bytes);
}

/** What the heap holds after 50 MB of one block, against after 5 MB; the events themselves are not kept. */
async function memory(): Promise<Row> {
  const ours: number[] = [];
  const reference: number[] = [];
  for (let round = 0; round < 5; round++) {
    reference.push(heapAfter(5e6));
    ours.push(heapAfter(50e6));
  }
  const ratios = ours.map((value, index) => value / (reference[index] ?? Number.NaN));
  const row = { name: 'heap after 50 MB of one block against 5 MB', unit: 'MB', target: '<= 1.1' };
  return { ...row, ours: median(ours), reference: median(reference), ratio: median(ratios), spread: spreadOf(ratios) };
}

function heapAfter(bytes: number): number {
  const line = 'the quick brown fox jumps over the lazy dog\n';
  let length = 0;
  const parser = createSignalParser({}, (event) => {
    if ('content' in event) length += event.content.length;
  });
  parser.push('§RESPOND: ');
  for (let fed = 0; fed < bytes; fed += line.length) parser.push(line);
  globalThis.gc?.();
  const heap = process.memoryUsage().heapUsed / 1e6;
  parser.finish();
  return length > 0 ? heap : Number.NaN;
}
