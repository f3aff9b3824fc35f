import { unreachable } from '@concerto/base';
import type { FollowedEvent } from '@concerto/client';
import { addUsage, finalStatuses, type Usage } from '@concerto/protocol';
import { foldNote, foldProgress } from './fold-activity.ts';
import { foldRequest, foldSettlement } from './fold-request.ts';
import { foldCall, foldCallResult, foldCallUpdate, foldOutput } from './fold-tool.ts';
import { foldComplete, foldContent, foldError, foldStart, foldSteer, foldThought, isNews } from './fold-turn.ts';
import { draftOf, push, type TimelineDraft, timelineOf } from './timeline-draft.ts';
import type { EventOf, TimelineState } from './timeline-state.ts';

/** The timeline after some more events. Events at or before its position are already in it and change nothing. */
export function foldEvents(state: TimelineState, events: readonly FollowedEvent[]): TimelineState {
  if (events.length === 0) return state;
  const draft = draftOf(state);
  for (const event of events) {
    if (event.seq <= draft.position) continue;
    fold(draft, event);
    draft.position = event.seq;
  }
  return timelineOf(draft);
}

/** One arm for each kind of event. */
function fold(draft: TimelineDraft, event: FollowedEvent): void {
  switch (event.type) {
    case 'start':
      return foldStart(draft, event);
    case 'thought':
      return foldThought(draft, event);
    case 'content':
      return foldContent(draft, event);
    case 'functionCall':
      return foldCall(draft, event);
    case 'functionCallUpdate':
      if (event.callId !== draft.turnCall) return foldCallUpdate(draft, event);
      return event.status === null ? undefined : foldProgress(draft, event, event.status);
    case 'functionResult':
      return foldCallResult(draft, event);
    case 'subagentAddJson':
      return foldNote(draft, event);
    case 'subagentError':
      return foldError(draft, event, event.error.$error);
    case 'subagentFinish':
      draft.progress = undefined;
      return undefined;
    case 'turnComplete':
      draft.isTurnOpen = false;
      draft.progress = undefined;
      return undefined;
    case 'waitForInput':
    case 'waitForChoice':
    case 'queryConsent':
    case 'readGraph':
    case 'inspectNode':
    case 'applyEdits':
      return foldRequest(draft, event);
    case 'requestSettled':
      return foldSettlement(draft, event);
    case 'status':
      return foldStatus(draft, event);
    case 'message':
      draft.queueRevision = event.seq;
      return foldSteer(draft, event);
    case 'usage':
      draft.usage =
        event.turn === undefined || draft.usage === undefined ? usageOf(event) : addUsage(draft.usage, usageOf(event));
      return undefined;
    case 'plan':
    case 'agentInfo':
    case 'requestRouted':
      return undefined;
    case 'toolOutput':
      return foldOutput(draft, event);
    case 'complete':
      return foldComplete(draft, event);
    case 'error':
      return event.message === 'cancelled' ? undefined : foldError(draft, event, event.message);
    case 'finish':
      draft.isFinished = true;
      draft.sessionRevision = event.seq;
      return undefined;
    default:
      return foldRest(draft, event);
  }
}

function usageOf(event: EventOf<'usage'>): Usage {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, costMicroUsd } = event;
  return {
    inputTokens,
    outputTokens,
    ...(cacheReadTokens === undefined ? {} : { cacheReadTokens }),
    ...(cacheWriteTokens === undefined ? {} : { cacheWriteTokens }),
    ...(costMicroUsd === undefined ? {} : { costMicroUsd }),
  };
}

/** What a person seldom looks at, kept as it came. */
function foldRest(
  draft: TimelineDraft,
  event: Extract<FollowedEvent, { type: 'gap' | 'sendRequest' | 'graphEdit' | 'unknown' }>,
): void {
  const common = { key: event.seq, at: event.at, turn: draft.turn };
  switch (event.type) {
    case 'gap':
      return push(draft, { kind: 'gap', ...common, from: event.from, to: event.to });
    case 'sendRequest':
      return push(draft, { kind: 'raw', ...common, title: `request to ${event.model}`, data: event.body });
    case 'graphEdit':
      return push(draft, { kind: 'raw', ...common, title: event.label, data: event.edits });
    case 'unknown':
      return push(draft, { kind: 'raw', ...common, title: event.raw.type, data: event.raw });
    default:
      return unreachable(event);
  }
}

function foldStatus(draft: TimelineDraft, event: EventOf<'status'>): void {
  const { status, previous, reason, at, seq } = event;
  draft.status = status;
  draft.statusSince = at;
  draft.sessionRevision = seq;
  if (status !== 'running' && !status.startsWith('waiting')) draft.progress = undefined;
  const isEnd = finalStatuses.includes(status);
  if (isEnd || status === 'interrupted' || status === 'idle') draft.isTurnOpen = false;
  const isResumed = previous === 'resuming' && status !== 'interrupted' && !isEnd;
  if (!isEnd && !isResumed && status !== 'paused' && status !== 'interrupted') return;
  const news = reason !== undefined && isNews(draft, reason) ? reason : undefined;
  push(draft, { kind: 'status', key: seq, at, turn: draft.turn, status, previous, reason: news });
}
