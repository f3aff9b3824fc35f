import type { BuiltinName } from '@concerto/ir';
import type { FiberBegin, Native, RequestFinish, RequestStart } from '../machine.ts';

/** How a row of the table of built-ins is implemented. */
export type Entry =
  | Native
  | { readonly start: RequestStart; readonly finish: RequestFinish }
  | { readonly begin: FiberBegin }
  | 'prelude';

/** The rows a file implements. */
export type Entries = Partial<Record<BuiltinName, Entry>>;
