import type { Json, JsonObject } from '@concerto/base';
import type { AgentEvent, ErrorObject, LlmContent } from '@concerto/protocol';
import { randomId } from '../random-id.ts';
import type { AgentEventSink } from './agent-event-sink.ts';

type CallUpdateOptions = Extract<AgentEvent, { type: 'functionCallUpdate' }>['opts'];

/** What a function says while it works. */
export type ProgressReporter = {
  addJson(title: string, data: Json, icon?: string): void;
  /** Gives the error back, so that a function can return it in the same breath. */
  addError<E extends ErrorObject>(error: E): E;
  finish(): void;
};

export type FunctionCallPart = {
  readonly functionCall: { readonly name: string; readonly args?: JsonObject | undefined };
};

/** What an agent's loop calls as it goes. */
export type LoopHooks = {
  onStart?(objective: LlmContent): void;
  onFinish?(): void;
  onContent?(content: LlmContent): void;
  onThought?(text: string): void;
  onFunctionCall?(
    part: FunctionCallPart,
    icon?: string,
    title?: string,
  ): { readonly callId: string; readonly reporter: ProgressReporter | null };
  onFunctionCallUpdate?(callId: string, status: string | null, opts?: CallUpdateOptions): void;
  onFunctionResult?(callId: string, content: LlmContent): void;
  onTurnComplete?(): void;
  onSendRequest?(model: string, body: JsonObject): void;
};

/** A loop that only knows hooks emits events, without knowing it. */
export function buildHooksFromSink(sink: AgentEventSink): Required<LoopHooks> {
  return {
    onStart: (objective) => sink.emit({ type: 'start', objective }),
    onFinish: () => sink.emit({ type: 'finish' }),
    onContent: (content) => sink.emit({ type: 'content', content }),
    onThought: (text) => sink.emit({ type: 'thought', text }),
    onFunctionCall: (part, icon, title) => {
      const callId = `call_${randomId(12)}`;
      const { name, args } = part.functionCall;
      sink.emit({
        type: 'functionCall',
        callId,
        name,
        args: args ?? {},
        // Some loops have pictures that are no names.
        ...(typeof icon === 'string' ? { icon } : {}),
        ...(title === undefined ? {} : { title }),
      });
      return { callId, reporter: reporterOf(sink, callId) };
    },
    onFunctionCallUpdate: (callId, status, opts) =>
      sink.emit({ type: 'functionCallUpdate', callId, status, ...(opts === undefined ? {} : { opts }) }),
    onFunctionResult: (callId, content) => sink.emit({ type: 'functionResult', callId, content }),
    onTurnComplete: () => sink.emit({ type: 'turnComplete' }),
    onSendRequest: (model, body) => sink.emit({ type: 'sendRequest', model, body }),
  };
}

/** Calls every set in turn. A function call has one id: the first set that names it does so for all. */
export function mergeHooks(...sets: readonly LoopHooks[]): LoopHooks {
  const naming = sets.find((set) => set.onFunctionCall !== undefined);
  return {
    onStart: (objective) => sets.forEach((set) => set.onStart?.(objective)),
    onFinish: () => sets.forEach((set) => set.onFinish?.()),
    onContent: (content) => sets.forEach((set) => set.onContent?.(content)),
    onThought: (text) => sets.forEach((set) => set.onThought?.(text)),
    ...(naming?.onFunctionCall === undefined
      ? {}
      : {
          onFunctionCall: (part, icon, title) =>
            naming.onFunctionCall?.(part, icon, title) ?? { callId: `call_${randomId(12)}`, reporter: null },
        }),
    onFunctionCallUpdate: (callId, status, opts) =>
      sets.forEach((set) => set.onFunctionCallUpdate?.(callId, status, opts)),
    onFunctionResult: (callId, content) => sets.forEach((set) => set.onFunctionResult?.(callId, content)),
    onTurnComplete: () => sets.forEach((set) => set.onTurnComplete?.()),
    onSendRequest: (model, body) => sets.forEach((set) => set.onSendRequest?.(model, body)),
  };
}

function reporterOf(sink: AgentEventSink, callId: string): ProgressReporter {
  let isFinished = false;
  return {
    addJson: (title, data, icon) => {
      if (isFinished) return;
      // As over a wire: what the function does with its data afterwards is its own affair.
      const event: AgentEvent = { type: 'subagentAddJson', callId, title, data: structuredClone(data) };
      sink.emit(icon === undefined ? event : { ...event, icon });
    },
    addError: (error) => {
      if (!isFinished) sink.emit({ type: 'subagentError', callId, error });
      return error;
    },
    finish: () => {
      if (isFinished) return;
      isFinished = true;
      sink.emit({ type: 'subagentFinish', callId });
    },
  };
}
