import { existsSync } from 'node:fs';
import { openEventLog } from '@concerto/log';
import { RuleBook } from '@concerto/runtime';
import { loadCatalog } from '../serve/load-catalog.ts';
import { prepareOwnStore } from '../serve/own-store.ts';
import { defaultStore } from '../serve/server-settings.ts';
import { type StoreWords, storeNamed } from '../serve/store-here.ts';
import type { Rules } from './rules-command.ts';

/** The rules as a server would have them that is started here: those of the manifest, and those that its store keeps. */
export async function rulesOfStore(words: StoreWords, act: (book: Rules) => Promise<number>): Promise<number> {
  const configured = loadCatalog({ config: words.config, mock: false, runs: false });
  if (configured === undefined) return 1;
  const { catalog } = configured;
  const log = await openEventLog(storeToRead(words), { now: Date.now });
  try {
    const book = new RuleBook({ log, catalog, mintId: (prefix) => prefix });
    return await act({
      list: async () => (await book.list()).rules,
      try: (wanted) => book.try(wanted),
      names: async () => catalog.list().map(({ name }) => name),
    });
  } finally {
    await log.close();
  }
}

/** One that is not there yet keeps none, and looking does not make it. */
function storeToRead(words: StoreWords): string {
  const named = storeNamed(words);
  const store = named ?? defaultStore;
  const file = /^sqlite:(.+)$/.exec(store)?.[1]?.replace(/^\/\/(?=\/)/, '');
  if (file !== undefined && !existsSync(file)) return 'memory:';
  // It may have come with a clone.
  if (named === undefined) prepareOwnStore(process.cwd());
  return store;
}
