import { ok, type Result } from '@concerto/base';
import type { Graph, RequestEntry, SessionView, Turn } from '@concerto/protocol';
import { useEffect, useRef } from 'react';
import { client } from '../client.ts';
import { failureOf } from '../fetching/failure.ts';
import { post } from '../shell/notice-board.ts';
import { answerGraph, editsApplied, type GraphRequest, isGraphRequest } from './answer-graph.ts';
import { graphStore } from './project-graph.ts';

/** While the graph is shown it answers what the session asks of it, and shows the changes that are only told. */
export function useGraphServing(id: string | undefined, view: SessionView, isLoaded: boolean): void {
  const served = useRef(new Set<string>());
  useEffect(() => {
    if (id === undefined || !isLoaded) return;
    for (const request of view.requests) {
      if (served.current.has(request.requestId) || !isOurs(request)) continue;
      served.current.add(request.requestId);
      void serve(id, request);
    }
  }, [id, view.requests, isLoaded]);
  useEffect(() => {
    if (id !== undefined && isLoaded) showEdits(id, view.turns);
  }, [id, view.turns, isLoaded]);
}

function isOurs({ event, routed }: RequestEntry): boolean {
  const asked = routed.at(-1)?.to ?? 'person';
  return isGraphRequest(event) && asked === 'person';
}

/** Changed once the answer is taken: of two tabs only one has answered. */
async function serve(id: string, { requestId, event }: RequestEntry): Promise<void> {
  if (!isGraphRequest(event)) return;
  const { answer, after } = answerGraph(graphStore.state().history.graph, event);
  try {
    await client.answer(id, requestId, answer);
  } catch (cause) {
    const { code, text } = failureOf(cause);
    if (code !== 'already_answered' && code !== 'no_such_request') post('bad', text);
    return;
  }
  if (event.type === 'applyEdits') graphStore.change({ label: event.label, by: id, apply: asAnswered(event, after) });
}

/** What was answered is what it is then, unless somebody else was quicker: then the edits are made on what they made. */
function asAnswered(event: GraphRequest, after: Graph): (graph: Graph) => Result<Graph, string> {
  const before = graphStore.state().history.graph;
  return (graph) => ok(graph === before ? after : answerGraph(graph, event).after);
}

function showEdits(id: string, turns: readonly Turn[]): void {
  const seen = graphStore.seen(id);
  for (const entry of turns.flatMap(({ entries }) => entries)) {
    if (entry.kind !== 'raw' || entry.isGraphEdit !== true || entry.key <= seen) continue;
    const { title, data, key } = entry;
    const edits = Array.isArray(data) ? data : [];
    const told = { session: id, position: key };
    const shown = graphStore.change({ label: title, by: id, apply: (graph) => editsApplied(graph, edits), told });
    if (!shown.ok) post('bad', `${title}: ${shown.error}`);
  }
}
