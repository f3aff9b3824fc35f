import { assert, type Json } from '@concerto/base';
import { type IrModule, isBuiltin, parseType } from '@concerto/ir';
import { decodeRequest } from './effects.ts';
import type { Fiber, Group, Vm, Wait } from './machine.ts';
import type { LinkedFunction } from './program.ts';
import { SNAPSHOT_VERSION } from './snapshot.ts';
import { newHashMap, newLedger, newMemory } from './stores.ts';
import {
  type ClosureValue,
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
import { emptyVm } from './vm.ts';

/** A snapshot that does not belong to this module, or is damaged. */
export class SnapshotError extends Error {
  readonly code = 'bad_snapshot';
  constructor(problem: string, cause?: unknown) {
    super(`cannot continue from the snapshot: ${problem}`, { cause });
    this.name = 'SnapshotError';
  }
}

/** A VM that goes on exactly where `snapshot` was taken. Requests that were open are in `pendingRequests`. */
export function restore(module: IrModule, data: Json): Vm {
  try {
    return decode(module, data);
  } catch (cause) {
    if (cause instanceof SnapshotError) throw cause;
    throw new SnapshotError('it is damaged', cause);
  }
}

function decode(module: IrModule, data: Json): Vm {
  const state = object(data);
  if (state.format !== 'conc-vm' || state.version !== SNAPSHOT_VERSION) throw new SnapshotError('another version');
  const vm = emptyVm(module, { capture: state.capture === true, limits: numbers(state.limits) });
  if (state.module !== module.name || state.functions !== vm.program.functions.length) {
    throw new SnapshotError('it was taken from another program');
  }
  const objects = new ObjectReader(vm, array(state.objects));
  objects.list(state.globals).forEach((value, index) => {
    vm.globals[index] = value;
  });
  for (const entry of array(state.fibers)) {
    const fiber = decodeFiber(vm, object(entry), objects);
    vm.fibers.set(fiber.id, fiber);
  }
  vm.ready.push(...array(state.ready).map(number));
  for (const entry of array(state.pending).map(object)) {
    const request = decodeRequest(entry.request ?? null, (value) => objects.value(value));
    vm.pending.set(number(entry.id), { fiber: number(entry.fiber), request });
  }
  for (const entry of array(state.captured).map(object)) {
    vm.captured.push({ channel: text(entry.channel), payload: objects.value(entry.payload) });
  }
  for (const entry of array(state.mocks).map(object)) {
    const config = new Map(
      pairs(entry.config).map(([key, value]): [string, Value] => [text(key), objects.value(value)]),
    );
    vm.mocks.set(text(entry.name), { config, used: number(entry.used), calls: objects.list(entry.calls) });
  }
  vm.entries.push(...array(state.entries).map(number));
  vm.nextFiber = number(state.nextFiber);
  vm.nextRequest = number(state.nextRequest);
  vm.steps = number(state.steps);
  restoreOutcome(vm, state.outcome, objects);
  return vm;
}

function restoreOutcome(vm: Vm, data: Json | undefined, objects: ObjectReader): void {
  if (data === null || data === undefined) return;
  const outcome = object(data);
  const value = objects.value(outcome.value);
  if (outcome.status === 'done') {
    vm.outcome = { status: 'done', value };
    return;
  }
  const trace = array(outcome.trace)
    .map(object)
    .map((entry) => ({
      function: text(entry.function),
      file: typeof entry.file === 'string' ? entry.file : undefined,
      line: number(entry.line),
      column: number(entry.column),
    }));
  vm.outcome = {
    status: 'failed',
    failure: { value, message: text(outcome.message), trace, panic: outcome.panic === true },
  };
}

function decodeFiber(vm: Vm, data: Fields, objects: ObjectReader): Fiber {
  const functions = array(data.functions).map((index): LinkedFunction => functionAt(vm, index));
  const stack = objects.list(data.stack);
  while (stack.length < 64) stack.push(undefined);
  return {
    id: number(data.id),
    parent: data.parent === null ? null : number(data.parent),
    slot: number(data.slot),
    stack,
    depth: number(data.depth),
    functions,
    next: array(data.next).map(number),
    bases: array(data.bases).map(number),
    results: array(data.results).map(number),
    wait: data.wait === null ? null : decodeWait(object(data.wait), objects),
  };
}

function functionAt(vm: Vm, index: Json): LinkedFunction {
  const found = vm.program.functions[number(index)];
  if (found === undefined) throw new SnapshotError('it names a function the program does not have');
  return found;
}

function decodeWait(data: Fields, objects: ObjectReader): Wait {
  const result = number(data.result);
  if (data.kind === 'request') {
    return { kind: 'request', id: number(data.id), name: text(data.name), args: objects.list(data.args), result };
  }
  const group = object(data.group);
  const { mode } = group;
  if (mode !== 'all' && mode !== 'race' && mode !== 'deadline') throw new SnapshotError('a damaged group');
  const decoded: Group = {
    mode,
    waiting: objects.list(group.waiting).map(closure),
    started: number(group.started),
    limit: number(group.limit),
    values: objects.list(group.values),
    left: number(group.left),
    running: array(group.running).map(number),
    timer: group.timer === null ? null : number(group.timer),
  };
  return { kind: 'group', group: decoded, result };
}

function closure(value: Value): ClosureValue {
  if (typeof value === 'object' && value !== null && value.kind === 'closure') return value;
  throw new SnapshotError('a damaged closure');
}

/** Makes every object empty first, then fills them: they may refer to each other in circles. */
class ObjectReader {
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
    const [kind, a, b, c, d] = entry;
    switch (kind) {
      case 'array':
      case 'stack': {
        const shell = { kind, items: [] as Value[], shared: a === true } satisfies ObjectValue;
        fillers.push(() => {
          shell.items = this.list(b);
        });
        return shell;
      }
      case 'queue': {
        const shell = { kind, items: [] as Value[], head: number(c), shared: a === true } satisfies ObjectValue;
        fillers.push(() => {
          shell.items = this.list(b);
        });
        return shell;
      }
      case 'map': {
        const shell = { ...emptyMap(), shared: a === true };
        fillers.push(() => {
          shell.entries = this.#entries(b);
          shell.keys = c === null ? null : this.#entries(c);
        });
        return shell;
      }
      case 'set': {
        const shell = { kind, items: new Map<MapKey, Value>(), shared: a === true } satisfies ObjectValue;
        fillers.push(() => {
          shell.items = this.#entries(b);
        });
        return shell;
      }
      case 'struct':
        return this.#struct(entry, fillers);
      case 'enum': {
        const type = this.#vm.program.enums.get(text(a));
        if (type === undefined) throw new SnapshotError(`there is no enum ${text(a)}`);
        const payload: Value[] = [];
        fillers.push(() => {
          payload.push(...this.list(c));
        });
        return { kind, type, variant: number(b), payload };
      }
      case 'some':
      case 'ok':
      case 'err':
      case 'cell': {
        const shell: { kind: 'some' | 'ok' | 'err' | 'cell'; value: Value } = { kind, value: null };
        fillers.push(() => {
          shell.value = this.value(a);
        });
        return shell;
      }
      case 'range':
        return { kind, start: bound(a), end: bound(b), inclusive: c === true };
      case 'closure': {
        const captures: Value[] = [];
        fillers.push(() => {
          captures.push(...this.list(b));
        });
        return { kind, target: functionAt(this.#vm, a ?? null), captures };
      }
      case 'ints':
        return { kind: 'iterator', over: 'ints', next: number(a), end: number(b) };
      case 'items': {
        const items: Value[] = [];
        fillers.push(() => {
          for (const item of this.list(b)) items.push(item);
        });
        return { kind: 'iterator', over: 'items', next: number(a), items };
      }
      case 'builtin':
      case 'ref':
      case 'type':
        return this.#plain(entry);
      case 'builder':
        return this.#builder([a, b, c, d, entry[5]], fillers);
      case 'hashmap':
      case 'ledger':
      case 'memory':
        return this.#store(entry, fillers);
      default:
        throw new SnapshotError('an object of an unknown kind');
    }
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
  #store([kind, declared, name, content, scopes]: readonly Json[], fillers: (() => void)[]): ObjectValue {
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

type Fields = { readonly [key: string]: Json };

function object(data: Json | undefined): Fields {
  if (typeof data !== 'object' || data === null || isList(data)) throw new SnapshotError('it is damaged');
  return data;
}

function isList(data: Json | undefined): data is readonly Json[] {
  return Array.isArray(data);
}

function array(data: Json | undefined): readonly Json[] {
  if (!isList(data)) throw new SnapshotError('it is damaged');
  return data;
}

function pairs(data: Json | undefined): (readonly Json[])[] {
  return array(data).map(array);
}

function number(data: Json | undefined): number {
  if (typeof data !== 'number') throw new SnapshotError('it is damaged');
  return data;
}

function text(data: Json | undefined): string {
  if (typeof data !== 'string') throw new SnapshotError('it is damaged');
  return data;
}

function numbers(data: Json | undefined): Record<string, number> {
  return Object.fromEntries(Object.entries(object(data)).map(([key, value]) => [key, number(value)]));
}
