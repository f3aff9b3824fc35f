import * as z from 'zod';

/** An agent that a keeper holds for the server that is asked. */
export const KeptAgentRow = z.strictObject({
  pid: z.number().int(),
  session: z.string(),
  since: z.string(),
  /** Bytes of all in its process group; absent where nobody tells. */
  memory: z.number().nonnegative().optional(),
  state: z.string(),
  /** When it is ended if nobody takes it up. */
  endsAt: z.string().optional(),
});
export type KeptAgentRow = z.infer<typeof KeptAgentRow>;

export const KeptAgentList = z.strictObject({ agents: z.array(KeptAgentRow) });

export const StopServer = z.strictObject({
  /** End the agents that are at work too; else they go on without a server. */
  agents: z.boolean().optional(),
});
export type StopServer = z.infer<typeof StopServer>;
