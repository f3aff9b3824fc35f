import type { RequestEntry, SessionView, Turn } from '@concerto/protocol';
import { useEffect, useRef } from 'react';
import { client } from '../client.ts';
import { failureOf } from '../fetching/failure.ts';
import { post } from '../shell/notice-board.ts';
import { answerGraph, editsApplied, isGraphRequest } from './answer-graph.ts';
import { graphStore } from './graph-store.ts';

/** While the graph is shown it answers what the session asks of it, and shows the changes that are only told. */
export function useGraphServing(id: string | undefined, view: SessionView): void {
  const served = useRef(new Set<string>());
  useEffect(() => {
    if (id === undefined) return;
    for (const request of view.requests) {
      if (served.current.has(request.requestId) || !isOurs(request)) continue;
      served.current.add(request.requestId);
      void serve(id, request);
    }
  }, [id, view.requests]);
  useEffect(() => {
    if (id !== undefined) showEdits(id, view.turns);
  }, [id, view.turns]);
}

function isOurs({ event, routed }: RequestEntry): boolean {
  const asked = routed.at(-1)?.to ?? 'person';
  return isGraphRequest(event) && asked === 'person';
}

/** Changed once the answer is taken: of two tabs only one has answered. */
async function serve(id: string, { requestId, event }: RequestEntry): Promise<void> {
  if (!isGraphRequest(event)) return;
  const { answer, after } = answerGraph(graphStore.state().graph, event);
  try {
    await client.answer(id, requestId, answer);
  } catch (cause) {
    const { code, text } = failureOf(cause);
    if (code !== 'already_answered' && code !== 'no_such_request') post('bad', text);
    return;
  }
  if (event.type === 'applyEdits') graphStore.change(event.label, id, () => ({ ok: true, value: after }));
}

function showEdits(id: string, turns: readonly Turn[]): void {
  const seen = graphStore.seen(id);
  for (const entry of turns.flatMap(({ entries }) => entries)) {
    if (entry.kind !== 'raw' || entry.isGraphEdit !== true || entry.key <= seen) continue;
    const { title, data, key } = entry;
    const shown = graphStore.change(title, id, (graph) => editsApplied(graph, Array.isArray(data) ? data : []));
    if (!shown.ok) post('bad', `${title}: ${shown.error}`);
    graphStore.see(id, key);
  }
}
