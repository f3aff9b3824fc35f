import { assert } from '@concerto/base';
import { BUILTIN_NAMES, type BuiltinName, builtinSignature, builtinSpec } from '@concerto/ir';
import { BUILDERS } from './builtins/builders.ts';
import { COLLECTIONS } from './builtins/collections.ts';
import type { Entry } from './builtins/entry.ts';
import { FUNCTION_ENTRIES, PROMPT_ENTRIES } from './builtins/functions.ts';
import { NUMBERS } from './builtins/numbers.ts';
import { OPTIONS } from './builtins/options.ts';
import { PERSISTENCE } from './builtins/persistence.ts';
import { SETS_AND_QUEUES } from './builtins/sets-and-queues.ts';
import { STORES } from './builtins/stores.ts';
import { STRINGS } from './builtins/strings.ts';
import { WORLD } from './builtins/world.ts';
import { AGENT_INTERNALS } from './internals/agents.ts';
import { COLLECTION_INTERNALS } from './internals/collections.ts';
import { HASHMAP_INTERNALS } from './internals/hashmaps.ts';
import { MODEL_INTERNALS } from './internals/models.ts';
import { PIPELINE_INTERNALS } from './internals/pipelines.ts';
import { TASK_INTERNALS } from './internals/tasks.ts';
import type { Implementation } from './machine.ts';

/** Every row of the table of built-ins; a missing one does not compile. */
const ENTRIES: Readonly<Record<BuiltinName, Entry>> = {
  ...STRINGS,
  ...NUMBERS,
  ...COLLECTIONS,
  ...SETS_AND_QUEUES,
  ...OPTIONS,
  ...FUNCTION_ENTRIES,
  ...PROMPT_ENTRIES,
  ...STORES,
  ...PERSISTENCE,
  ...WORLD,
  ...BUILDERS,
};

/** What only the prelude calls. */
const INTERNALS: Readonly<Record<string, Entry>> = {
  ...COLLECTION_INTERNALS,
  ...HASHMAP_INTERNALS,
  ...MODEL_INTERNALS,
  ...AGENT_INTERNALS,
  ...PIPELINE_INTERNALS,
  ...TASK_INTERNALS,
};

const implementations = new Map<string, Implementation>();
for (const name of BUILTIN_NAMES) implementations.set(name, describe(name, ENTRIES[name], counts(name)));
for (const [name, entry] of Object.entries(INTERNALS)) {
  implementations.set(name, describe(name, entry, { min: 0, max: Number.MAX_SAFE_INTEGER }));
}
implementations.set('$apply', { kind: 'apply', name: '$apply', min: 2, max: 2 });

export function implementation(name: string): Implementation {
  const found = implementations.get(name);
  assert(found !== undefined, `a built-in called ${name}`);
  return found;
}

function describe(name: string, entry: Entry, count: { readonly min: number; readonly max: number }): Implementation {
  if (entry === 'prelude') return { kind: 'prelude', name, ...count };
  if (typeof entry === 'function') return { kind: 'native', name, run: entry, ...count };
  if ('begin' in entry) return { kind: 'fiber', name, begin: entry.begin, ...count };
  return { kind: 'request', name, start: entry.start, finish: entry.finish, ...count };
}

/** How many arguments a call passes: type arguments first, the receiver of a method among them. */
function counts(name: BuiltinName): { min: number; max: number } {
  const { params, typeParams } = builtinSignature(name);
  const types = builtinSpec(name).typeArguments === true ? typeParams.length : 0;
  const required = params.filter(({ optional, rest }) => !optional && !rest).length;
  const endless = params.some(({ rest }) => rest);
  return { min: required + types, max: endless ? Number.MAX_SAFE_INTEGER : params.length + types };
}
