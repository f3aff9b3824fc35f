import * as z from 'zod';

/**
 * A script that an agent plays: what it says, in the words of the agent wire, and when. `{{prompt}}`, `{{answer}}`,
 * `{{steer}}`, `{{turn}}`, `{{n}}` and any name given with `as` are filled into its texts.
 */
export type Script = z.infer<typeof Script>;

type Branches = Readonly<Record<string, readonly Step[]>>;
type Fields = Readonly<Record<string, z.core.util.JSONType>>;

export type Step =
  | { type: 'progress'; message: string; percent?: number | undefined; stage?: string | undefined }
  | { type: 'partial'; text: string }
  | { type: 'log'; message: string; level?: 'debug' | 'info' | 'warn' | 'error' | undefined }
  | {
      type: 'question';
      question: string;
      options?: readonly string[] | undefined;
      context?: z.core.util.JSONType | undefined;
      /** A name for the answer, for texts further on. */
      as?: string | undefined;
      /** What follows each answer; `*` for any other. */
      answers?: Branches | undefined;
    }
  | {
      type: 'approval';
      description: string;
      risk_level?: string | undefined;
      fields?: Fields | undefined;
      yes?: readonly Step[] | undefined;
      no?: readonly Step[] | undefined;
    }
  | { type: 'custom'; name: string; fields?: Fields | undefined }
  /** Ends the turn. */
  | { type: 'result'; text?: string | undefined; fields?: Fields | undefined }
  /** Ends the turn. */
  | { type: 'error'; message: string; code?: string | undefined }
  | { type: 'delay'; ms: number }
  /** Waits until a file of this name is in the folder of gates: a test then decides when it goes on. */
  | { type: 'gate'; name: string }
  /** Waits until it is interrupted or ended. */
  | { type: 'hang' }
  | { type: 'repeat'; times: number; steps: readonly Step[] }
  /** A line on stdout as it is, well-formed or not. */
  | { type: 'raw'; line: string }
  | { type: 'stderr'; text: string }
  /** Ends the process, in the middle of the turn. */
  | { type: 'exit'; code: number };

const steps: z.ZodType<readonly Step[]> = z.lazy(() => z.array(Step));
const fields = z.record(z.string(), z.json()).optional();
/** A day: more is a slip of the pen. */
const delayMax = 86_400_000;

const Step: z.ZodType<Step> = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('progress'),
    message: z.string(),
    percent: z.number().min(0).max(100).optional(),
    stage: z.string().optional(),
  }),
  z.strictObject({ type: z.literal('partial'), text: z.string() }),
  z.strictObject({
    type: z.literal('log'),
    message: z.string(),
    level: z.enum(['debug', 'info', 'warn', 'error']).optional(),
  }),
  z.strictObject({
    type: z.literal('question'),
    question: z.string(),
    options: z.array(z.string()).optional(),
    context: z.json().optional(),
    as: z.string().min(1).optional(),
    answers: z.record(z.string(), steps).optional(),
  }),
  z.strictObject({
    type: z.literal('approval'),
    description: z.string(),
    risk_level: z.string().optional(),
    fields,
    yes: steps.optional(),
    no: steps.optional(),
  }),
  z.strictObject({ type: z.literal('custom'), name: z.string().min(1), fields }),
  z.strictObject({ type: z.literal('result'), text: z.string().optional(), fields }),
  z.strictObject({ type: z.literal('error'), message: z.string(), code: z.string().optional() }),
  z.strictObject({ type: z.literal('delay'), ms: z.number().min(0).max(delayMax) }),
  z.strictObject({ type: z.literal('gate'), name: z.string().regex(/^[\w.-]+$/, 'a gate is named like a file') }),
  z.strictObject({ type: z.literal('hang') }),
  z.strictObject({ type: z.literal('repeat'), times: z.number().int().min(0).max(1_000_000), steps }),
  z.strictObject({ type: z.literal('raw'), line: z.string() }),
  z.strictObject({ type: z.literal('stderr'), text: z.string() }),
  z.strictObject({ type: z.literal('exit'), code: z.number().int().min(0).max(255) }),
]);

export const Script = z.strictObject({
  $schema: z.string().optional(),
  description: z.string(),
  version: z.string().optional(),
  /** What it announces and then does: it steers, pauses and stops between two steps. */
  capabilities: z.array(z.enum(['steer', 'interrupt', 'pause', 'cancel', 'resume'])).default([]),
  /** One list of steps for each prompt; after the last one it starts over. */
  turns: z.array(steps).min(1, 'a script needs at least one turn'),
});

/** Why a script cannot be played, with the place of each fault. */
export class ScriptError extends Error {
  override readonly name = 'ScriptError';
}

export function parseScript(value: unknown, origin: string): Script {
  const parsed = Script.safeParse(value);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map((issue) => `  ${issue.path.join('.') || '(top)'}: ${issue.message}`);
  throw new ScriptError(`${origin} is not a script that can be played:\n${faults.join('\n')}`);
}
