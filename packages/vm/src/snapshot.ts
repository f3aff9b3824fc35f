import type { Json } from '@concerto/base';
import { encodeRequest } from './effects.ts';
import type { Fiber, Group, Vm } from './machine.ts';
import { fingerprint } from './program.ts';
import { NONE, type ObjectValue, type StoreValue, type Value } from './value.ts';

/** Raised by a change of this format; a snapshot of another version is refused. */
export const SNAPSHOT_VERSION = 2;

/**
 * The whole state of a VM between two calls of `run`, as JSON. Objects are in one table and are referred to by number, so
 * that what was one object (a cell, a container in two places) is one object again.
 */
export function snapshot(vm: Vm): Json {
  const table = new ObjectTable(vm);
  const state = {
    format: 'conc-vm',
    version: SNAPSHOT_VERSION,
    module: vm.program.module.name,
    fingerprint: fingerprint(vm.program),
    limits: { ...vm.limits },
    capture: vm.capture,
    globals: table.list(vm.globals),
    fibers: vm.fibers.things().map((fiber) => encodeFiber(fiber, table)),
    ready: [...vm.ready],
    pending: vm.pending.things().map(({ id, fiber, request }) => ({
      id,
      fiber,
      request: encodeRequest(request, (value) => table.value(value)),
    })),
    captured: vm.captured.map(({ channel, payload }) => ({ channel, payload: table.value(payload) })),
    mocks: [...vm.mocks].map(([name, mock]) => ({
      name,
      config: [...mock.config].map(([key, value]) => [key, table.value(value)]),
      used: mock.used,
      calls: table.list(mock.calls),
    })),
    entries: [...vm.entries],
    nextFiber: vm.nextFiber,
    nextRequest: vm.nextRequest,
    steps: vm.steps,
    outcome: encodeOutcome(vm, table),
    stores: [...vm.program.stores].map(([key, store]) => [key, table.value(store)]),
  };
  return { ...state, objects: table.finish() };
}

function encodeOutcome(vm: Vm, table: ObjectTable): Json {
  if (vm.outcome === null) return null;
  if (vm.outcome.status === 'done') return { status: 'done', value: table.value(vm.outcome.value) };
  const { value, message, trace, panic } = vm.outcome.failure;
  const entries = trace.map((entry) => ({ ...entry, file: entry.file ?? null }));
  return { status: 'failed', value: table.value(value), message, trace: entries, panic };
}

function encodeFiber(fiber: Fiber, table: ObjectTable): Json {
  const { id, parent, slot, depth, wait } = fiber;
  const top = fiber.functions[depth - 1];
  const used = (fiber.bases[depth - 1] ?? 0) + (top?.registers ?? 0);
  return {
    id,
    parent,
    slot,
    depth,
    functions: fiber.functions.slice(0, depth).map((fn) => fn.index),
    next: fiber.next.slice(0, depth),
    bases: fiber.bases.slice(0, depth),
    results: fiber.results.slice(0, depth),
    stack: table.list(fiber.stack.slice(0, used)),
    wait: wait === null ? null : encodeWait(wait, table),
    tasks: fiber.tasks.map((task) => [task.fiber, task.frame]),
  };
}

function encodeWait(wait: NonNullable<Fiber['wait']>, table: ObjectTable): Json {
  if (wait.kind === 'request') {
    return { kind: 'request', id: wait.id, name: wait.name, args: table.list(wait.args), result: wait.result };
  }
  if (wait.kind === 'tasks') return { kind: 'tasks', frame: wait.frame, most: wait.most };
  return { kind: 'group', group: encodeGroup(wait.group, table), result: wait.result };
}

function encodeGroup(group: Group, table: ObjectTable): Json {
  const { mode, started, limit, left, timer } = group;
  const running = [...group.running];
  return {
    mode,
    started,
    limit,
    left,
    timer,
    running,
    waiting: table.list(group.waiting),
    values: table.list(group.values),
  };
}

/** Gives each object a number when it is first met, and writes it down later: depth of nesting costs no stack. */
class ObjectTable {
  readonly #ids = new Map<ObjectValue, number>();
  readonly #queue: ObjectValue[] = [];
  readonly #stores: ReadonlyMap<StoreValue, string>;

