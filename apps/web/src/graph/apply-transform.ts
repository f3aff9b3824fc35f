import { ok, type Result, unreachable } from '@concerto/base';
import type { Graph, GraphEdit, GraphTransform } from '@concerto/protocol';
import { applyEdits, nodeOf } from './apply-edits.ts';
import { laidOut } from './layout.ts';

/** What a transform comes to in edits, applied as one change. */
export function applyTransform(graph: Graph, transform: GraphTransform): Result<Graph, string> {
  switch (transform.kind) {
    case 'layoutGraph':
      return ok(laidOut(graph));
    case 'updateNode': {
      const { nodeId: id, configuration, metadata, portsToAutowire } = transform;
      const graphId = transform.graphId ?? '';
      const part = graphId === '' ? graph : graph.graphs?.[graphId];
      const isNew = (from: string): boolean =>
        part !== undefined &&
        nodeOf(part, from) !== undefined &&
        !part.edges.some((one) => one.from === from && one.to === id);
      const wires = [...new Set(portsToAutowire?.map(({ path }) => path))].filter(isNew);
      const edits: GraphEdit[] = [
        // Without anything to change it still has to be there.
        { type: 'changeconfiguration', graphId, id, configuration: configuration ?? {} },
        ...(metadata == null ? [] : [{ type: 'changemetadata' as const, graphId, id, metadata }]),
        ...wires.map((from) => ({ type: 'addedge' as const, graphId, edge: { from, to: id } })),
      ];
      return applyEdits(graph, edits);
    }
    default:
      return unreachable(transform);
  }
}
