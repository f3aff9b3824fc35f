import { agentProtocols, programOfProtocol } from '@concerto/base';
import * as z from 'zod';

const text = z.string().min(1);
const seconds = z.number().positive();
const count = z.int().min(1);
const environment = z.record(z.string(), z.string());

const project = z.strictObject({
  name: text,
  version: text,
  /** Path of the program that `concerto run` runs, relative to the manifest. */
  entry: text,
  description: z.string().optional(),
});

const retry = z.strictObject({
  max_attempts: count.default(1),
  backoff: z.enum(['none', 'linear', 'exponential']).default('none'),
  initial_delay_ms: z.number().min(0).default(1000),
  max_delay_ms: z.number().min(0).default(30_000),
});

const rateLimit = z.strictObject({
  requests_per_minute: count.optional(),
  tokens_per_minute: count.optional(),
  concurrent_requests: count.optional(),
});

/** Providers that answer nobody without a key. */
const PROVIDERS_WITH_KEY = new Set(['openai', 'anthropic', 'google']);

const connection = z
  .strictObject({
    /** `openai`, `anthropic`, `google`, `ollama`, `custom` (OpenAI's wire elsewhere), `mock`. */
    provider: text,
    /** Name of the environment variable that holds the key. */
    api_key_env: text.optional(),
    base_url: text.optional(),
    default_model: text.optional(),
    timeout: seconds.optional(),
    organization: text.optional(),
    project: text.optional(),
    headers: z.record(z.string(), z.string()).optional(),
    retry: retry.optional(),
    rate_limit: rateLimit.optional(),
    /** Alias to the provider's name of the model. */
    models: z.record(z.string(), text).default({}),
  })
  .refine(
    (value) => value.api_key_env !== undefined || !PROVIDERS_WITH_KEY.has(value.provider),
    'needs `api_key_env`: the name of the environment variable that holds the key',
  );

/** `10m`, or seconds. */
const span = z.union([
  seconds,
  z.string().regex(/^\d+(\.\d+)?(ms|s|m|h|d)$/, 'is a time such as "30s", "10m", "2h", "1d"'),
]);

const patterns = z.union([text, z.array(text).min(1)]).optional();
const risk = z.enum(['low', 'medium', 'high']);

/** What is answered without a person: every key that is there must match, of a list one. */
const rule = z.strictObject({
  tool: patterns,
  kind: patterns,
  command: patterns,
  path: patterns,
  server: patterns,
  risk: z.union([risk, z.array(risk).min(1)]).optional(),
  text: patterns,
  agent: patterns,
  template: patterns,
  decide: z
    .string()
    .regex(
      /^(allow|deny|ask|answer:[\s\S]+|model:[^\s]+)$/,
      'is one of "allow", "deny", "ask", "answer:VALUE", "model:NAME"',
    ),
  reason: z.string().optional(),
});

/** What each session may use; at the end of it somebody is asked for more. */
const budget = z
  .strictObject({
    usd: z.number().positive().optional(),
    tokens: count.optional(),
    turns: count.optional(),
    /** At work: neither paused nor waiting for anybody. */
    minutes: z.number().positive().optional(),
  })
  .refine((value) => Object.keys(value).length > 0, 'names at least one of `usd`, `tokens`, `turns`, `minutes`');

/** Who answers for it, and for how long a person may think. */
const answered = {
  /** The first that matches decides. */
  rules: z.array(rule).default([]),
  answer_within: span.optional(),
  on_timeout: z
    .string()
    .regex(/^(deny|keep|fail|answer:[\s\S]+)$/, 'is one of "deny", "keep", "fail", "answer:VALUE"')
    .optional(),
  /** The `[programs.NAME]` that answers for its sessions. */
  supervisor: text.optional(),
  /** How long a model or a supervisor may take before the next is asked; a minute unless given. */
  ask_within: span.optional(),
  /** How often models may be asked for one session. */
  model_asks_max: count.optional(),
  budget: budget.optional(),
};

/** Types of files that can be sent to it; text always can. */
const accepts = z.array(
  z.string().regex(/^(text|[\w.+-]+\/[\w.+*-]+|\*\/\*)$/, 'is `text`, or a type such as `image/*`'),
);

/** US dollars for a million tokens. */
const price = z.strictObject({
  input: z.number().min(0),
  output: z.number().min(0),
  cached_input: z.number().min(0).optional(),
});

