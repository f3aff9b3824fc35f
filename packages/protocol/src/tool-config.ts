import * as z from 'zod/mini';

/** Which MCP servers and tools a session has. No secret is ever written here: a secret is named by its environment variable. */
export const toolServersMax = 50;
export const toolsPerServerMax = 500;
export const toolPatternsMax = 500;

const environmentName = z
  .string()
  .check(z.regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be the name of an environment variable'));

export const SecretReference = z.strictObject({ env: environmentName });
export type SecretReference = z.infer<typeof SecretReference>;

const secretName = /auth|token|secret|passw|credential|cookie|api[-_]?key|private[-_]?key/i;

/** Plain text or a reference; a name that speaks of a secret must be a reference, so that no secret is stored. */
const settings = (name: z.ZodMiniString) =>
  z.record(name, z.union([z.string(), SecretReference], 'must be text or a reference such as {"env":"NAME"}')).check(
    z.superRefine((values, context) => {
      for (const [key, value] of Object.entries(values)) {
        if (typeof value === 'string' && secretName.test(key)) {
          context.addIssue({
            code: 'custom',
            path: [key],
            message: 'looks like a secret and must be a reference such as {"env":"NAME"}',
          });
        }
      }
    }),
  );

function limited<T extends object>(schema: z.ZodMiniType<T>, limit: number, what: string) {
  return schema.check(z.refine((values) => Object.keys(values).length <= limit, `at most ${limit} ${what}`));
}

export const ToolSetting = z.strictObject({
  enabled: z.optional(z.boolean()),
  /** `auto` runs it, `ask` asks a person each time, `deny` never runs it. */
  approval: z.optional(z.enum(['auto', 'ask', 'deny'])),
});
export type ToolSetting = z.infer<typeof ToolSetting>;

const toolName = z
  .string()
  .check(z.regex(/^[A-Za-z0-9_./-]{1,128}$/, 'a tool name has 1 to 128 of the characters A-Z a-z 0-9 _ . / -'));
const shared = {
  enabled: z.optional(z.boolean()),
  tools: z.optional(limited(z.record(toolName, ToolSetting), toolsPerServerMax, 'tools a server')),
};

const absoluteUrl = z.string().check(
  z.refine((url) => /^https?:\/\/[^\s/?#]+/i.test(url), 'must be an absolute http or https URL'),
  z.refine((url) => !/^https?:\/\/[^/?#]*@/i.test(url), 'must not carry a user name or password'),
  z.maxLength(2048),
);

const headerName = z.string().check(z.regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, 'must be a header name'));

const StdioServer = z.strictObject({
  transport: z.literal('stdio'),
  command: z.string().check(z.minLength(1, 'must not be empty')),
  args: z.optional(z.array(z.string()).check(z.maxLength(200))),
  env: z.optional(settings(environmentName)),
  cwd: z.optional(z.string().check(z.minLength(1))),
  ...shared,
});

const remote = { url: absoluteUrl, headers: z.optional(settings(headerName)), ...shared };

export const ToolServer = z.discriminatedUnion(
  'transport',
  [
    StdioServer,
    z.strictObject({ transport: z.literal('http'), ...remote }),
    z.strictObject({ transport: z.literal('sse'), ...remote }),
  ],
  { error: 'must be "stdio" with a command, or "http" or "sse" with a url' },
);
export type ToolServer = z.infer<typeof ToolServer>;

/** A server may leave its transport to be seen from `command` or `url`, and may spell it `type`, as other files do. */
function withTransport(server: unknown): unknown {
  if (typeof server !== 'object' || server === null || Array.isArray(server) || 'transport' in server) return server;
  const { type, ...rest }: { type?: unknown } = { ...server };
  if (type !== undefined) return { ...rest, transport: type };
  if ('command' in server) return { ...rest, transport: 'stdio' };
  if ('url' in server) return { ...rest, transport: 'http' };
  return server;
}

const serverName = z
  .string()
  .check(z.regex(/^[A-Za-z0-9_-]{1,64}$/, 'a server name has 1 to 64 of the characters A-Z a-z 0-9 _ -'));
const patterns = z
  .array(z.string().check(z.regex(/^[A-Za-z0-9_./*-]{1,200}$/, 'must be a tool name, where * stands for any text')))
  .check(z.maxLength(toolPatternsMax));

export const ToolConfig = z.strictObject({
  servers: z.optional(
    limited(z.record(serverName, z.pipe(z.transform(withTransport), ToolServer)), toolServersMax, 'servers'),
  ),
  allow: z.optional(patterns),
  deny: z.optional(patterns),
});
export type ToolConfig = z.infer<typeof ToolConfig>;
