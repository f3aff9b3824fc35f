import { agentProtocols, err, nearest, ok, programOfProtocol, type Result } from '@concerto/base';
import * as z from 'zod/mini';
import { JsonRecord } from './json-value.ts';

/** `[agents.NAME]` as far as it says how the agent is started and spoken to; what else it says is for others. */
const AgentTable = z.looseObject({
  protocol: z._default(z.enum(agentProtocols), 'ndjson'),
  command: z.optional(z.string().check(z.minLength(1))),
  args: z._default(z.array(z.string()), []),
  env: z._default(z.record(z.string(), z.string()), {}),
  working_dir: z.optional(z.string().check(z.minLength(1))),
  input_format: z.optional(z.enum(['text', 'json'])),
  output_format: z.optional(z.enum(['text', 'json'])),
  plain_text: z.optional(z.enum(['result', 'log', 'error'])),
  accepts: z.optional(z.array(z.string())),
  params: z.optional(JsonRecord),
});
export type AgentTable = z.infer<typeof AgentTable>;

/** The table, or what is wrong with it; a name that is not known is never taken for another. */
export function readAgentTable(table: unknown): Result<AgentTable & { readonly command: string }, string> {
  const parsed = AgentTable.safeParse(table);
  if (!parsed.success) return err(whatIsWrong(parsed.error.issues[0], table));
  const command = parsed.data.command ?? programOfProtocol(parsed.data.protocol)?.command;
  if (command === undefined) return err('nothing says how to start it: it needs a `command`');
  return ok({ ...parsed.data, command });
}

function whatIsWrong(issue: z.core.$ZodIssue | undefined, table: unknown): string {
  const key = String(issue?.path[0] ?? '');
  if (key !== 'protocol') return `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'is not valid'}`;
  const said: unknown = typeof table === 'object' && table !== null ? Reflect.get(table, key) : undefined;
  const meant = typeof said === 'string' ? nearest(said, [...agentProtocols]) : undefined;
  const known = agentProtocols.map((name) => `"${name}"`).join(', ');
  return `protocol: ${JSON.stringify(said)} is none of ${known}${meant === undefined ? '' : `; did you mean "${meant}"?`}`;
}
