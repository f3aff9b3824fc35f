export type Json = null | boolean | number | string | Json[] | JsonObject;
export type JsonObject = { [key: string]: Json };

/** One call of a CALLS block. Members beyond `name` and `args` are kept as the model wrote them. */
export type SignalCall = JsonObject & { name: string; args: JsonObject };

export type SignalErrorCode =
  | 'invalid_json'
  | 'calls_not_array'
  | 'invalid_call'
  | 'limit_length'
  | 'limit_depth'
  | 'limit_calls'
  | 'execute_without_calls'
  | 'calls_without_execute'
  | 'text_after_execute'
  | 'unclosed_fence'
  | 'missing_end'
  | 'text_before_delimiter'
  | 'expected_execute';

/** Seconds, as the injected clock gave them; never less than on the event before. */
type Timed = { timestamp: number };

/** A piece of a block's text; pieces of one block carry the same `block`. */
export type ThinkEvent = Timed & { type: 'think'; content: string; block: number };
export type RespondEvent = Timed & {
  type: 'respond';
  content: string;
  block: number;
  /** Text before the first delimiter. */
  implicit?: true;
};
/** In-band and unauthenticated: in a live turn the model itself wrote it. */
export type SystemEvent = Timed & { type: 'system'; content: string; block: number };
export type CallsEvent = Timed & { type: 'calls'; content: string; calls: SignalCall[]; block: number };
/** One element of a CALLS block still being written; for display, nothing runs before `execute`. */
export type CallEvent = Timed & { type: 'call'; index: number; call: SignalCall; block: number };
export type ExecuteEvent = Timed & { type: 'execute'; content: '' };
export type EndEvent = Timed & { type: 'end'; content: '' };
export type ErrorEvent = Timed & {
  type: 'error';
  code: SignalErrorCode;
  /** A sentence for the model or a person. */
  content: string;
  /** The text around the fault, bounded. */
  source?: string;
  /** Where in the block's trimmed content the fault is, in UTF-16 units. */
  position?: number;
};

export type SignalEvent =
  | ThinkEvent
  | RespondEvent
  | SystemEvent
  | CallsEvent
  | CallEvent
  | ExecuteEvent
  | EndEvent
  | ErrorEvent;

export type MergedEvent =
  | { type: 'think'; content: string }
  | { type: 'respond'; content: string; implicit?: true }
  | { type: 'system'; content: string }
  | { type: 'calls'; content: string; calls: SignalCall[] }
  | { type: 'call'; index: number; call: SignalCall }
  | { type: 'execute'; content: '' }
  | { type: 'end'; content: '' }
  | { type: 'error'; code: SignalErrorCode };