const agent = z
  .strictObject({
    ...answered,
    transport: z.literal('stdio').default('stdio'),
    protocol: z.enum(agentProtocols).default('ndjson'),
    /** Optional only where the protocol names a program itself. */
    command: text.optional(),
    args: z.array(z.string()).default([]),
    env: environment.default({}),
    working_dir: text.optional(),
    input_format: z.enum(['text', 'json']).optional(),
    output_format: z.enum(['text', 'json']).optional(),
    /** What a line of plain text is before the first typed message. */
    plain_text: z.enum(['result', 'log', 'error']).default('result'),
    accepts: accepts.optional(),
    sandbox: z.enum(['auto', 'require', 'off']).default('auto'),
    /** What it may see of the files that are hidden from agents. */
    sandbox_paths: z.array(z.string()).default([]),
    timeout: seconds.optional(),
    idle_timeout: seconds.optional(),
    init_timeout: seconds.optional(),
    instances: count.default(1),
    /** What a session may set for itself, by the names of params, or `working_dir`, `env`, `worktree`. */
    per_session: z.array(text).default([]),
    /** Each session works in a git worktree of its own. */
    worktree: z.boolean().default(false),
    description: z.string().optional(),
    /** Sent in `init`; absent when the table is missing or empty. */
    params: z.record(z.string(), z.json()).optional(),
  })
  .refine((value) => value.command !== undefined || programOfProtocol(value.protocol) !== undefined, {
    message: 'needs `command`: the program to start',
  });

const mcpServer = z
  .strictObject({
    transport: z.enum(['stdio', 'http', 'sse']),
    command: text.optional(),
    args: z.array(z.string()).default([]),
    env: environment.default({}),
    working_dir: text.optional(),
    url: text.optional(),
    headers: z.record(z.string(), z.string()).default({}),
    timeout: seconds.optional(),
  })
  .refine((value) => value.transport !== 'stdio' || value.command !== undefined, 'stdio needs `command`')
  .refine((value) => value.transport === 'stdio' || value.url !== undefined, 'http and sse need `url`');

const bytes = z
  .string()
  .regex(/^[1-9]\d*(KiB|MiB|GiB)$/, 'is a number of KiB, MiB or GiB, such as "256MiB"')
  .optional();

const program = z.strictObject({
  ...answered,
  entry: text,
  description: z.string().optional(),
  /** What one run of it may use; what is usual where it is absent. */
  limits: z
    .strictObject({
      steps: count.optional(),
      memory: bytes,
      depth: count.optional(),
      size: count.optional(),
      at_once: count.optional(),
      children: count.optional(),
      stream: bytes,
      slice: span.optional(),
    })
    .optional(),
});

/** Which tools an assistant may use. The lists hold names such as `server.tool`, where `*` stands for any text. */
const tools = z.strictObject({
  /** Names of `[mcp.NAME]` servers, or servers of its own. */
  servers: z.union([z.array(text), z.record(z.string(), mcpServer)]).default([]),
  allow: z.array(text).optional(),
  deny: z.array(text).optional(),
  /** A person is asked before each call of these. */
  ask: z.array(text).optional(),
});

/** What a session may set of an assistant, by the names of params. */
const assistantSettings = z.enum(['model', 'system', 'temperature', 'max_tokens', 'effort', 'output_schema']);

const assistant = z.strictObject({
  ...answered,
  accepts: accepts.optional(),
  context_tokens: z.number().int().min(1_000).optional(),
  connection: text,
  model: text.optional(),
  system: z.string().optional(),
  mode: z.enum(['native', 'signals']).default('native'),
  /** Built-in functions it may call beside its tools. */
  functions: z.array(text).default([]),
  /** Agents, assistants and programs of this file that it may call: each call is a session. */
  agents: z.array(text).default([]),
  /** Names of `[mcp.NAME]` servers, or the whole policy. */
  tools: z.union([z.array(text), tools]).default([]),
  /** How often the model may be asked in one turn. */
  max_steps: count.optional(),
  /** Of a turn. */
  timeout: seconds.optional(),
  temperature: z.number().min(0).max(2).optional(),
  max_tokens: count.optional(),
  /** How long it may think. */
  effort: z.enum(['minimal', 'low', 'medium', 'high', 'xhigh', 'max']).optional(),
  /** JSON Schema of what the last answer of each turn has to be. */
  output_schema: z.record(z.string(), z.json()).optional(),
  per_session: z.array(assistantSettings).default([]),
  description: z.string().optional(),
});

