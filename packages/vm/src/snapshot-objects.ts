import { assert, type Json } from '@concerto/base';
import { isBuiltin, parseType } from '@concerto/ir';
import type { Vm } from './machine.ts';
import type { LinkedFunction } from './program.ts';
import { array, type Fields, isList, number, object, pairs, SnapshotError, text } from './snapshot-data.ts';
import { newHashMap, newLedger, newMemory } from './stores.ts';
import {
  emptyMap,
  float,
  type HashMapStore,
  type LedgerStore,
  type MapKey,
  type MemoryStore,
  NONE,
  type ObjectValue,
  type RefValue,
  type StoreValue,
  type Value,
} from './value.ts';

export function functionAt(vm: Vm, index: Json): LinkedFunction {
  const found = vm.program.functions[number(index)];
  if (found === undefined) throw new SnapshotError('it names a function the program does not have');
  return found;
}

/** Makes every object empty first, then fills them: they may refer to each other in circles. */
export class ObjectReader {
  readonly #vm: Vm;
  readonly #objects: ObjectValue[] = [];

  constructor(vm: Vm, data: readonly Json[]) {
    this.#vm = vm;
    const fillers: (() => void)[] = [];
    for (const entry of data) this.#objects.push(this.#shell(array(entry), fillers));
    for (const fill of fillers) fill();
  }

  value(data: Json | undefined): Value {
    if (data === undefined) throw new SnapshotError('a value is missing');
    if (!isList(data)) {
      if (typeof data === 'object' && data !== null) throw new SnapshotError('a damaged value');
      return data;
    }
    const [tag, content] = data;
    switch (tag) {
      case 'u':
        return undefined;
      case 'n':
        return NONE;
      case 'f':
        return float(Number(content));
      case 'o': {
        const found = this.#objects[number(content)];
        if (found === undefined) throw new SnapshotError('an object is missing');
        return found;
      }
      default:
        throw new SnapshotError('a damaged value');
    }
  }

  list(data: Json | undefined): Value[] {
    return array(data).map((item) => this.value(item));
  }

