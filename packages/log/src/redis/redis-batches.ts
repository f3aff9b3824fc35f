import { createHash, randomUUID } from 'node:crypto';
import { assert } from '@concerto/base';
import { LogError } from '../event-log.ts';
import type { RedisAddress, RedisClient, RedisConnection } from './redis-connection.ts';
import { isPassing, redisFailure } from './redis-failure.ts';
import { batchScript } from './redis-script.ts';

/** The script's answer to one operation: words, the first its kind. */
export type OperationResult = string;

/** Batches under way at once: while the store works on one, the next is written. */
const MAX_IN_FLIGHT = 3;
const MAX_BATCH_OPERATIONS = 128;
const MAX_BATCH_LENGTH = 1024 * 1024;
/** Most operations waiting: beyond it the store is not keeping up, and the caller is told so at once. */
const MAX_WAITING = 65_536;
const DEADLINE_CHECK_MS = 250;

const FAILED = 'failed ';

type Operation = {
  readonly args: readonly string[];
  readonly length: number;
  readonly deadline: number;
  readonly resolve: (result: OperationResult) => void;
  readonly reject: (error: LogError) => void;
};

type Batch = { readonly number: number; readonly operations: readonly Operation[]; readonly args: readonly string[] };

const sha = createHash('sha1').update(batchScript).digest('hex');

export async function loadBatchScript(client: RedisClient): Promise<void> {
  await client.sendCommand(['SCRIPT', 'LOAD', batchScript]);
}

/**
 * Operations on their way to the store, sent with whatever else is waiting. One settles when the store has it, once,
 * however often it was sent.
 */
export class Batches {
  readonly #at: RedisAddress;
  readonly #connection: () => RedisConnection | undefined;
  readonly #aheadMs: () => number;
  readonly #writer = randomUUID();
  #waiting: Operation[] = [];
  #inFlight: Batch[] = [];
  #lastNumber = 0;
  #scheduled = false;
  #finished = false;
  #timer: NodeJS.Timeout | undefined;
  #idle: (() => void) | undefined;

  /** The connection is asked for anew each time: it comes to be after the batches it will carry. */
  constructor(at: RedisAddress, connection: () => RedisConnection | undefined, aheadMs: () => number) {
    this.#at = at;
    this.#connection = connection;
    this.#aheadMs = aheadMs;
  }

  run(args: readonly string[]): Promise<OperationResult> {
    if (this.#finished) return Promise.reject(new LogError('closed', 'the log is closed'));
    if (this.#waiting.length >= MAX_WAITING) {
      const message = `the store ${this.#at.address} is too slow: ${MAX_WAITING} writes are waiting`;
      return Promise.reject(new LogError('unavailable', message));
    }
    return new Promise((resolve, reject) => {
      let length = 0;
      for (const arg of args) length += arg.length;
      const deadline = performance.now() + this.#at.patienceMs;
      this.#waiting.push({ args, length, deadline, resolve, reject });
      this.#timer ??= setInterval(() => this.#giveUpLate(), DEADLINE_CHECK_MS);
      this.#schedule();
    });
  }

  /** Sends again, in order, what a lost connection left unanswered. */
  resume(client: RedisClient): void {
    for (const batch of this.#inFlight) this.#send(client, batch, 'EVALSHA');
    this.#schedule();
  }

  /** The store is not what it was: nothing that waits is sent to it. What was sent before may be there all the same. */
  forsake(): void {
    const error = new LogError('unavailable', `the store ${this.#at.address} was lost before it answered`);
    const sent = this.#inFlight.splice(0).flatMap(({ operations }) => operations);
    for (const operation of [...sent, ...this.#waiting.splice(0)]) operation.reject(error);
  }

  /** Refuses new operations and waits for those under way. */
  async finish(): Promise<void> {
    this.#finished = true;
    if (this.#waiting.length > 0 || this.#inFlight.length > 0) {
      await new Promise<void>((resolve) => {
        this.#idle = resolve;
      });
    }
    // Best effort: the record also expires by itself.
    await this.#connection()
      ?.current()
      ?.sendCommand(['DEL', `concerto:writer:${this.#writer}`])
      .catch(() => undefined);
  }

  /** At the end of the tick, so that what one tick asks for goes out together. */
  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#fill();
    });
  }

  #fill(): void {
    const client = this.#connection()?.current();
    while (client !== undefined && this.#waiting.length > 0 && this.#inFlight.length < MAX_IN_FLIGHT) {
      const batch = this.#nextBatch();
      this.#inFlight.push(batch);
      this.#send(client, batch, 'EVALSHA');
    }
    if (this.#waiting.length > 0 || this.#inFlight.length > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#idle?.();
  }

  #nextBatch(): Batch {
    let count = 0;
    let length = 0;
    for (const operation of this.#waiting) {
      length += operation.length;
      if (count === MAX_BATCH_OPERATIONS || (count > 0 && length > MAX_BATCH_LENGTH)) break;
      count++;
    }
    const operations = this.#waiting.splice(0, count);
    const number = ++this.#lastNumber;
    const args = [this.#writer, String(number), String(this.#aheadMs()), this.#at.channel];
    for (const operation of operations) for (const arg of operation.args) args.push(arg);
    return { number, operations, args };
  }

  #send(client: RedisClient, batch: Batch, by: 'EVALSHA' | 'EVAL'): void {
    client.sendCommand([by, by === 'EVAL' ? batchScript : sha, '0', ...batch.args]).then(
      (reply) => this.#answered(batch, reply),
      (error: unknown) => this.#failed(client, batch, error),
    );
  }

