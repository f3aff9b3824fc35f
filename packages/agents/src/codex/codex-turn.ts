import type { JsonObject } from '@concerto/base';
import type { Alarm } from '../agent-process.ts';
import type { CodexEnd } from './codex-translator.ts';

type Tokens = { input: number; output: number; thought: number };

export type Turn = {
  /** Nobody has prompted it. */
  readonly isItsOwn: boolean;
  id: string | undefined;
  readonly used: Tokens;
  /** It has said its word; what it has begun may go on. */
  end: CodexEnd | undefined;
  /** Of all its parts. */
  durationMs: number | undefined;
  waitsFor: string;
  timer: Alarm | undefined;
  /** It was waited for to go on by itself, and has not. */
  isStill: boolean;
};

export function newTurn(isItsOwn = false): Turn {
  const used = { input: 0, output: 0, thought: 0 };
  const parts = { end: undefined, durationMs: undefined, waitsFor: '', timer: undefined, isStill: false };
  return { isItsOwn, id: undefined, used, ...parts };
}

/** As a result tells them; what was thought is a part of what was written. */
export function wireTokens({ input, output, thought }: Tokens): JsonObject {
  return { input_tokens: input, output_tokens: output, ...(thought === 0 ? {} : { thought_tokens: thought }) };
}