  #shell(entry: readonly Json[], fillers: (() => void)[]): ObjectValue {
    switch (entry[0]) {
      case 'array':
      case 'stack':
      case 'queue':
      case 'map':
      case 'set':
        return this.#container(entry, fillers);
      case 'struct':
        return this.#struct(entry, fillers);
      case 'enum':
      case 'closure':
      case 'items':
        return this.#list(entry, fillers);
      case 'some':
      case 'ok':
      case 'err':
      case 'cell': {
        const shell: { kind: 'some' | 'ok' | 'err' | 'cell'; value: Value } = { kind: entry[0], value: null };
        fillers.push(() => {
          shell.value = this.value(entry[1]);
        });
        return shell;
      }
      case 'range':
        return { kind: 'range', start: bound(entry[1]), end: bound(entry[2]), inclusive: entry[3] === true };
      case 'ints':
        return { kind: 'iterator', over: 'ints', next: number(entry[1]), end: number(entry[2]) };
      case 'builtin':
      case 'ref':
      case 'type':
        return this.#plain(entry);
      case 'builder':
        return this.#builder(entry.slice(1), fillers);
      case 'hashmap':
      case 'ledger':
      case 'memory':
        return this.#store(entry, fillers);
      default:
        throw new SnapshotError('an object of an unknown kind');
    }
  }

  #container([kind, mark, content, more]: readonly Json[], fillers: (() => void)[]): ObjectValue {
    const shared = mark === true;
    if (kind === 'map') {
      const shell = { ...emptyMap(), shared };
      fillers.push(() => {
        shell.entries = this.#entries(content);
        shell.keys = more === null ? null : this.#entries(more);
      });
      return shell;
    }
    if (kind === 'set') {
      const shell = { kind, items: new Map<MapKey, Value>(), shared } satisfies ObjectValue;
      fillers.push(() => {
        shell.items = this.#entries(content);
      });
      return shell;
    }
    const items: Value[] = [];
    fillers.push(() => {
      for (const item of this.list(content)) items.push(item);
    });
    if (kind === 'queue') return { kind, items, head: number(more), shared };
    return { kind: kind === 'stack' ? 'stack' : 'array', items, shared };
  }

  /** Values that hold a list which never changes. */
  #list([kind, a, b, c]: readonly Json[], fillers: (() => void)[]): ObjectValue {
    const items: Value[] = [];
    fillers.push(() => {
      for (const item of this.list(kind === 'enum' ? c : b)) items.push(item);
    });
    if (kind === 'items') return { kind: 'iterator', over: 'items', next: number(a), items };
    if (kind === 'closure') return { kind, target: functionAt(this.#vm, a ?? null), captures: items };
    const type = this.#vm.program.enums.get(text(a));
    if (type === undefined) throw new SnapshotError(`there is no enum ${text(a)}`);
    return { kind: 'enum', type, variant: number(b), payload: items };
  }

  #plain([kind, a, b]: readonly Json[]): ObjectValue {
    const name = text(a);
    if (kind === 'builtin') {
      if (!isBuiltin(name)) throw new SnapshotError(`there is no built-in ${name}`);
      return { kind, name };
    }
    if (kind === 'type') return { kind, text: name, type: parseType(name) };
    return { kind: 'ref', of: refKind(name), name: text(b) };
  }

  #struct([, shared, name, fields, extra]: readonly Json[], fillers: (() => void)[]): ObjectValue {
    const type = this.#vm.program.structs.get(text(name));
    if (type === undefined) throw new SnapshotError(`there is no struct ${text(name)}`);
    const shell = {
      kind: 'struct',
      type,
      fields: [] as Value[],
      extra: null as Map<string, Value> | null,
      shared: shared === true,
    } as const;
    const target: { fields: Value[]; extra: Map<string, Value> | null } = shell;
    fillers.push(() => {
      target.fields = this.list(fields);
      target.extra =
        extra === null ? null : new Map(pairs(extra).map(([key, value]) => [text(key), this.value(value)]));
    });
    return shell;
  }

  #builder(
    [target, options, memory, tools, context]: readonly (Json | undefined)[],
    fillers: (() => void)[],
  ): ObjectValue {
    const plain = object(options);
    const shell = { kind: 'builder', target: placeholder, options: { ...builderOptions(plain) } } satisfies ObjectValue;
    const filled: { target: RefValue; options: Record<string, unknown> } = shell;
    fillers.push(() => {
      const ref = this.value(target);
      if (typeof ref !== 'object' || ref === null || ref.kind !== 'ref') throw new SnapshotError('a damaged builder');
      filled.target = ref;
      if (memory !== null) filled.options.memory = this.value(memory);
      if (tools !== null) filled.options.tools = this.list(tools);
      if (context !== null) filled.options.context = this.value(array(context)[0]);
    });
    return shell;
  }

  #entries(data: Json | undefined): Map<MapKey, Value> {
    return new Map(pairs(data).map(([key, value]): [MapKey, Value] => [mapKeyOf(key), this.value(value)]));
  }

  /** A declared store is the one the program's constants refer to. */
  #store(
    [kind, declared, name, content, scopes, listeners, path]: readonly Json[],
    fillers: (() => void)[],
  ): ObjectValue {
    const known = typeof declared === 'string' ? this.#vm.program.stores.get(declared) : undefined;
    if (typeof declared === 'string' && known === undefined) throw new SnapshotError(`there is no ${declared}`);
    if (kind === 'memory') {
      const store: MemoryStore =
        known?.kind === kind ? known : newMemory(text(name), content === null ? null : number(content));
      store.messages = pairs(scopes).map(([role, message]) => ({ role: text(role), content: text(message) }));
      return store;
    }
    if (kind === 'hashmap') {
      const store: HashMapStore = known?.kind === kind ? known : newHashMap(text(name));
      fillers.push(() => {
        const entries = this.value(content);
        assert(typeof entries === 'object' && entries !== null && entries.kind === 'map', 'entries of a hashmap');
        store.entries = entries;
        store.path = typeof path === 'string' ? path : null;
        for (const [key, call] of pairs(listeners)) {
          store.listeners.push({ key: isList(key) ? undefined : mapKeyOf(key), call: this.value(call) });
        }
        this.#scopes(scopes, 'hashmap', (scope, inner) => inner.kind === 'hashmap' && store.scopes.set(scope, inner));
      });
      return store;
    }
    const store: LedgerStore = known?.kind === 'ledger' ? known : newLedger(text(name));
    fillers.push(() => {
      for (const [id, keys, value] of array(content).map(array)) {
        store.entries.set(text(id), { keys: array(keys).map(text), value: this.value(value) });
      }
      this.#scopes(scopes, 'ledger', (scope, inner) => inner.kind === 'ledger' && store.scopes.set(scope, inner));
    });
    return store;
  }

  #scopes(data: Json | undefined, kind: string, put: (name: string, store: StoreValue) => unknown): void {
    for (const [name, value] of pairs(data)) {
      const store = this.value(value);
      if (typeof store === 'object' && store !== null && (store.kind === 'hashmap' || store.kind === 'ledger'))
        put(text(name), store);
      else throw new SnapshotError(`a damaged ${kind}`);
    }
  }
}

const placeholder: RefValue = { kind: 'ref', of: 'model', name: '' };

function builderOptions(plain: Fields): Record<string, never> | Record<string, Json> {
  return Object.fromEntries(Object.entries(plain));
}

function refKind(kind: string): RefValue['of'] {
  switch (kind) {
    case 'model':
    case 'agent':
    case 'pipeline':
    case 'schema':
    case 'mcp':
    case 'session':
      return kind;
    default:
      throw new SnapshotError('a damaged reference');
  }
}

function bound(value: Json | undefined): number | null {
  return value === null ? null : number(value);
}

function mapKeyOf(key: Json | undefined): MapKey {
  if (isList(key)) return Number(key[1]);
  if (key === undefined || (typeof key === 'object' && key !== null)) throw new SnapshotError('a damaged key');
  return key;
}