  #answered(batch: Batch, reply: unknown): void {
    if (!this.#remove(batch)) return;
    const results = parseResults(reply);
    assert(results.length === batch.operations.length, 'the script answers every operation');
    for (const [index, operation] of batch.operations.entries()) {
      const result = results[index] ?? '';
      if (result.startsWith(FAILED))
        operation.reject(redisFailure(new Error(result.slice(FAILED.length)), this.#at.address));
      else operation.resolve(result);
    }
    this.#fill();
  }

  #failed(client: RedisClient, batch: Batch, error: unknown): void {
    if (!this.#inFlight.includes(batch)) return;
    const scriptGone = error instanceof Error && error.message.startsWith('NOSCRIPT');
    if (scriptGone) {
      this.#send(client, batch, 'EVAL');
      return;
    }
    if (isPassing(error)) {
      // A connection that was lost is sent anew by `resume`; one that refuses for a moment is exchanged.
      if (this.#connection()?.current() === client) this.#connection()?.drop();
      return;
    }
    this.#remove(batch);
    for (const operation of batch.operations) operation.reject(redisFailure(error, this.#at.address));
    this.#fill();
  }

  #remove(batch: Batch): boolean {
    const index = this.#inFlight.indexOf(batch);
    if (index === -1) return false;
    this.#inFlight.splice(index, 1);
    return true;
  }

  /** Operations are in the order of their deadlines. */
  #giveUpLate(): void {
    const now = performance.now();
    const silence = new LogError(
      'unavailable',
      `the store ${this.#at.address} gave no answer in ${this.#at.patienceMs} ms`,
    );
    const late = this.#inFlight.filter(({ operations }) => (operations[0]?.deadline ?? 0) <= now);
    for (const batch of late) {
      this.#remove(batch);
      for (const operation of batch.operations) operation.reject(silence);
    }
    if (late.length > 0) this.#connection()?.drop();
    // What was sent may have arrived, and is found out about; what never was has no reason to wait.
    const outage = this.#connection()?.outage();
    if (outage !== undefined) for (const operation of this.#waiting.splice(0)) operation.reject(outage);
    const firstInTime = this.#waiting.findIndex(({ deadline }) => deadline > now);
    const expired = this.#waiting.splice(0, firstInTime === -1 ? this.#waiting.length : firstInTime);
    for (const operation of expired) operation.reject(silence);
    this.#fill();
  }
}

function parseResults(reply: unknown): readonly OperationResult[] {
  assert(typeof reply === 'string', 'the script answers with a text');
  const parsed: unknown = JSON.parse(reply);
  assert(Array.isArray(parsed), 'the script answers with a list');
  return parsed.map(String);
}
