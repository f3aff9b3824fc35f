import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import {
  backupStore,
  type CopyProgress,
  checkStore,
  copyStore,
  type EventLog,
  openEventLog,
  type Store,
  type StoreProblem,
} from '@concerto/log';
import { SessionStore } from '@concerto/runtime';
import { defineCommand, parseArguments, UsageError } from './arguments.ts';
import { defaultStore } from './serve/server-settings.ts';
import { storeNamed } from './serve/store-here.ts';
import { amount } from './terminal/amount.ts';
import { print, printJsonLine, tell } from './terminal/print.ts';

export const spec = defineCommand({
  name: 'store',
  summary: 'Back up, check or move what is kept.',
  usage: 'backup FILE [STORE] | check [STORE] | copy FROM TO',
  options: {
    quiet: { type: 'boolean', short: 'q', help: 'no progress, only the result' },
    json: { type: 'boolean', help: 'the result as JSON' },
  },
  minPositionals: 1,
  maxPositionals: 3,
  details: [
    'backup  writes a SQLite store as it is at one moment into FILE, while the server runs.',
    'check   reads everything and says what is damaged; exit 1 then. The server may run.',
    'copy    moves everything into an empty store; nothing may use FROM meanwhile. What arrived is read back and compared.',
    '',
    `A store is sqlite:PATH, redis://HOST:PORT/DB or rediss://HOST:PORT/DB; default ${defaultStore}, CONCERTO_STORE or the manifest's.`,
    'To go back to a backup, stop the server and put the file in the place of the store.',
  ].join('\n'),
});

export const subcommands = ['backup', 'check', 'copy'];

export async function run(argv: string[]): Promise<number> {
  const { values, positionals } = parseArguments(spec, argv);
  const [verb, first, second] = positionals;
  switch (verb) {
    case 'backup':
      return await backup(needed(first, 'FILE'), second ?? ownStore(), values.json);
    case 'check':
      return await check(first ?? ownStore(), values.json);
    case 'copy':
      return await copy(needed(first, 'FROM'), needed(second, 'TO'), values);
    default:
      throw new UsageError(`there is no \`concerto store ${verb}\`; there are backup, check and copy`);
  }
}

function ownStore(): string {
  return storeNamed({}) ?? defaultStore;
}

function needed(given: string | undefined, name: string): string {
  if (given === undefined) throw new UsageError(`${name} is missing`);
  return given;
}

function refuseMemory(url: string): void {
  if (url === 'memory:') throw new UsageError('a memory store belongs to one process; there is nothing to read here');
}

async function backup(file: string, url: string, json: boolean): Promise<number> {
  refuseMemory(url);
  await backupStore(url, file);
  if (json) printJsonLine({ file: resolve(file) });
  else print(`backed up and checked: ${resolve(file)}`);
  return 0;
}

async function check(url: string, json: boolean): Promise<number> {
  refuseMemory(url);
  const found = url.startsWith('sqlite:') ? await checkBackup(url) : await checkOpen(url);
  if (json) printJsonLine(found);
  else {
    const { sessions, streams, entries, documents } = found;
    for (const { where, problem } of found.problems) print(`${where}: ${problem}`);
    const counted = [amount(sessions, 'session'), entriesText(entries, streams), amount(documents, 'document')].join(
      ', ',
    );
    print(`${found.problems.length === 0 ? 'no problem' : amount(found.problems.length, 'problem')} in ${counted}`);
  }
  return found.problems.length === 0 ? 0 : 1;
}

function entriesText(entries: number, streams: number): string {
  return `${entries} ${entries === 1 ? 'entry' : 'entries'} in ${amount(streams, 'stream')}`;
}

/** A server holds its SQLite store alone, so what is checked is a copy of this moment. */
async function checkBackup(url: string) {
  const path = url.slice('sqlite:'.length).replace(/^\/\/(?=\/)/, '');
  if (!existsSync(path)) throw new Error(`there is no store at ${path}; name it, or go to the folder of the server`);
  const folder = await mkdtemp(join(dirname(resolve(path)), '.check-'));
  try {
    const copied = join(folder, 'store.db');
    await backupStore(url, copied);
    return await checkOpen(`sqlite:${copied}`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function checkOpen(url: string) {
  const store = await openEventLog(url, { now: Date.now, mustExist: true });
  try {
    const { problems, ...counts } = await checkStore(store);
    const { sessions, unreadable } = await checkSessions(store);
    return { sessions, ...counts, problems: [...problems, ...unreadable] };
  } finally {
    await store.close();
  }
}

const pageSessions = 500;

/** Every session can be put together from its records. */
async function checkSessions(log: EventLog): Promise<{ sessions: number; unreadable: readonly StoreProblem[] }> {
  const unreadable: StoreProblem[] = [];
  const store = new SessionStore(log);
  let sessions = 0;
  for (let after: string | undefined; ; ) {
    const ids: readonly string[] = await log.listSessions(after, pageSessions);
    for (const id of ids.filter((name) => !name.startsWith('@'))) {
      sessions += 1;
      try {
        await store.state(id);
      } catch (cause) {
        unreadable.push({ where: id, problem: cause instanceof Error ? cause.message : String(cause) });
      }
    }
    after = ids.at(-1);
    if (after === undefined || ids.length < pageSessions) return { sessions, unreadable };
  }
}

type CopyOptions = { readonly quiet: boolean; readonly json: boolean };

async function copy(fromUrl: string, toUrl: string, options: CopyOptions): Promise<number> {
  refuseMemory(fromUrl);
  refuseMemory(toUrl);
  const from = await openEventLog(fromUrl, { now: Date.now, mustExist: true });
  try {
    return await copyInto(from, toUrl, options);
  } finally {
    await from.close();
  }
}

async function copyInto(from: Store, toUrl: string, { quiet, json }: CopyOptions): Promise<number> {
  const to = await openEventLog(toUrl, { now: Date.now, onWarning: (message) => tell(`warning: ${message}\n`) });
  try {
    const progress = quiet ? {} : { onProgress: progressLine() };
    const copied = await copyStore(from, to, { now: Date.now, ...progress });
    const { streams, entries, documents, leases } = copied;
    if (json) printJsonLine({ streams, entries, documents, leases });
    else {
      const counted = [entriesText(entries, streams), amount(documents, 'document'), amount(leases, 'lease')];
      print(`copied and verified: ${counted.join(', ')}`);
    }
    return 0;
  } finally {
    await to.close();
  }
}

/** One line a phase, and more of them only on a terminal that can overwrite them. */
function progressLine(): (progress: CopyProgress) => void {
  let phase: string | undefined;
  let last = 0;
  return (step) => {
    const isNew = step.phase !== phase;
    phase = step.phase;
    if (isNew) tell(`${step.phase}…\n`);
    if (!process.stderr.isTTY || Date.now() - last < 200) return;
    last = Date.now();
    process.stderr.write(`\r${step.records}${step.total === undefined ? '' : ` of ${step.total}`} records\r`);
  };
}
