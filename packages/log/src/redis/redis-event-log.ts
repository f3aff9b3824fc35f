import { assert } from '@concerto/base';
import { checkAppend, checkDocument } from '../check-append.ts';
import { type Append, type Appended, LogError } from '../event-log.ts';
import { type GrowthSignal, growthSignal } from '../growth-signal.ts';
import type { Store } from '../store.ts';
import { Batches, loadBatchScript } from './redis-batches.ts';
import { openRedisConnection, type RedisAddress, type RedisClient, type RedisConnection } from './redis-connection.ts';
import { readDocument, readDocuments } from './redis-documents.ts';
import { addressOf } from './redis-failure.ts';
import { type GrowthListening, listenForGrowth } from './redis-growth.ts';
import { appendedFrom, appendOperation, documentOperation, leaseFrom, loadOperation } from './redis-operations.ts';
import { dumpRedis } from './redis-records.ts';
import { textReply } from './redis-reply.ts';
import { checkFormat, checkServer, type ServerHooks } from './redis-server-check.ts';
import { readHead, readPage, readSessions } from './redis-streams.ts';

export type RedisOptions = ServerHooks & {
  /** How long a call waits while Redis does not answer, before it fails with `unavailable`. */
  readonly patienceMs?: number;
  /** How long it waits when the connection is lost; a restart of Redis takes less. */
  readonly outageAfterMs?: number;
  /** How long the first answer may take. */
  readonly firstAnswerMs?: number;
  /** Added to the server's clock: lets tests move time. */
  readonly aheadMs?: () => number;
};

const PATIENCE_MS = 10_000;
const OUTAGE_AFTER_MS = 2_000;
const FIRST_ANSWER_MS = 5_000;

type RedisState = {
  readonly commands: RedisConnection;
  readonly wakeUps: GrowthListening;
  readonly batches: Batches;
  readonly growth: GrowthSignal;
  readonly rewinds: GrowthSignal;
  readonly aheadMs: () => number;
  closed: boolean;
};

/** The store for several processes and machines. Rejects with LogError when it cannot be reached. */
export async function redisEventLog(url: string, options: RedisOptions = {}): Promise<Store> {
  const state = await connect(addressFrom(url, options), options);
  return {
    ...streamCalls(state),
    ...documentCalls(state),
    ...leaseCalls(state),
    dump: () => dumpRedis((run) => reading(state, run), state.aheadMs),
    load: async (records) => {
      await Promise.all(records.map((record) => state.batches.run(loadOperation(record))));
    },
    size: () => reading(state, usedBytes),
    ping: async () => {
      await Promise.all([state.batches.run(['ping']), state.wakeUps.look()]);
    },
    close: async () => {
      if (state.closed) return;
      state.closed = true;
      await state.batches.finish();
      state.commands.close();
      state.wakeUps.close();
    },
  };
}

/** Of the whole server: it is meant to be ours alone. */
async function usedBytes(client: RedisClient): Promise<number> {
  const info = textReply(await client.sendCommand(['INFO', 'memory']));
  return Number(/^used_memory:(\d+)/m.exec(info)?.[1] ?? 0);
}

function addressFrom(url: string, options: RedisOptions): RedisAddress {
  const { patienceMs = PATIENCE_MS, outageAfterMs = OUTAGE_AFTER_MS, firstAnswerMs = FIRST_ANSWER_MS } = options;
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  // Not the URL itself: it may hold a password.
  if (parsed === undefined || !/^(\/\d*)?$/.test(parsed.pathname)) throw new LogError('bad-url', form);
  if (parsed.search !== '' || parsed.hash !== '') {
    throw new LogError('bad-url', `${form}, with nothing after it: to keep two apart, give each a database number`);
  }
  const channel = `concerto:grown:${parsed.pathname.slice(1) || '0'}`;
  return { url, address: addressOf(url), channel, patienceMs, outageAfterMs, firstAnswerMs };
}

const form = 'a store on Redis is redis://[NAME:PASSWORD@]HOST[:PORT][/NUMBER], or rediss:// with TLS';

