import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from 'redis';
import { LogError } from '../event-log.ts';
import { isPassing, noAnswer, redisFailure } from './redis-failure.ts';

export type RedisClient = {
  sendCommand(args: readonly string[]): Promise<unknown>;
  subscribe(channel: string, listener: (message: string) => void): Promise<void>;
};

export type RedisConnection = {
  /** The connection as it is now; undefined while there is none. */
  current(): RedisClient | undefined;
  /** Why nothing reaches the store, once that has been so for longer than a restart takes. */
  outage(): LogError | undefined;
  /** Runs a read, again on a new connection if the one it ran on was lost, until the store's patience ends. */
  query<T>(run: (client: RedisClient) => Promise<T>): Promise<T>;
  /** Gives up the connection because it does not answer; another is made. */
  drop(): void;
  close(): void;
};

export type RedisAddress = {
  readonly url: string;
  /** For messages: without the password. */
  readonly address: string;
  /** Where growth is told. Channels are common to all databases of a server, so the name has the database in it. */
  readonly channel: string;
  /** How long a call waits for a store that does not answer. */
  readonly patienceMs: number;
  /** How long a lost connection is waited for; after that every call fails soon, so that its caller can say so or come again. */
  readonly outageAfterMs: number;
  readonly firstAnswerMs: number;
};

export type ConnectionHooks = {
  /** Prepares a new connection before anybody uses it. */
  prepare(client: RedisClient): Promise<void>;
  onReady(client: RedisClient): void;
};

const CONNECT_TIMEOUT_MS = 5_000;
const FIRST_RETRY_MS = 25;
const LAST_RETRY_MS = 2_000;

type State = {
  client: RedisClient | undefined;
  /** Ends the connection that `client` is. */
  destroy: () => void;
  lastError: unknown;
  /** While there is no connection: since when. */
  lostAt: number;
  readonly closing: AbortController;
  /** Woken by every success and every failure to connect. */
  readonly waiting: Set<() => void>;
};

/** Connects, and connects again whenever the connection is lost, with growing pauses, until closed. */
export async function openRedisConnection(at: RedisAddress, hooks: ConnectionHooks): Promise<RedisConnection> {
  const state: State = {
    client: undefined,
    destroy: () => undefined,
    lastError: undefined,
    lostAt: performance.now(),
    closing: new AbortController(),
    waiting: new Set(),
  };
  const close = (): void => {
    state.closing.abort();
    state.destroy();
    wake(state);
  };
  void keepConnected(at, state, hooks);
  try {
    await ready(at, state, Math.min(at.patienceMs, at.firstAnswerMs));
  } catch (error) {
    close();
    throw error;
  }
  return {
    current: () => state.client,
    outage: () => outage(at, state),
    query: (run) => query(at, state, run),
    drop: () => state.destroy(),
    close,
  };
}

async function keepConnected(at: RedisAddress, state: State, hooks: ConnectionHooks): Promise<void> {
  const { signal } = state.closing;
  for (let attempt = 0; !signal.aborted; attempt++) {
    try {
      const { lost } = await connect(at, state, hooks);
      attempt = 0;
      await lost;
    } catch (error) {
      state.lastError = error;
      wake(state);
    }
    await delay(pauseAfter(attempt), undefined, { signal }).catch(() => undefined);
  }
}

async function connect(at: RedisAddress, state: State, hooks: ConnectionHooks): Promise<{ lost: Promise<void> }> {
  const client = createClient({
    url: at.url,
    RESP: 3,
    // What is sent again, and when, is decided by who sent it.
    disableOfflineQueue: true,
    socket: { reconnectStrategy: false, connectTimeout: CONNECT_TIMEOUT_MS },
  });
  let destroyed = false;
  const destroy = (): void => {
    if (destroyed) return;
    destroyed = true;
    client.destroy();
  };
  const lost = new Promise<void>((resolve) => {
    client.on('end', resolve);
    client.on('error', (error) => {
      state.lastError = error;
      destroyed = true;
      resolve();
    });
  }).then(() => {
    if (state.client !== client) return;
    state.client = undefined;
    state.lostAt = performance.now();
  });
  try {
    await client.connect();
    state.destroy = destroy;
    await hooks.prepare(client);
    if (state.closing.signal.aborted) throw new LogError('closed', 'the log is closed');
  } catch (error) {
    if (client.isOpen) destroy();
    throw error;
  }
  state.client = client;
  state.lastError = undefined;
  hooks.onReady(client);
  wake(state);
  return { lost };
}

function pauseAfter(attempt: number): number {
  const pause = Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** attempt);
  // Spread, so that many runners do not return to a restarted store in the same moment.
  return pause * (0.5 + Math.random() / 2);
}

function wake(state: State): void {
  for (const resume of state.waiting) resume();
  state.waiting.clear();
}

/** Waits for a connection; a store that answers with a refusal is not waited for. */
async function ready(at: RedisAddress, state: State, patienceMs: number): Promise<RedisClient> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    if (state.closing.signal.aborted) throw new LogError('closed', 'the log is closed');
    if (state.client !== undefined) return state.client;
    if (state.lastError !== undefined && !isPassing(state.lastError)) throw redisFailure(state.lastError, at.address);
    const left = deadline - performance.now();
    if (left <= 0) throw redisFailure(state.lastError ?? new Error(noAnswer), at.address);
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resume, left);
      function resume(): void {
        clearTimeout(timer);
        resolve();
      }
      state.waiting.add(resume);
    });
  }
}

function outage(at: RedisAddress, state: State): LogError | undefined {
  if (state.client !== undefined || outageIn(at, state) > 0) return undefined;
  return redisFailure(state.lastError ?? new Error(noAnswer), at.address);
}

function outageIn(at: RedisAddress, state: State): number {
  return Math.max(0, state.lostAt + at.outageAfterMs - performance.now());
}

async function query<T>(at: RedisAddress, state: State, run: (client: RedisClient) => Promise<T>): Promise<T> {
  const deadline = performance.now() + at.patienceMs;
  for (;;) {
    // Never at once: who asks again and again must leave us time to connect.
    const left = Math.max(FIRST_RETRY_MS, outageIn(at, state));
    const client = await ready(at, state, Math.min(deadline - performance.now(), left));
    try {
      return await answered(run(client), deadline - performance.now());
    } catch (error) {
      if (!isPassing(error) || performance.now() >= deadline) {
        if (error instanceof Silence) state.destroy();
        throw redisFailure(error, at.address);
      }
    }
    await delay(FIRST_RETRY_MS);
  }
}

class Silence extends Error {}

/** A store that neither answers nor hangs up must not hold its callers for ever. */
function answered<T>(reply: Promise<T>, withinMs: number): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Silence(noAnswer)), Math.max(0, withinMs));
    reply.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
