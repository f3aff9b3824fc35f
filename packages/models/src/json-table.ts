import type { Json } from '@concerto/base';

export type JsonTable = { readonly [key: string]: Json };

export function isTable(data: Json | undefined): data is JsonTable {
  return typeof data === 'object' && data !== null && !Array.isArray(data);
}
