import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import Database from 'libsql';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Append, DocumentWrite, NewEntry } from '../src/event-log.ts';
import { type EventLog, streamNames } from '../src/event-log.ts';
import { memoryEventLog } from '../src/memory/memory-event-log.ts';
import { sqliteEventLog } from '../src/sqlite/sqlite-event-log.ts';
import type { Store } from '../src/store.ts';
import { killedCopy } from './killed-copy.ts';

/** Most goes to the first two; the others are new now and then. */
const sessions = ['a', 'b', 'c', 'd', 'e'] as const;
const collections = ['x', 'y'] as const;
const keys = ['k1', 'k2', 'k3', 'k4'] as const;
const tags = ['red', 'blue'] as const;

/** Most statements that write work; from a moment on one or all of them fail, until the step is over. */
const faults = { left: Number.POSITIVE_INFINITY, code: 'SQLITE_FULL', once: false };
const noFault = (): void => void Object.assign(faults, { left: Number.POSITIVE_INFINITY });

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'concerto-model-'));
  const prepare: (this: Database.Database, source: string) => Database.Statement = Reflect.get(
    Database.prototype,
    'prepare',
  );
  vi.spyOn(Database.prototype, 'prepare').mockImplementation(function (this: Database.Database, source: string) {
    const statement = prepare.call(this, source);
    const run: (...values: unknown[]) => Database.RunResult = statement.run.bind(statement);
    statement.run = (...values: unknown[]) => {
      if (faults.left <= 0) {
        if (faults.once) noFault();
        throw Object.assign(new Error(`no ${source}`), { code: faults.code });
      }
      faults.left--;
      return run(...values);
    };
    return statement;
  });
});
afterEach(() => {
  noFault();
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true, force: true });
});

type Operation = { readonly name: string; readonly do: (log: EventLog) => Promise<unknown> };
type Step =
  /** At once, so that they are one group. */
  | { readonly kind: 'write'; readonly operations: readonly Operation[] }
  | {
      readonly kind: 'fail';
      readonly operations: readonly Operation[];
      readonly after: number;
      readonly how: 'once' | 'on' | 'held';
    }
  | { readonly kind: 'settle' }
  | { readonly kind: 'reopen' }
  | { readonly kind: 'kill' }
  | { readonly kind: 'advance'; readonly ms: number };

/** Most is small, and waits; some is not. */
const data = fc
  .oneof({ weight: 20, arbitrary: fc.constantFrom(0, 1, 40) }, { weight: 1, arbitrary: fc.constantFrom(2_500, 9_000) })
  .map((length) => (length === 0 ? '{}' : JSON.stringify({ t: '§'.repeat(length) })));
const entry: fc.Arbitrary<NewEntry> = fc
  .record({ type: fc.constantFrom('', 't'), data, aside: fc.boolean() })
  .map(({ aside, ...rest }) => (aside ? { ...rest, aside: true } : rest));
const many = fc.constant(Array.from({ length: 300 }, () => ({ type: '', data: '{}' })));
const entries = fc.oneof({ weight: 24, arbitrary: fc.array(entry, { maxLength: 4 }) }, { weight: 1, arbitrary: many });

const document: fc.Arbitrary<DocumentWrite> = fc.record(
  {
    collection: fc.constantFrom(...collections),
    key: fc.constantFrom(...keys),
    value: fc.option(data, { nil: undefined, freq: 4 }),
    sort: fc.constantFrom(-1.5, 0, 7, 1_700_000_000_000),
    tag: fc.constantFrom(...tags),
    expiresAt: fc.constantFrom(1_000, 1_000_050, 1_200_000),
  },
  { requiredKeys: ['collection', 'key', 'value'] },
);

const session = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('a', 'b') },
  { weight: 1, arbitrary: fc.constantFrom(...sessions) },
);

/** Some name a position that the stream has at times. */
const streams: fc.Arbitrary<Append['streams']> = fc.uniqueArray(
  fc.record(
    { stream: fc.constantFrom(...streamNames), entries, expected: fc.nat(3) },
    { requiredKeys: ['stream', 'entries'] },
  ),
  { selector: ({ stream }) => stream, maxLength: 3 },
);
const plain: fc.Arbitrary<Append> = fc.record(
  { session, streams, documents: fc.array(document, { maxLength: 2 }) },
  { requiredKeys: ['session', 'streams'] },
);
const append: fc.Arbitrary<Append> = fc
  .record({ first: plain, second: fc.option(plain, { freq: 3 }), joined: fc.boolean() })
  .map(({ first, second, joined }) => {
    if (second === null) return first;
    const next: Append['next'] = ({ events = 0 }) =>
      events % 3 === 2
        ? undefined
        : { ...second, documents: [{ collection: 'x', key: 'heard', value: JSON.stringify({ events }) }] };
    return { ...first, next, ...(joined && { joined }) };
  });

