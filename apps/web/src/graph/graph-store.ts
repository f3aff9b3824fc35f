import type { Result } from '@concerto/base';
import { Graph } from '@concerto/protocol';
import { emptyGraph, type GraphHistory, newHistory, redo, taken, undo } from './graph-history.ts';

const key = 'concerto.graph';
/** Of so many sessions it is kept which of their changes are in the graph. */
const sessionsMax = 50;

type Kept = { readonly graph: Graph; readonly seen: readonly (readonly [string, number])[] };

/** The graph of this browser: every tab shows the same, and it is there after a reload. */
class GraphStore {
  readonly #listeners = new Set<() => void>();
  #history = newHistory(readKept().graph);

  constructor() {
    window.addEventListener('storage', (event) => {
      if (event.key !== key) return;
      const { graph } = readKept();
      if (JSON.stringify(graph) === JSON.stringify(this.#history.graph)) return;
      this.#set(taken(this.#history, graph, 'Changed in another tab', ''), false);
    });
  }

  readonly state = (): GraphHistory => this.#history;

  readonly subscribe = (onChange: () => void): (() => void) => {
    this.#listeners.add(onChange);
    return () => this.#listeners.delete(onChange);
  };

  /** One step with its name; nothing happens when it is refused or changes nothing. */
  change(label: string, by: string, apply: (graph: Graph) => Result<Graph, string>): Result<Graph, string> {
    const applied = apply(this.#history.graph);
    if (applied.ok && applied.value !== this.#history.graph) this.#set(taken(this.#history, applied.value, label, by));
    return applied;
  }

  readonly undo = (): void => this.#set(undo(this.#history));
  readonly redo = (): void => this.#set(redo(this.#history));

  /** Up to which of its events a session's changes are in the graph. */
  seen(session: string): number {
    return new Map(readKept().seen).get(session) ?? 0;
  }

  see(session: string, position: number): void {
    const seen = new Map(readKept().seen);
    seen.delete(session);
    seen.set(session, position);
    keep({ graph: this.#history.graph, seen: [...seen].slice(-sessionsMax) });
  }

  #set(history: GraphHistory, isOurs = true): void {
    if (history === this.#history) return;
    this.#history = history;
    if (isOurs) keep({ ...readKept(), graph: history.graph });
    for (const onChange of this.#listeners) onChange();
  }
}

function readKept(): Kept {
  try {
    const stored: { readonly graph?: unknown; readonly seen?: unknown } = JSON.parse(localStorage.getItem(key) ?? '{}');
    const graph = Graph.safeParse(stored.graph);
    const seen = Array.isArray(stored.seen) ? stored.seen.filter(isPair) : [];
    return { graph: graph.success ? graph.data : emptyGraph, seen };
  } catch {
    return { graph: emptyGraph, seen: [] };
  }
}

function keep(kept: Kept): void {
  try {
    localStorage.setItem(key, JSON.stringify(kept));
  } catch {
    // A browser that keeps nothing for us: the graph lasts as long as the page.
  }
}

function isPair(value: unknown): value is [string, number] {
  return Array.isArray(value) && typeof value[0] === 'string' && typeof value[1] === 'number';
}

export const graphStore = new GraphStore();
