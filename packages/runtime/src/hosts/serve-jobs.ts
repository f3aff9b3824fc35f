import { readSync, writeSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import { Worker } from 'node:worker_threads';
import type { FromHost, ToHost } from './host-process.ts';

const [input, output] = [0, 1];
const pieceBytes = 64 * 1024;
const pauseMs = 1;
const lookEveryMs = 500;
const never = new Int32Array(new SharedArrayBuffer(4));

/** The other end of a `HostProcess`: does one job after the other, until nobody has any more. Waits without an event loop. */
export function serveJobs(perform: (job: unknown) => unknown): void {
  const decoder = new StringDecoder('utf8');
  const buffer = Buffer.allocUnsafe(pieceBytes);
  let pieces: string[] = [];
  const lookout = dieWithParent();
  say({ number: 0 });
  for (
    let bytes = patiently(() => readSync(input, buffer));
    bytes > 0;
    bytes = patiently(() => readSync(input, buffer))
  ) {
    const lines = decoder.write(buffer.subarray(0, bytes)).split('\n');
    const last = lines.pop() ?? '';
    for (const line of lines) {
      const message: ToHost = JSON.parse(pieces.length === 0 ? line : [...pieces, line].join(''));
      pieces = [];
      say(reply(message, perform));
    }
    if (last !== '') pieces.push(last);
  }
  void lookout.terminate();
}

/** Whoever computes does not hear that nobody waits for it any more: another thread looks, so that nothing is left of a server that was killed. */
function dieWithParent(): Worker {
  const text = `setInterval(() => { if (process.ppid !== ${process.ppid}) process.kill(process.pid, 'SIGKILL'); }, ${lookEveryMs})`;
  return new Worker(text, { eval: true, env: {}, execArgv: [], resourceLimits: { maxOldGenerationSizeMb: 8 } });
}

function reply({ number, job }: ToHost, perform: (job: unknown) => unknown): FromHost {
  try {
    return { number, value: perform(job) };
  } catch (cause) {
    const { name, message } = cause instanceof Error ? cause : new Error(String(cause));
    return { number, error: { kind: name, message } };
  }
}

function say(message: FromHost): void {
  const bytes = Buffer.from(`${JSON.stringify(message)}\n`);
  for (let at = 0; at < bytes.length; ) at += patiently(() => writeSync(output, bytes, at));
}

/** A pipe may be one that does not wait by itself. */
function patiently(work: () => number): number {
  for (;;) {
    try {
      return work();
    } catch (cause) {
      if (!(cause instanceof Error && 'code' in cause && cause.code === 'EAGAIN')) throw cause;
      Atomics.wait(never, 0, 0, pauseMs);
    }
  }
}
