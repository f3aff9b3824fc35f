export { escape } from './escape.ts';
export type {
  CallEvent,
  CallsEvent,
  EndEvent,
  ErrorEvent,
  ExecuteEvent,
  Json,
  JsonObject,
  MergedEvent,
  RespondEvent,
  SignalCall,
  SignalErrorCode,
  SignalEvent,
  SystemEvent,
  ThinkEvent,
} from './events.ts';
export { createEventMerger, type EventMerger, mergeEvents } from './merge-events.ts';
export { parseSignals } from './parse-signals.ts';
export {
  AFTER_EXECUTE,
  type AfterExecute,
  SIGNAL_MODES,
  SIGNAL_PRESETS,
  type SignalMode,
  type SignalOptions,
  type SignalPreset,
} from './signal-options.ts';
export { createSignalParser, type SignalParser } from './signal-parser.ts';
export { type SignalsMisuse, SignalsMisuseError } from './signals-misuse-error.ts';
export { type SignalFunction, signalsSystemPrompt } from './signals-system-prompt.ts';
