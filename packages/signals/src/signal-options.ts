import { SignalsMisuseError } from './signals-misuse-error.ts';
import { systemClock } from './system-clock.ts';

export const SIGNAL_MODES = ['standard', 'strict', 'lenient'] as const;
export const SIGNAL_PRESETS = ['live', 'transcript', 'eval', 'legacy'] as const;
export const AFTER_EXECUTE = ['continue', 'stop'] as const;

export type SignalMode = (typeof SIGNAL_MODES)[number];
export type SignalPreset = (typeof SIGNAL_PRESETS)[number];
export type AfterExecute = (typeof AFTER_EXECUTE)[number];

/** Whatever is not given comes from `preset`, then from the defaults. */
export type SignalOptions = {
  preset?: SignalPreset;
  mode?: SignalMode;
  /** Delimiters inside fenced code are text. Default true. */
  fences?: boolean;
  /** `stop` discards all that follows EXECUTE; live hosts need it. Default `continue`. */
  afterExecute?: AfterExecute;
  /** Emit a `call` event as each element of a CALLS array is complete. Default false. */
  incremental?: boolean;
  /** A longer run of whitespace is content. Default 1024. */
  maxHeldWhitespace?: number;
  /** Longest CALLS content, in UTF-16 units. Default 1,048,576. */
  maxCallsLength?: number;
  /** Deepest nesting of CALLS; the outer array is 1. Default 64. */
  maxDepth?: number;
  /** Most calls in one CALLS block. Default 128. */
  maxCalls?: number;
  /** The clock, in seconds; read once a push. Default: the system's. */
  now?: () => number;
};

export type ResolvedSignalOptions = Required<Omit<SignalOptions, 'preset'>>;

const defaults: ResolvedSignalOptions = {
  mode: 'standard',
  fences: true,
  afterExecute: 'continue',
  incremental: false,
  maxHeldWhitespace: 1024,
  maxCallsLength: 1_048_576,
  maxDepth: 64,
  maxCalls: 128,
  now: systemClock,
};

const presets: Readonly<Record<SignalPreset, SignalOptions>> = {
  live: { mode: 'standard', fences: true, afterExecute: 'stop' },
  transcript: { mode: 'standard', fences: false, afterExecute: 'continue' },
  eval: { mode: 'strict' },
  legacy: { mode: 'lenient' },
};

export function resolveSignalOptions(options: SignalOptions): ResolvedSignalOptions {
  const { preset, ...given } = options;
  if (preset !== undefined) oneOf('preset', preset, SIGNAL_PRESETS);
  const resolved: ResolvedSignalOptions = { ...defaults, ...(preset === undefined ? {} : presets[preset]) };
  // Not a spread: a key that is present but undefined must not undo a default.
  for (const [key, value] of Object.entries(given)) {
    if (value !== undefined) Object.assign(resolved, { [key]: value });
  }
  oneOf('mode', resolved.mode, SIGNAL_MODES);
  oneOf('afterExecute', resolved.afterExecute, AFTER_EXECUTE);
  for (const key of ['maxHeldWhitespace', 'maxCallsLength', 'maxDepth', 'maxCalls'] as const) {
    if (!(typeof resolved[key] === 'number' && resolved[key] >= 0)) {
      throw new SignalsMisuseError('bad_option', `${key} must be a number of at least 0`);
    }
  }
  return resolved;
}

function oneOf(key: string, value: string, allowed: readonly string[]): void {
  if (!allowed.includes(value)) {
    throw new SignalsMisuseError('bad_option', `${key} must be one of ${allowed.join(', ')}`);
  }
}
