import type { MapKey, Value } from './value.ts';

/** Marks a container: from now on a change through a place copies it first. */
export function share(value: Value): Value {
  if (typeof value === 'object' && value !== null) {
    switch (value.kind) {
      case 'array':
      case 'map':
      case 'struct':
      case 'set':
      case 'queue':
      case 'stack':
        value.shared = true;
        break;
      default:
        break;
    }
  }
  return value;
}

/** The container to change: itself, or a copy when it is shared. Other values stay as they are. */
export function own(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value;
  switch (value.kind) {
    case 'array':
      return value.shared ? { kind: 'array', items: copyItems(value.items), shared: false } : value;
    case 'map':
      return value.shared
        ? { kind: 'map', entries: copyMap(value.entries), keys: value.keys && new Map(value.keys), shared: false }
        : value;
    case 'struct':
      return value.shared
        ? {
            kind: 'struct',
            type: value.type,
            fields: copyItems(value.fields),
            extra: value.extra && new Map(value.extra),
            shared: false,
          }
        : value;
    case 'set':
      return value.shared ? { kind: 'set', items: copyMap(value.items), shared: false } : value;
    case 'queue':
      return value.shared
        ? { kind: 'queue', items: copyItems(value.items.slice(value.head)), head: 0, shared: false }
        : value;
    case 'stack':
      return value.shared ? { kind: 'stack', items: copyItems(value.items), shared: false } : value;
    default:
      return value;
  }
}

/** A copy of a list: what is inside is now in two places. */
export function copyItems(items: readonly Value[]): Value[] {
  const copy = items.slice();
  for (let index = 0; index < copy.length; index++) {
    const item = copy[index];
    if (typeof item === 'object') share(item);
  }
  return copy;
}

function copyMap(entries: ReadonlyMap<MapKey, Value>): Map<MapKey, Value> {
  for (const value of entries.values()) share(value);
  return new Map(entries);
}