/** As a start takes it. */
const titleLengthMax = 200;

const template = z
  .strictObject({
    agent: text.optional(),
    program: text.optional(),
    assistant: text.optional(),
    prompt: z.string().optional(),
    title: z.string().min(1).max(titleLengthMax).optional(),
    /** As `POST /api/sessions` takes it; the session says what is wrong with it. */
    tools: z.json().optional(),
    /** The `[programs.NAME]` that answers for its sessions. */
    supervisor: text.optional(),
  })
  .refine(
    ({ agent: a, program: b, assistant: c }) => [a, b, c].filter((name) => name !== undefined).length === 1,
    'names exactly one of `agent`, `program` and `assistant`',
  );

/** Who is told elsewhere that somebody is needed. */
const notify = z.strictObject({
  /** How long a request waits for a person before anybody is told. */
  after: span.default('1m'),
  on: z.array(z.enum(['request', 'failed', 'budget'])).default(['request', 'failed', 'budget']),
  webhook: z
    .strictObject({
      url: z.url({ protocol: /^https?$/, error: 'is the address of a server, with http or https' }),
      /** Name of the environment variable that holds the secret with which what is sent is signed. */
      secret_env: text,
      /** Private hosts to which the webhook may send us on. */
      allow_private: z.array(text).default([]),
    })
    .optional(),
  command: z.strictObject({ command: text, args: z.array(z.string()).default([]) }).optional(),
});

const pool = z.strictObject({ max_sessions: count.default(20), max_programs: count.optional() });

const age = z.string().regex(/^[1-9]\d*[hdw]$/, 'is a number of h, d or w, such as "90d"');

/** Of sessions that are over. */
const retention = z.strictObject({
  archive_after: age.optional(),
  delete_after: age.optional(),
  /** Of more than these the oldest are deleted. */
  keep_sessions: count.optional(),
  /** Of a store that takes more than that the oldest are deleted. */
  keep_size: bytes,
});

const server = z.strictObject({
  /** How long an agent may go on without a server or runner before it is ended; default one hour. */
  keep_agents: z
    .string()
    .regex(/^[1-9]\d*[smhd]$/, 'is a number of s, m, h or d, such as "1h"')
    .optional(),
  host: text.optional(),
  port: z.int().min(0).max(65_535).optional(),
  store: text.optional(),
  /** Name of the environment variable that holds the token. */
  token_env: text.optional(),
  allowed_hosts: z.array(text).default([]),
  allowed_origins: z.array(text).default([]),
  /** Which MCP servers callers may bring along: none, those by URL, or commands too. */
  inline_tools: z.enum(['off', 'http', 'any']).default('off'),
  inline_commands: z.array(text).optional(),
  inline_hosts: z.array(text).optional(),
  inline_variables: z.array(text).optional(),
  /** Where sessions may work beside the project, relative to the manifest. */
  folders: z.array(text).default([]),
});

export const manifestSchema = z.strictObject({
  /** Of a project: what `concerto run` runs. The manifest of a server may do without. */
  project: project.optional(),
  connections: z.record(z.string(), connection).default({}),
  agents: z.record(z.string(), agent).default({}),
  mcp: z.record(z.string(), mcpServer).default({}),
  programs: z.record(z.string(), program).default({}),
  assistants: z.record(z.string(), assistant).default({}),
  templates: z.record(z.string(), template).default({}),
  /** For all, after their own. */
  rules: z.array(rule).default([]),
  /** By the name of the model, over the list prices that are built in. */
  prices: z.record(z.string(), price).default({}),
  pool: pool.default({ max_sessions: 20 }),
  notify: notify.optional(),
  retention: retention.optional(),
  server: server.default({ allowed_hosts: [], allowed_origins: [], inline_tools: 'off', folders: [] }),
});

/** `Concerto.toml` with its defaults; the names of the keys are those of the file. */
export type Manifest = z.infer<typeof manifestSchema>;
export type ManifestRule = Manifest['rules'][number];
export type ManifestConnection = Manifest['connections'][string];
export type ManifestAgent = Manifest['agents'][string];
export type ManifestMcpServer = Manifest['mcp'][string];
export type ManifestAssistant = Manifest['assistants'][string];
export type ManifestTemplate = Manifest['templates'][string];
