import type { Graph } from '@concerto/protocol';

/** So many steps can be taken back. */
const stepsMax = 200;

/** A change with its name, and whose it was. */
type Step = { readonly label: string; readonly by: string; readonly before: Graph; readonly after: Graph };

export type GraphHistory = {
  readonly graph: Graph;
  readonly done: readonly Step[];
  readonly undone: readonly Step[];
};

export const emptyGraph: Graph = { nodes: [], edges: [] };

export function newHistory(graph: Graph): GraphHistory {
  return { graph, done: [], undone: [] };
}

export function taken(history: GraphHistory, after: Graph, label: string, by: string): GraphHistory {
  const step = { label, by, before: history.graph, after };
  return { graph: after, done: [...history.done, step].slice(-stepsMax), undone: [] };
}

export function undo(history: GraphHistory): GraphHistory {
  const step = history.done.at(-1);
  if (step === undefined) return history;
  return { graph: step.before, done: history.done.slice(0, -1), undone: [...history.undone, step] };
}

export function redo(history: GraphHistory): GraphHistory {
  const step = history.undone.at(-1);
  if (step === undefined) return history;
  return { graph: step.after, done: [...history.done, step], undone: history.undone.slice(0, -1) };
}
