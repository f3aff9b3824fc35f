import * as z from 'zod/mini';

/** An agent that a keeper holds for the server that is asked. */
export const KeptAgentRow = z.strictObject({
  pid: z.int(),
  session: z.string(),
  since: z.string(),
  /** Bytes of all in its process group; absent where nobody tells. */
  memory: z.optional(z.number().check(z.nonnegative())),
  state: z.string(),
  /** When it is ended if nobody takes it up. */
  endsAt: z.optional(z.string()),
});
export type KeptAgentRow = z.infer<typeof KeptAgentRow>;

export const KeptAgentList = z.strictObject({ agents: z.array(KeptAgentRow) });

/** What `concerto doctor` found; `help` says what to do about it. */
export const DoctorFinding = z.strictObject({
  check: z.string(),
  status: z.enum(['ok', 'warn', 'fail']),
  message: z.string(),
  help: z.optional(z.string()),
});
export type DoctorFinding = z.infer<typeof DoctorFinding>;

export const DoctorReport = z.strictObject({ findings: z.array(DoctorFinding) });

export const StopServer = z.strictObject({
  /** End the agents that are at work too; else they go on without a server. */
  agents: z.optional(z.boolean()),
});
export type StopServer = z.infer<typeof StopServer>;
