import { err, type JsonObject, ok, type Result, unreachable } from '@concerto/base';
import type { Graph, GraphEdge, GraphEdit, GraphNode, SubGraph } from '@concerto/protocol';

/** All of the edits or none: the graph after them, or why not. */
export function applyEdits(graph: Graph, edits: readonly GraphEdit[]): Result<Graph, string> {
  let now = graph;
  for (const edit of edits) {
    const applied = applyEdit(now, edit);
    if (!applied.ok) return applied;
    now = applied.value;
  }
  return ok(now);
}

function applyEdit(graph: Graph, edit: GraphEdit): Result<Graph, string> {
  switch (edit.type) {
    case 'addnode':
    case 'removenode':
    case 'addedge':
    case 'removeedge':
    case 'changeedge':
    case 'changeedgemetadata':
    case 'changeconfiguration':
    case 'changemetadata':
    case 'changegraphmetadata':
      return within(graph, edit.graphId ?? '', (part) => applyWithin(part, edit));
    case 'addgraph':
      if (graph.graphs?.[edit.id] !== undefined) return err(`there is a graph "${edit.id}" already`);
      return ok({ ...graph, graphs: { ...graph.graphs, [edit.id]: edit.graph } });
    case 'removegraph':
      return withoutKey(graph, 'graphs', edit.id);
    case 'toggleexport': {
      const exported = graph.exports ?? [];
      const isOut = exported.includes(edit.id);
      return ok({ ...graph, exports: isOut ? exported.filter((one) => one !== edit.id) : [...exported, edit.id] });
    }
    case 'addasset': {
      const { path, data, metadata } = edit;
      const asset = { ...(data === undefined ? {} : { data }), ...(metadata === undefined ? {} : { metadata }) };
      return ok({ ...graph, assets: { ...graph.assets, [path]: asset } });
    }
    case 'removeasset':
      return withoutKey(graph, 'assets', edit.path);
    case 'changeassetmetadata': {
      const asset = graph.assets?.[edit.path];
      if (asset === undefined) return err(`there is no asset "${edit.path}"`);
      return ok({ ...graph, assets: { ...graph.assets, [edit.path]: { ...asset, metadata: edit.metadata } } });
    }
    case 'replacegraph':
      return ok(edit.replacement);
    case 'upsertintegration':
      return ok({ ...graph, integrations: { ...graph.integrations, [edit.id]: edit.integration } });
    case 'removeintegration':
      return withoutKey(graph, 'integrations', edit.id);
    default:
      return unreachable(edit);
  }
}

type EditWithin = Extract<GraphEdit, { readonly graphId?: unknown }>;

function applyWithin(graph: SubGraph, edit: EditWithin): Result<SubGraph, string> {
  switch (edit.type) {
    case 'addnode':
      if (nodeOf(graph, edit.node.id) !== undefined) return err(`there is a node "${edit.node.id}" already`);
      return ok({ ...graph, nodes: [...graph.nodes, edit.node] });
    case 'removenode':
      if (nodeOf(graph, edit.id) === undefined) return err(`there is no node "${edit.id}"`);
      return ok({
        ...graph,
        nodes: graph.nodes.filter(({ id }) => id !== edit.id),
        edges: graph.edges.filter(({ from, to }) => from !== edit.id && to !== edit.id),
      });
    case 'addedge':
      return withEdge(graph, edit.edge);
    case 'removeedge':
      if (!graph.edges.some((edge) => isSame(edge, edit.edge))) return err(noEdge(edit.edge));
      return ok({ ...graph, edges: graph.edges.filter((edge) => !isSame(edge, edit.edge)) });
    case 'changeedge': {
      const without = applyWithin(graph, { type: 'removeedge', graphId: '', edge: edit.from });
      return without.ok ? withEdge(without.value, edit.to) : without;
    }
    case 'changeedgemetadata':
      if (!graph.edges.some((edge) => isSame(edge, edit.edge))) return err(noEdge(edit.edge));
      return ok({
        ...graph,
        edges: graph.edges.map((edge) => (isSame(edge, edit.edge) ? { ...edge, metadata: edit.metadata } : edge)),
      });
    case 'changeconfiguration':
      return changeNode(graph, edit.id, (node) => ({
        ...node,
        configuration: merged(node.configuration, edit.configuration, edit.reset),
      }));
    case 'changemetadata':
      return changeNode(graph, edit.id, (node) => ({
        ...node,
        metadata: merged(node.metadata, edit.metadata, edit.reset),
      }));
    case 'changegraphmetadata': {
      const { title, description, metadata } = edit;
      return ok({
        ...graph,
        ...(title == null ? {} : { title }),
        ...(description == null ? {} : { description }),
        ...(metadata == null ? {} : { metadata: { ...graph.metadata, ...metadata } }),
      });
    }
    default:
      return unreachable(edit);
  }
}

/** In the graph itself, or in one of those within it. */
function within(graph: Graph, id: string, apply: (part: SubGraph) => Result<SubGraph, string>): Result<Graph, string> {
  if (id === '') {
    const applied = apply(graph);
    return applied.ok ? ok({ ...graph, ...applied.value }) : applied;
  }
  const part = graph.graphs?.[id];
  if (part === undefined) return err(`there is no graph "${id}"`);
  const applied = apply(part);
  return applied.ok ? ok({ ...graph, graphs: { ...graph.graphs, [id]: applied.value } }) : applied;
}

function withEdge(graph: SubGraph, edge: GraphEdge): Result<SubGraph, string> {
  const missing = [edge.from, edge.to].find((id) => nodeOf(graph, id) === undefined);
  if (missing !== undefined) return err(`there is no node "${missing}"`);
  if (graph.edges.some((one) => isSame(one, edge))) return err(`"${edge.from}" leads to "${edge.to}" already`);
  if (leadsTo(graph, edge.to, edge.from)) return err(`"${edge.to}" leads to "${edge.from}": a circle would never end`);
  return ok({ ...graph, edges: [...graph.edges, edge] });
}

function leadsTo(graph: SubGraph, from: string, to: string): boolean {
  const reached = new Set([from]);
  for (const id of reached) for (const edge of graph.edges) if (edge.from === id) reached.add(edge.to);
  return reached.has(to);
}

function changeNode(graph: SubGraph, id: string, change: (node: GraphNode) => GraphNode): Result<SubGraph, string> {
  if (nodeOf(graph, id) === undefined) return err(`there is no node "${id}"`);
  return ok({ ...graph, nodes: graph.nodes.map((node) => (node.id === id ? change(node) : node)) });
}

function merged(before: JsonObject | undefined, more: JsonObject, isReset: boolean | undefined): JsonObject {
  return isReset === true ? more : { ...before, ...more };
}

function withoutKey(graph: Graph, name: 'graphs' | 'assets' | 'integrations', key: string): Result<Graph, string> {
  const { [key]: gone, ...rest } = graph[name] ?? {};
  return gone === undefined ? err(`there is no "${key}" in ${name}`) : ok({ ...graph, [name]: rest });
}

export function nodeOf(graph: SubGraph, id: string): GraphNode | undefined {
  return graph.nodes.find((node) => node.id === id);
}

function isSame(a: GraphEdge, b: GraphEdge): boolean {
  return a.from === b.from && a.to === b.to && (a.out ?? '') === (b.out ?? '') && (a.in ?? '') === (b.in ?? '');
}

function noEdge({ from, to }: GraphEdge): string {
  return `"${from}" does not lead to "${to}"`;
}