const operation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 12,
    arbitrary: append.map((request) => ({
      name: `append ${JSON.stringify(request)}`.slice(0, 200),
      do: (log: EventLog) => log.append(request),
    })),
  },
  { weight: 5, arbitrary: document.map((write) => ({ name: 'put', do: (log: EventLog) => log.putDocument(write) })) },
  {
    weight: 2,
    arbitrary: document.map((write) => ({
      name: 'create',
      do: (log: EventLog) => log.createDocument({ ...write, value: write.value ?? '{}' }),
    })),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(session, fc.constantFrom(...streamNames), fc.nat(6)).map(([of, stream, through]) => ({
      name: `trim ${of}/${stream} through ${through}`,
      do: (log: EventLog) => log.trim(of, stream, through),
    })),
  },
  {
    weight: 1,
    arbitrary: fc.constant({
      name: 'acquire',
      do: (log: EventLog) => log.acquireLease({ name: 'l', owner: 'o', ttlMs: 1 }),
    }),
  },
);

const operations = fc.array(operation, { minLength: 1, maxLength: 3 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 10, arbitrary: operations.map((all) => ({ kind: 'write', operations: all }) as const) },
  {
    weight: 4,
    arbitrary: fc
      .record({ operations, after: fc.nat(12), how: fc.constantFrom('once', 'on', 'held') })
      .map((given) => ({ kind: 'fail', ...given }) as const),
  },
  { weight: 2, arbitrary: fc.constantFrom<Step>({ kind: 'settle' }, { kind: 'reopen' }, { kind: 'kill' }) },
  { weight: 1, arbitrary: fc.constantFrom(60, 70_000).map((ms) => ({ kind: 'advance', ms }) as const) },
);

/** Everything that can be asked, in pages of one size. */
async function answers(log: EventLog, limit: number): Promise<unknown> {
  const all: unknown[] = [];
  for (const session of sessions) {
    for (const stream of streamNames) {
      const head = await log.head(session, stream);
      all.push([session, stream, head]);
      for (let after = 0; after <= head; after += limit) all.push(await log.read({ session, stream, after, limit }));
      all.push(await log.read({ session, stream, after: Math.max(0, head - 1), limit }));
    }
  }
  for (const after of [undefined, 'a', 'b']) all.push(await log.listSessions(after, limit));
  for (const collection of collections) {
    for (const key of keys) all.push(await log.getDocument(collection, key));
    for (const tag of [undefined, ...tags]) {
      let cursor: string | undefined;
      do {
        const request = { collection, limit, ...(tag !== undefined && { tag }) };
        const page = await log.listDocuments({ ...request, ...(cursor !== undefined && { cursor }) });
        all.push(page);
        cursor = page.nextCursor;
      } while (cursor !== undefined);
    }
  }
  return all;
}

/** What was taken is done to the model as well, and has the same answer; what was not has left nothing. */
async function write(log: EventLog, model: EventLog, all: readonly Operation[]): Promise<void> {
  const results = await Promise.allSettled(all.map((one) => one.do(log)));
  for (const [index, result] of results.entries()) {
    const code: unknown = result.status === 'rejected' ? result.reason.code : 'full';
    const [answer, expected] = result.status === 'rejected' ? [] : [result.value, await all[index]?.do(model)];
    expect([answer, code]).toEqual([expected, 'full']);
  }
}

test('[L46] what could not be put in its place goes there later as if nothing had been tried', async () => {
  const log = sqliteEventLog(join(folder, 'store.db'), { now: () => 1_000_000 });
  const put = (sort: number): Promise<void> => log.putDocument({ collection: 'c', key: 'k', value: '{}', sort });
  await put(1);
  await log.size();
  await put(2);
  // Everything is written but for the last statement.
  for (let after = 0; after < 5; after++) {
    Object.assign(faults, { left: after, code: 'SQLITE_FULL', once: true });
    await log.size();
    noFault();
  }
  await log.size();
  expect((await log.listDocuments({ collection: 'c', limit: 1 })).documents).toMatchObject([{ sort: 2 }]);
  await log.close();
});

test('[L46] a store of which writes fail and which is killed answers as one in memory', {
  timeout: 120_000,
}, async () => {
  let stores = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), fc.integer({ min: 1, max: 4 }), async (steps, limit) => {
      let time = 1_000_000;
      const now = (): number => time;
      const model = memoryEventLog({ now });
      let path = join(folder, `store${stores++}.db`);
      let log: Store = sqliteEventLog(path, { now });
      const again = async (): Promise<void> => {
        await log.close();
        log = sqliteEventLog(path, { now });
      };
      try {
        for (const one of steps) {
          if (one.kind === 'write') await write(log, model, one.operations);
          else if (one.kind === 'fail') {
            const code = one.how === 'held' ? 'SQLITE_BUSY' : 'SQLITE_FULL';
            Object.assign(faults, { left: one.after, code, once: one.how !== 'on' });
            await write(log, model, one.operations);
            noFault();
          } else if (one.kind === 'settle') await log.size();
          else if (one.kind === 'reopen') await again();
          else if (one.kind === 'kill') {
            const copy = killedCopy(path);
            await log.close();
            path = copy;
            log = sqliteEventLog(path, { now });
          } else time += one.ms;
          expect(await answers(log, limit)).toEqual(await answers(model, limit));
        }
      } finally {
        noFault();
        await log.close();
      }
    }),
    { numRuns: 150 },
  );
});
