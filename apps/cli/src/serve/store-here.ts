import { loadCatalog } from './load-catalog.ts';
import { storeOf } from './server-settings.ts';

export type StoreWords = { readonly store?: string | undefined; readonly config?: string | undefined };

/** The store that a command means in this folder, as `serve` would; undefined when nobody named one. */
export function storeNamed({ store, config }: StoreWords): string | undefined {
  const named = store ?? process.env.CONCERTO_STORE;
  if (named !== undefined) return named;
  const configured = loadCatalog({ config, mock: false, runs: false });
  // The default would be another store than the server's.
  if (configured === undefined) throw new Error('the manifest may name the store: mend it, or name the store yourself');
  return storeOf({}, configured.server);
}