async function connect(at: RedisAddress, options: RedisOptions): Promise<RedisState> {
  const aheadMs = options.aheadMs ?? ((): number => 0);
  const growth = growthSignal();
  const rewinds = growthSignal();
  let commands: RedisConnection | undefined;
  let wakeUps: GrowthListening | undefined;
  let checked = false;
  const batches = new Batches(at, () => commands, aheadMs);
  commands = await openRedisConnection(at, {
    prepare: async (client) => {
      // Again for each connection: what is behind the address may be another store by now, or an empty one.
      if (checked) await checkFormat(client, at.address);
      else await checkServer(client, at.address, options);
      checked = true;
      await loadBatchScript(client);
      await wakeUps?.check(client);
    },
    onReady: (client) => batches.resume(client),
  });
  try {
    wakeUps = await listenForGrowth(at, growth, (before, now) => {
      const lost = `it counts ${now} changes where it had acknowledged ${before}`;
      options.onWarning?.(
        `the store ${at.address} has less than it acknowledged: ${lost}. What is gone is gone; sessions go on with what is there. Check its appendfsync, its replicas, and who may flush it`,
      );
      // What waits was meant for a store that had more: whoever sent it is to look first what there is.
      if (commands?.current() === undefined) batches.forsake();
      rewinds.emit('');
    });
    return { commands, wakeUps, batches, growth, rewinds, aheadMs, closed: false };
  } catch (error) {
    commands.close();
    throw error;
  }
}

async function reading<T>(state: RedisState, run: (client: RedisClient) => Promise<T>): Promise<T> {
  if (state.closed) throw new LogError('closed', 'the log is closed');
  return state.commands.query(run);
}

/** One after the other: what follows from an append is sent when it is durable. */
async function appendAll(state: RedisState, request: Append): Promise<Appended> {
  checkAppend(request);
  assert(request.joined === undefined, 'nobody joins what the store does not');
  const first = appendedFrom(request, await state.batches.run(appendOperation(request)));
  if (first.kind !== 'appended') return first;
  const next = request.next?.(first.positions);
  return next === undefined ? first : { ...first, next: await appendAll(state, next) };
}

function streamCalls(
  state: RedisState,
): Pick<Store, 'joins' | 'append' | 'read' | 'head' | 'onGrowth' | 'onRewind' | 'trim' | 'listSessions'> {
  const { batches } = state;
  return {
    // They may be on two machines of a cluster.
    joins: false,
    append: (request) => appendAll(state, request),
    read: (request) => reading(state, (client) => readPage(client, request)),
    head: (session, stream) => reading(state, (client) => readHead(client, session, stream)),
    onGrowth: (listener, session) => state.growth.listen(listener, session),
    onRewind: (listener) => state.rewinds.listen(listener),
    trim: async (session, stream, throughPosition) => {
      await batches.run(['trim', session, stream, String(throughPosition)]);
    },
    listSessions: (after, limit) => reading(state, (client) => readSessions(client, after, limit)),
  };
}

function documentCalls(
  state: RedisState,
): Pick<Store, 'putDocument' | 'createDocument' | 'getDocument' | 'listDocuments'> {
  const { batches, aheadMs } = state;
  return {
    putDocument: async (write) => {
      checkDocument(write);
      await batches.run(documentOperation(write, 'put'));
    },
    createDocument: async (write) => {
      checkDocument(write);
      const created = await batches.run(documentOperation(write, 'create'));
      return created === 'yes';
    },
    getDocument: (collection, key) =>
      reading(state, (client) => readDocument({ client, aheadMs: aheadMs() }, collection, key)),
    listDocuments: (request) => reading(state, (client) => readDocuments({ client, aheadMs: aheadMs() }, request)),
  };
}

function leaseCalls({ batches }: RedisState): Pick<Store, 'acquireLease' | 'renewLease' | 'releaseLease'> {
  return {
    acquireLease: async ({ name, owner, ttlMs }) =>
      leaseFrom(await batches.run(['acquire', name, owner, String(ttlMs)])),
    renewLease: async ({ name, owner, ttlMs, epoch }) => {
      const renewed = await batches.run(['renew', name, owner, String(ttlMs), String(epoch)]);
      return renewed === 'yes';
    },
    releaseLease: async ({ name, epoch }) => {
      await batches.run(['release', name, String(epoch)]);
    },
  };
}