  constructor(vm: Vm) {
    this.#stores = new Map([...vm.program.stores].map(([key, store]) => [store, key]));
  }

  /** nil, Bool, Int and String are themselves; everything else is a list that begins with a letter. */
  value(value: Value): Json {
    if (value === undefined) return ['u'];
    if (typeof value !== 'object' || value === null) return value;
    if (value === NONE) return ['n'];
    if (value.kind === 'float')
      return ['f', Number.isFinite(value.value) && !Object.is(value.value, -0) ? value.value : signed(value.value)];
    let id = this.#ids.get(value);
    if (id === undefined) {
      id = this.#queue.length;
      this.#ids.set(value, id);
      this.#queue.push(value);
    }
    return ['o', id];
  }

  list(values: readonly Value[]): Json[] {
    return values.map((value) => this.value(value));
  }

  finish(): Json[] {
    const objects: Json[] = [];
    // The queue grows while it is written.
    for (let index = 0; index < this.#queue.length; index++) {
      const object = this.#queue[index];
      if (object !== undefined) objects.push(this.#object(object));
    }
    return objects;
  }

  #object(value: ObjectValue): Json {
    switch (value.kind) {
      case 'array':
      case 'stack':
        return [value.kind, value.shared, this.list(value.items)];
      case 'queue':
        return ['queue', value.shared, this.list(value.items), value.head];
      case 'map':
        return ['map', value.shared, this.#pairs(value.entries), value.keys === null ? null : this.#pairs(value.keys)];
      case 'set':
        return ['set', value.shared, this.#pairs(value.items)];
      case 'struct':
        return [
          'struct',
          value.shared,
          value.type.name,
          this.list(value.fields),
          value.extra === null ? null : this.#pairs(value.extra),
        ];
      case 'enum':
        return ['enum', value.type.name, value.variant, this.list(value.payload)];
      case 'some':
      case 'ok':
      case 'err':
      case 'cell':
        return [value.kind, this.value(value.value)];
      case 'none':
        return ['none'];
      case 'float':
        return ['float', value.value];
      case 'range':
        return ['range', value.start, value.end, value.inclusive];
      case 'closure':
        return ['closure', value.target.index, this.list(value.captures)];
      case 'builtin':
        return ['builtin', value.name];
      case 'ref':
        return ['ref', value.of, value.name];
      case 'type':
        return ['type', value.text];
      case 'builder':
        return this.#builder(value);
      case 'iterator':
        return value.over === 'ints' ? ['ints', value.next, value.end] : ['items', value.next, this.list(value.items)];
      case 'hashmap':
      case 'ledger':
      case 'memory':
        return this.#store(value);
    }
  }

  #pairs(entries: ReadonlyMap<string | number | boolean | null, Value>): Json {
    return [...entries].map(([key, value]) => [
      typeof key === 'number' && !Number.isFinite(key) ? ['f', signed(key)] : key,
      this.value(value),
    ]);
  }

  #builder(value: Extract<ObjectValue, { kind: 'builder' }>): Json {
    const { memory, tools, context, ...plain } = value.options;
    return [
      'builder',
      this.value(value.target),
      { ...plain },
      memory === undefined ? null : this.value(memory),
      tools === undefined ? null : this.list(tools),
      context === undefined ? null : [this.value(context)],
    ];
  }

  /** Declared stores are also known to the program by name. */
  #store(value: StoreValue): Json {
    const declared = this.#stores.get(value) ?? null;
    switch (value.kind) {
      case 'hashmap':
        return [
          'hashmap',
          declared,
          value.name,
          this.value(value.entries),
          this.#scopes(value.scopes),
          value.listeners.map(({ key, call }) => [key === undefined ? ['u'] : key, this.value(call)]),
          value.path,
        ];
      case 'ledger':
        return [
          'ledger',
          declared,
          value.name,
          [...value.entries].map(([id, entry]) => [id, [...entry.keys], this.value(entry.value)]),
          this.#scopes(value.scopes),
        ];
      case 'memory':
        return [
          'memory',
          declared,
          value.name,
          value.limit,
          value.messages.map(({ role, content }) => [role, content]),
        ];
    }
  }

  #scopes(scopes: ReadonlyMap<string, StoreValue>): Json {
    return [...scopes].map(([name, store]) => [name, this.value(store)]);
  }
}

function signed(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value);
}
