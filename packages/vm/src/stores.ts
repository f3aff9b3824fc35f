import { emptyMap, type HashMapStore, type LedgerStore, type MemoryStore } from './value.ts';

export function newHashMap(name: string): HashMapStore {
  return { kind: 'hashmap', name, entries: emptyMap(), scopes: new Map(), path: null, listeners: [] };
}

export function newLedger(name: string): LedgerStore {
  return { kind: 'ledger', name, entries: new Map(), scopes: new Map() };
}

export function newMemory(name: string, limit: number | null): MemoryStore {
  return { kind: 'memory', name, limit, messages: [] };
}

/** Adds a message; a memory with a limit forgets its oldest ones. */
export function remember(memory: MemoryStore, role: string, content: string): void {
  memory.messages.push({ role, content });
  if (memory.limit !== null && memory.messages.length > memory.limit) {
    memory.messages.splice(0, memory.messages.length - memory.limit);
  }
}
