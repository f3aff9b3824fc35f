import type { GrowthSignal } from '../growth-signal.ts';
import { openRedisConnection, type RedisAddress, type RedisClient, type RedisConnection } from './redis-connection.ts';
import { listReply, textReply } from './redis-reply.ts';
import { readSessions } from './redis-streams.ts';

const SESSIONS_PER_READ = 1_000;
/** How often the store is asked what it counts, though nobody has told of a change: it may have less than before. */
const LOOK_EVERY_MS = 2_000;
/** So many of the last changes are kept at least, as the script trims them. */
const CHANGES_KEPT = 10_000;
const BY = '@by:';

/** One change of the store: its number, and the batch that made it; an older version does not tell which. */
type Change = { readonly number: number; readonly by: string | undefined };

const nothing: Change = { number: 0, by: undefined };

export type GrowthListening = {
  /** Asks whether the store still has what it acknowledged; whoever is to know otherwise has been told when it resolves. */
  look(): Promise<void>;
  /** The same over a new connection, before anything is written over it. */
  check(client: RedisClient): Promise<void>;
  close(): void;
};

/**
 * Wakes this process when any process appends. Every batch that grew a session has a number; a number that does not
 * follow the last one means that messages were missed, and the store is asked which sessions grew since. One that comes
 * again, or the last one made by another batch than we heard of, means that the store has lost what it acknowledged.
 */
export async function listenForGrowth(
  at: RedisAddress,
  growth: GrowthSignal,
  onRewind: (before: number, now: number) => void,
): Promise<GrowthListening> {
  let last: Change | undefined;
  const emitAll = (sessions: Iterable<string>): void => {
    for (const session of sessions) growth.emit(session);
  };
  const emitSince = async (client: RedisClient, number: number): Promise<void> => {
    emitAll(await grownSince(client, number));
  };
  const rewound = async (client: RedisClient, before: Change, now: Change): Promise<void> => {
    onRewind(before.number, now.number);
    emitAll(await allSessions(client));
  };
  const heard = (client: RedisClient, message: string): void => {
    const { change, sessions } = readMessage(message);
    const before = last;
    emitAll(sessions);
    // Nothing is compared before the first look of a connection: what comes until then is in its answer.
    if (before === undefined || heardBy !== client) return;
    last = change;
    // A failure needs no answer: the connection is lost, and the next one asks again.
    if (change.number <= before.number) rewound(client, before, change).catch(() => undefined);
    else if (change.number > before.number + 1) emitSince(client, before.number).catch(() => undefined);
  };
  let heardBy: RedisClient | undefined;

  const look = async (client: RedisClient): Promise<void> => {
    const before = last;
    const { now, lost } = await standing(client, before ?? nothing);
    // A message that came meanwhile knows better.
    if (last !== before) return;
    last = now;
    heardBy = client;
    if (before === undefined) return;
    if (lost) await rewound(client, before, now);
    else if (now.number > before.number) await emitSince(client, before.number);
  };

  const check = async (client: RedisClient): Promise<void> => {
    const before = last ?? nothing;
    const { now, lost } = await standing(client, before);
    if (!lost || last !== before) return;
    last = now;
    await rewound(client, before, now);
  };

  const connection = await openRedisConnection(at, {
    prepare: async (client) => {
      await client.subscribe(at.channel, (message) => heard(client, message));
      await look(client);
    },
    onReady: () => undefined,
  });
  const timer = lookEvery(connection, look);
  return {
    look: () => connection.query(look),
    check,
    close() {
      clearInterval(timer);
      connection.close();
    },
  };
}

/** One after the other. A connection that no longer answers is exchanged by the question itself. */
function lookEvery(connection: RedisConnection, look: (client: RedisClient) => Promise<void>): NodeJS.Timeout {
  let looking = false;
  return setInterval(() => {
    if (looking || connection.current() === undefined) return;
    looking = true;
    connection
      .query(look)
      .catch(() => undefined)
      .finally(() => {
        looking = false;
      });
  }, LOOK_EVERY_MS).unref();
}

/** Whether what we last heard of is not there any more; `same` is what now stands under its number. */
function isLost(before: Change, same: Change | undefined, now: Change): boolean {
  if (before.number === 0) return false;
  if (now.number < before.number) return true;
  // Beyond what is kept nobody can tell.
  if (same === undefined) return now.number - before.number < CHANGES_KEPT;
  return before.by !== undefined && same.by !== undefined && before.by !== same.by;
}

/** The last change that the store knows, and whether one before it is gone. */
async function standing(
  client: RedisClient,
  before: Change,
): Promise<{ readonly now: Change; readonly lost: boolean }> {
  const [newest, same] = await Promise.all([
    changeAt(client, ['XREVRANGE', 'concerto:grown', '+', '-', 'COUNT', '1']),
    changeAt(client, ['XRANGE', 'concerto:grown', idOf(before), idOf(before)]),
  ]);
  const now = newest ?? nothing;
  return { now, lost: isLost(before, same, now) };
}

function idOf({ number }: Change): string {
  return `${number}-0`;
}

async function changeAt(client: RedisClient, command: readonly string[]): Promise<Change | undefined> {
  const [item] = listReply(await client.sendCommand(command));
  if (item === undefined) return undefined;
  const [id, fields] = listReply(item);
  const by = listReply(fields)[3];
  return { number: Number.parseInt(textReply(id), 10), by: by === undefined ? undefined : textReply(by) };
}

/** `NUMBER @by:BATCH SESSION…`; an older version leaves the batch out, and takes ours for a session that nobody has. */
function readMessage(message: string): { readonly change: Change; readonly sessions: readonly string[] } {
  const [number = '', first = '', ...rest] = message.split(' ');
  const isBatch = first.startsWith(BY);
  const change = { number: Number(number), by: isBatch ? first.slice(BY.length) : undefined };
  return { change, sessions: isBatch ? rest : [first, ...rest] };
}

/** The sessions that grew after a number; all there are when the store no longer knows. */
async function grownSince(client: RedisClient, number: number): Promise<ReadonlySet<string>> {
  const items = listReply(await client.sendCommand(['XRANGE', 'concerto:grown', String(number + 1), '+']));
  const first = items[0];
  if (first !== undefined && textReply(listReply(first)[0]) !== `${number + 1}-0`) return allSessions(client);
  const sessions = new Set<string>();
  for (const item of items) {
    const [, names] = listReply(listReply(item)[1]);
    for (const session of textReply(names).split(' ')) sessions.add(session);
  }
  return sessions;
}

async function allSessions(client: RedisClient): Promise<ReadonlySet<string>> {
  const sessions = new Set<string>();
  let after: string | undefined;
  for (;;) {
    const page = await readSessions(client, after, SESSIONS_PER_READ);
    if (page.length === 0) return sessions;
    for (const session of page) sessions.add(session);
    after = page.at(-1);
  }
}
