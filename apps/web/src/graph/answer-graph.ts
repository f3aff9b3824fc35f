import { err, type Json, type Result } from '@concerto/base';
import { type Graph, GraphEdit, GraphTransform, type SuspendEvent } from '@concerto/protocol';
import { applyEdits, nodeOf } from './apply-edits.ts';
import { applyTransform } from './apply-transform.ts';

export type GraphRequest = Extract<SuspendEvent, { type: 'readGraph' | 'inspectNode' | 'applyEdits' }>;

export function isGraphRequest(event: SuspendEvent): event is GraphRequest {
  return event.type === 'readGraph' || event.type === 'inspectNode' || event.type === 'applyEdits';
}

/** What the graph says to it, and what it is then. */
export function answerGraph(graph: Graph, event: GraphRequest): { readonly answer: Json; readonly after: Graph } {
  switch (event.type) {
    case 'readGraph':
      return { answer: { graph: plain(graph) }, after: graph };
    case 'inspectNode': {
      const node = nodeOf(graph, event.nodeId);
      if (node === undefined) return { answer: { error: `there is no node "${event.nodeId}"` }, after: graph };
      const before = graph.edges.filter(({ to }) => to === node.id).map(({ from }) => from);
      const then = graph.edges.filter(({ from }) => from === node.id).map(({ to }) => to);
      return { answer: { node: plain(node), incoming: before, outgoing: then }, after: graph };
    }
    case 'applyEdits': {
      const changed = changedBy(graph, event);
      return changed.ok
        ? { answer: { success: true }, after: changed.value }
        : { answer: { success: false, error: changed.error }, after: graph };
    }
  }
}

function changedBy(
  graph: Graph,
  { edits, transform }: Pick<Extract<GraphRequest, { type: 'applyEdits' }>, 'edits' | 'transform'>,
): Result<Graph, string> {
  if (transform === undefined) return editsApplied(graph, edits ?? []);
  const read = GraphTransform.safeParse(transform);
  return read.success ? applyTransform(graph, read.data) : err(`the transform is none: ${placeOf(read.error)}`);
}

/** Edits as an agent writes them. */
export function editsApplied(graph: Graph, edits: readonly unknown[]): Result<Graph, string> {
  const known: GraphEdit[] = [];
  for (const [index, edit] of edits.entries()) {
    const read = GraphEdit.safeParse(edit);
    if (!read.success) return err(`edit ${index + 1} is none: ${placeOf(read.error)}`);
    known.push(read.data);
  }
  return applyEdits(graph, known);
}

function placeOf({
  issues: [issue],
}: {
  readonly issues: readonly { path: PropertyKey[]; message: string }[];
}): string {
  return `${issue?.path.map(String).join('.') ?? ''} ${issue?.message ?? ''}`.trim();
}

/** As it is sent. */
function plain(value: object): Json {
  return JSON.parse(JSON.stringify(value));
}
