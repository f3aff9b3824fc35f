import { existsSync } from 'node:fs';
import { nearest } from '@concerto/base';
import { refuseUnfinishedCopy } from './copy-store.ts';
import { LogError } from './event-log.ts';
import { memoryEventLog } from './memory/memory-event-log.ts';
import type { RedisFacts } from './redis/redis-server-check.ts';
import type { Store } from './store.ts';

export type StoreOptions = {
  /** The clock of memory and SQLite stores; Redis has its own. */
  readonly now: () => number;
  /** A memory store holds at most about so many characters of each session's events, and of its commands; all unless given. */
  readonly recentChars?: number;
  /** Told what about the store may lose acknowledged entries, and what to set. */
  readonly onWarning?: (message: string) => void;
  /** Told what a Redis says about itself. */
  readonly onServer?: (facts: RedisFacts) => void;
  /** How long a Redis has for its first answer. */
  readonly firstAnswerMs?: number;
  /** Refuse to make a new SQLite store where there is none. */
  readonly mustExist?: boolean;
};

const forms = '`memory:`, `sqlite:PATH`, `redis://HOST:PORT/DB` or `rediss://HOST:PORT/DB`';
const schemes = ['memory', 'sqlite', 'redis', 'rediss'];

/** Opens the store that a URL names. A driver is loaded only with its store: loading one costs more than most commands take. Throws LogError, with what to do, when it cannot. */
export async function openEventLog(url: string, options: StoreOptions): Promise<Store> {
  const store = await open(url, options);
  try {
    await refuseUnfinishedCopy(store);
  } catch (error) {
    await store.close();
    throw error;
  }
  return store;
}

/** Writes a SQLite store, as it is at this moment, into a file; whoever uses it goes on. */
export async function backupStore(url: string, target: string): Promise<void> {
  if (!url.startsWith('sqlite:')) {
    throw new LogError(
      'bad-url',
      'only a SQLite store is backed up by us; Redis does it itself (`BGSAVE`, or a copy of its append-only files)',
    );
  }
  const path = sqlitePath(url.slice('sqlite:'.length));
  if (!existsSync(path)) throw new LogError('bad-url', `there is no store at ${path}`);
  (await import('./sqlite/backup-sqlite.ts')).backupSqlite(path, target);
}

async function open(url: string, options: StoreOptions): Promise<Store> {
  const { now, recentChars, mustExist, onWarning, onServer, firstAnswerMs } = options;
  const colon = url.indexOf(':');
  const scheme = colon === -1 ? undefined : url.slice(0, colon);
  const rest = url.slice(colon + 1);
  switch (scheme) {
    case 'memory':
      if (rest !== '') throw new LogError('bad-url', `\`memory:\` takes nothing after it, but got "${rest}"`);
      return memoryEventLog({ now, recentChars });
    case 'sqlite':
      if (mustExist === true && !existsSync(sqlitePath(rest))) {
        throw new LogError('bad-url', `there is no store at ${sqlitePath(rest)}`);
      }
      return (await import('./sqlite/sqlite-event-log.ts')).sqliteEventLog(sqlitePath(rest), { now });
    case 'redis':
    case 'rediss':
      return await (await import('./redis/redis-event-log.ts')).redisEventLog(url, {
        ...(onWarning === undefined ? {} : { onWarning }),
        ...(onServer === undefined ? {} : { onServer }),
        ...(firstAnswerMs === undefined ? {} : { firstAnswerMs }),
      });
    default:
      throw unknownScheme(url, scheme);
  }
}

function sqlitePath(rest: string): string {
  if (rest === '')
    throw new LogError('bad-url', 'the store `sqlite:` needs a path, as in `sqlite:.concerto/concerto.db`');
  if (rest.startsWith('//') && !rest.startsWith('///')) {
    throw new LogError('bad-url', `a SQLite store has no host: write \`sqlite:${rest.slice(2)}\` for a path from here`);
  }
  if (rest.startsWith('~/')) {
    throw new LogError('bad-url', `nobody expands the \`~\` after \`sqlite:\`; write \`$HOME${rest.slice(1)}\``);
  }
  return rest.startsWith('///') ? rest.slice(2) : rest;
}

function unknownScheme(url: string, scheme: string | undefined): LogError {
  if (scheme === undefined) {
    return new LogError('bad-url', `"${url}" is not a store: write ${forms}; did you mean \`sqlite:${url}\`?`);
  }
  const guess = nearest(scheme, schemes);
  const hint = guess === undefined ? '' : `; did you mean \`${guess}:\`?`;
  // Not the whole URL: it may hold a password.
  return new LogError('bad-url', `there is no store of kind \`${scheme}:\`: write ${forms}${hint}`);
}
