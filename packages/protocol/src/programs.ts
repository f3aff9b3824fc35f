import * as z from 'zod/mini';

/** The longest source that is written by a call. */
const sourceLengthMax = 1_000_000;

export const ProgramInfo = z.strictObject({
  name: z.string(),
  /** From the manifest's folder. */
  entry: z.string(),
  description: z.optional(z.string()),
});
export type ProgramInfo = z.infer<typeof ProgramInfo>;

export const ProgramList = z.strictObject({ programs: z.array(ProgramInfo) });
export type ProgramList = z.infer<typeof ProgramList>;

/** `version` changes with the text. */
export const ProgramFile = z.strictObject({ path: z.string(), text: z.string(), version: z.string() });
export type ProgramFile = z.infer<typeof ProgramFile>;

export const ProgramSource = z.strictObject({
  name: z.string(),
  entry: z.string(),
  /** The entry first, then the modules that it names. */
  files: z.array(ProgramFile),
  manifest: z.optional(ProgramFile),
  /** Whether this server writes sources: only one that listens on its own machine alone does. */
  mayWrite: z.boolean(),
});
export type ProgramSource = z.infer<typeof ProgramSource>;

/** With the version that was read: what somebody else changed meanwhile is not overwritten. */
export const PutProgramFile = z.strictObject({
  path: z.string().check(z.minLength(1), z.maxLength(1_000)),
  text: z.string().check(z.maxLength(sourceLengthMax)),
  version: z.string(),
});
export type PutProgramFile = z.infer<typeof PutProgramFile>;

/** One test of a program, as it went. */
export const ProgramTest = z.strictObject({
  description: z.string(),
  /** Where it is written, from the manifest's folder. */
  file: z.optional(z.string()),
  line: z.optional(z.int()),
  /** `left`: the time for all of them was over before it began. */
  outcome: z.enum(['passed', 'failed', 'left']),
  durationMs: z.int(),
  /** Why it failed, and where the program stood. */
  message: z.optional(z.string()),
  at: z.optional(z.strictObject({ file: z.string(), line: z.int() })),
  /** What it printed and emitted, from the beginning; of one that failed. */
  output: z.optional(z.string()),
});
export type ProgramTest = z.infer<typeof ProgramTest>;

export const ProgramTests = z.strictObject({ tests: z.array(ProgramTest) });
export type ProgramTests = z.infer<typeof ProgramTests>;
