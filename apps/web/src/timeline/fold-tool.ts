import type { Json } from '@concerto/base';
import type { LlmContent } from '@concerto/protocol';
import { isJsonObject } from '../json/json-object.ts';
import { blocksOf } from './blocks.ts';
import { push, type TimelineDraft } from './timeline-draft.ts';
import type { EventOf, ToolItem } from './timeline-state.ts';

/** The first call of a turn is the agent itself at work; the others are its tools. */
export function foldCall(draft: TimelineDraft, event: EventOf<'functionCall'>): void {
  const { callId, name, title, args, kind: what, locations = [], changes = [], at, seq } = event;
  if (draft.isTurnOpen && draft.turnCall === undefined) {
    draft.turnCall = callId;
    return;
  }
  draft.tools.set(callId, draft.items.length);
  push(draft, {
    kind: 'tool',
    key: seq,
    at,
    turn: draft.turn,
    callId,
    name,
    title,
    args,
    what,
    locations,
    changes,
    status: undefined,
    outcome: 'running',
    output: '',
    result: undefined,
    endedAt: undefined,
  });
}

export function foldCallUpdate(draft: TimelineDraft, event: EventOf<'functionCallUpdate'>): void {
  const { locations, changes } = event;
  changeTool(draft, event.callId, (tool) => ({
    ...tool,
    locations: locations ?? tool.locations,
    changes: changes ?? tool.changes,
    status: event.status ?? undefined,
  }));
}

/** Of a tool that writes more, the end is kept. */
const outputMax = 400_000;

export function foldOutput(draft: TimelineDraft, event: EventOf<'toolOutput'>): void {
  changeTool(draft, event.callId, (tool) => ({ ...tool, output: (tool.output + event.text).slice(-outputMax) }));
}

export function foldCallResult(draft: TimelineDraft, event: EventOf<'functionResult'>): void {
  if (event.callId === draft.turnCall) {
    draft.resultFields = fieldsOf(event.content);
    return;
  }
  const result = blocksOf(event.content);
  const { outcome = 'ok', locations, changes, at: endedAt } = event;
  // One that has failed says so once more with its result.
  changeTool(draft, event.callId, (tool) => ({
    ...tool,
    locations: locations ?? tool.locations,
    changes: changes ?? tool.changes,
    endedAt,
    ...(tool.outcome === 'failed' ? {} : { outcome, status: undefined, result }),
  }));
}

/** False when there is no such tool call. */
export function failTool(draft: TimelineDraft, callId: string, message: string): boolean {
  const result = [{ kind: 'text', text: message, thought: false }] as const;
  return changeTool(draft, callId, (tool) => ({ ...tool, outcome: 'failed', status: undefined, result }));
}

function changeTool(draft: TimelineDraft, callId: string, change: (tool: ToolItem) => ToolItem): boolean {
  const index = draft.tools.get(callId);
  const item = index === undefined ? undefined : draft.items[index];
  if (index === undefined || item?.kind !== 'tool') return false;
  draft.items[index] = change(item);
  return true;
}

/** All that an agent reports with its result, beside the text that comes as content. */
function fieldsOf(content: LlmContent): Readonly<Record<string, Json>> {
  const part = content.parts[0];
  if (part === undefined || !('functionResponse' in part)) return {};
  const response: unknown = part.functionResponse;
  if (response === null || typeof response !== 'object' || !('response' in response)) return {};
  const fields: unknown = response.response;
  if (!isJsonObject(fields)) return {};
  return Object.fromEntries(Object.entries(fields).filter(([name]) => name !== 'text'));
}
