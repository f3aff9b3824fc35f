import { agentProtocols, err, nearest, ok, programOfProtocol, type Result } from '@concerto/base';
import * as z from 'zod';
import { JsonRecord } from './json-value.ts';

/** `[agents.NAME]` as far as it says how the agent is started and spoken to; what else it says is for others. */
const AgentTable = z.looseObject({
  protocol: z.enum(agentProtocols).default('ndjson'),
  command: z.string().min(1).optional(),
  args: z.array(z.string()).default([]),
  env: z.record(z.string(), z.string()).default({}),
  working_dir: z.string().min(1).optional(),
  input_format: z.enum(['text', 'json']).optional(),
  output_format: z.enum(['text', 'json']).optional(),
  plain_text: z.enum(['result', 'log', 'error']).optional(),
  accepts: z.array(z.string()).optional(),
  params: JsonRecord.optional(),
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
