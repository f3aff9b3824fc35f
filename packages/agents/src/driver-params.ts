import { nearest } from '@concerto/base';
import { z } from 'zod';
import type { AgentSpec } from './agent-connection.ts';
import { AgentError } from './agent-error.ts';

const texts = z.record(z.string(), z.string());
const patterns = z.array(z.string()).optional();

const Server = z.discriminatedUnion('transport', [
  z.strictObject({
    transport: z.literal('stdio'),
    command: z.string().min(1),
    args: z.array(z.string()).optional(),
    env: texts.optional(),
    cwd: z.string().optional(),
  }),
  z.strictObject({ transport: z.enum(['http', 'sse']), url: z.string().min(1), headers: texts.optional() }),
]);
export type ToolServerParams = z.infer<typeof Server>;

const ToolRules = z.strictObject({ allow: patterns, deny: patterns, ask: patterns });
export type ToolRules = z.infer<typeof ToolRules>;

/** What a session's tool configuration adds to the params of any agent. */
export const toolParams = {
  mcp_servers: z.record(z.string(), Server).optional(),
  tools: ToolRules.optional(),
};

/** `[agents.NAME.params]` in the driver's own shape; a refusal names the key and the nearest known one. */
export function readParams<Shape extends z.core.$ZodLooseShape>(
  { name, protocol = 'ndjson', params = {} }: AgentSpec,
  schema: z.ZodObject<Shape, z.core.$strict>,
): z.infer<z.ZodObject<Shape, z.core.$strict>> {
  const parsed = schema.safeParse(params);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const key = issue?.code === 'unrecognized_keys' ? issue.keys[0] : undefined;
  const meant = key === undefined ? undefined : nearest(key, Object.keys(schema.shape));
  const why =
    key === undefined
      ? `params.${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'is not valid'}`
      : `params.${key}: an agent of protocol "${protocol}" has no such param${meant === undefined ? '' : `; did you mean "${meant}"?`}`;
  throw new AgentError('init-refused', `agent "${name}": ${why}`);
}
