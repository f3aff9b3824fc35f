import type { Graph, GraphNode, SubGraph } from '@concerto/protocol';
import { isJsonObject } from '../json/json-object.ts';

const columnWidth = 270;
const rowHeight = 130;

export type Place = { readonly x: number; readonly y: number };

/** Every node where it stands after those that lead to it. */
export function laidOut(graph: Graph): Graph {
  const places = placesOf(graph);
  const nodes = graph.nodes.map((node) => {
    const { x, y } = places.get(node.id) ?? { x: 0, y: 0 };
    return { ...node, metadata: { ...node.metadata, visual: { x, y } } };
  });
  return { ...graph, nodes };
}

/** Where a node was put, or where it would be laid out. */
export function placeOf({ metadata }: GraphNode, otherwise: Place = { x: 0, y: 0 }): Place {
  const visual = metadata?.visual;
  if (!isJsonObject(visual)) return otherwise;
  const { x, y } = visual;
  return typeof x === 'number' && typeof y === 'number' ? { x, y } : otherwise;
}

export function placesOf(graph: SubGraph): ReadonlyMap<string, Place> {
  const columns = new Map<number, number>();
  const places = new Map<string, Place>();
  for (const node of inOrder(graph)) {
    const before = graph.edges.filter(({ to }) => to === node.id).map(({ from }) => places.get(from)?.x ?? 0);
    const column = before.length === 0 ? 0 : Math.max(...before) / columnWidth + 1;
    const row = columns.get(column) ?? 0;
    columns.set(column, row + 1);
    places.set(node.id, { x: column * columnWidth, y: row * rowHeight });
  }
  return places;
}

/** Each after all that lead to it; otherwise as they stand. */
export function inOrder(graph: SubGraph): readonly GraphNode[] {
  const ordered: GraphNode[] = [];
  const done = new Set<string>();
  let left = [...graph.nodes];
  while (left.length > 0) {
    const ready = left.filter(({ id }) => graph.edges.every(({ from, to }) => to !== id || done.has(from)));
    // An edge from nowhere, or a circle that came with a whole graph: what is left stands as it is.
    const next = ready.length === 0 ? left : ready;
    for (const node of next) done.add(node.id);
    ordered.push(...next);
    left = left.filter(({ id }) => !done.has(id));
  }
  return ordered;
}
