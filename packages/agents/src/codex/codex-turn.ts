import type { JsonObject } from '@concerto/base';
import type { Alarm } from '../agent-process.ts';
import type { CodexEnd } from './codex-translator.ts';

type Tokens = { input: number; output: number; thought: number };

export type Turn = {
  id: string | undefined;
  readonly used: Tokens;
  /** It has said its word; what it has begun may go on. */
  end: CodexEnd | undefined;
  waitsFor: string;
  timer: Alarm | undefined;
};

export function newTurn(): Turn {
  return { id: undefined, used: { input: 0, output: 0, thought: 0 }, end: undefined, waitsFor: '', timer: undefined };
}

/** As a result tells them; what was thought is a part of what was written. */
export function wireTokens({ input, output, thought }: Tokens): JsonObject {
  return { input_tokens: input, output_tokens: output, ...(thought === 0 ? {} : { thought_tokens: thought }) };
}
