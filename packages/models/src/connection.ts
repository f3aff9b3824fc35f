import { nearest } from '@concerto/base';
import * as z from 'zod';
import { versionedUrl } from './base-url.ts';
import { ModelFailure } from './model-failure.ts';
import { type Environment, resolveVariables } from './variables.ts';

const text = z.string().min(1);

/** `[connections.NAME]`; the manifest has checked it, a compiled program may be older than we are. */
const connectionSchema = z.looseObject({
  provider: text,
  api_key_env: text.optional(),
  base_url: text.optional(),
  default_model: text.optional(),
  /** Seconds. */
  timeout: z.number().positive().optional(),
  organization: text.optional(),
  project: text.optional(),
  headers: z.record(z.string(), z.string()).default({}),
  retry: z
    .looseObject({
      max_attempts: z.int().min(1).default(1),
      backoff: z.enum(['none', 'linear', 'exponential']).default('none'),
      initial_delay_ms: z.number().min(0).default(1000),
      max_delay_ms: z.number().min(0).default(30_000),
    })
    .optional(),
  rate_limit: z
    .looseObject({
      requests_per_minute: z.int().min(1).optional(),
      tokens_per_minute: z.int().min(1).optional(),
      concurrent_requests: z.int().min(1).optional(),
    })
    .optional(),
  models: z.record(z.string(), text).default({}),
});

type Settings = z.infer<typeof connectionSchema>;

type Wire = 'openai-chat' | 'openai-responses' | 'anthropic' | 'google' | 'compatible' | 'mock';

type ProviderFacts = {
  readonly wire: Wire;
  readonly version: string;
  readonly address?: string;
  /** Overrides the address of the manifest. */
  readonly addressVariable?: string;
  /** Used when the connection does not name one; without it no key is needed. */
  readonly keyVariable?: string;
};

const PROVIDERS: Readonly<Record<string, ProviderFacts>> = {
  openai: {
    wire: 'openai-chat',
    version: 'v1',
    address: 'https://api.openai.com/v1',
    addressVariable: 'OPENAI_BASE_URL',
    keyVariable: 'OPENAI_API_KEY',
  },
  'openai-responses': {
    wire: 'openai-responses',
    version: 'v1',
    address: 'https://api.openai.com/v1',
    addressVariable: 'OPENAI_BASE_URL',
    keyVariable: 'OPENAI_API_KEY',
  },
  anthropic: {
    wire: 'anthropic',
    version: 'v1',
    address: 'https://api.anthropic.com/v1',
    addressVariable: 'ANTHROPIC_BASE_URL',
    keyVariable: 'ANTHROPIC_API_KEY',
  },
  google: {
    wire: 'google',
    version: 'v1beta',
    address: 'https://generativelanguage.googleapis.com/v1beta',
    keyVariable: 'GEMINI_API_KEY',
  },
  ollama: { wire: 'compatible', version: 'v1', address: 'http://127.0.0.1:11434/v1' },
  custom: { wire: 'compatible', version: 'v1' },
  'openai-compatible': { wire: 'compatible', version: 'v1' },
  mock: { wire: 'mock', version: 'v1' },
};

/** A connection with everything a request needs. */
export type Connection = {
  readonly name: string;
  readonly provider: string;
  readonly wire: Wire;
  readonly address: string;
  readonly key: string | undefined;
  /** For messages about the key. */
  readonly keyVariable: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** What must not be shown to anyone. */
  readonly secrets: readonly string[];
  readonly settings: Settings;
};

/** Reads a connection; what is missing is named. */
export function readConnection(name: string, table: unknown, environment: Environment): Connection {
  const settings = parseSettings(name, table);
  const facts = providerFacts(name, settings);
  const address = addressOf(name, { settings, facts, environment });
  const keyVariable = settings.api_key_env ?? facts.keyVariable;
  const key = keyVariable === undefined ? undefined : environment[keyVariable];
  if (keyVariable !== undefined && facts.wire !== 'mock' && (key ?? '') === '') {
    throw new ModelFailure(
      'auth',
      `the key of connection "${name}" is missing; set ${keyVariable}, or run with --mock`,
      { provider: settings.provider },
    );
  }
  const headers = resolveVariables(settings.headers, environment);
  if (headers.missing.length > 0) {
    throw new ModelFailure('auth', `the headers of connection "${name}" need ${headers.missing.join(', ')}: not set`, {
      provider: settings.provider,
    });
  }
  return {
    name,
    provider: settings.provider,
    wire: facts.wire,
    address,
    key,
    keyVariable,
    headers: headers.values,
    secrets: [...(key === undefined ? [] : [key]), ...passwordOf(address), ...headers.secrets],
    settings,
  };
}

function passwordOf(address: string): string[] {
  const password = URL.canParse(address) ? new URL(address).password : '';
  return password === '' ? [] : [password, decodeURIComponent(password)];
}

/** What the provider calls the model: an alias of the connection, a name of the provider, or the default. */
export function modelName(connection: Connection, written: string | undefined): string {
  const { models, default_model } = connection.settings;
  const wanted = written ?? default_model;
  if (wanted === undefined) {
    if (connection.wire === 'mock') return 'mock';
    throw new ModelFailure(
      'connection',
      `no model is named: write \`base\`, or \`default_model\` in [connections.${connection.name}]`,
    );
  }
  return Object.hasOwn(models, wanted) ? (models[wanted] ?? wanted) : wanted;
}

function parseSettings(name: string, table: unknown): Settings {
  if (table === undefined) {
    throw new ModelFailure(
      'connection',
      `there is no connection "${name}"; add [connections.${name}] to Concerto.toml`,
    );
  }
  const parsed = connectionSchema.safeParse(table);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new ModelFailure('connection', `connection "${name}": ${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}`);
}

function providerFacts(name: string, settings: Settings): ProviderFacts {
  const { provider, base_url } = settings;
  if (Object.hasOwn(PROVIDERS, provider)) return PROVIDERS[provider] ?? { wire: 'compatible', version: 'v1' };
  // Anybody may speak OpenAI's wire at an address of their own.
  if (base_url !== undefined) return { wire: 'compatible', version: 'v1' };
  const near = nearest(provider, Object.keys(PROVIDERS));
  const hint = near === undefined ? 'set `base_url` where it speaks OpenAI’s wire' : `did you mean "${near}"?`;
  throw new ModelFailure('connection', `connection "${name}": there is no provider "${provider}"; ${hint}`);
}

function addressOf(
  name: string,
  { settings, facts, environment }: { settings: Settings; facts: ProviderFacts; environment: Environment },
): string {
  if (facts.wire === 'mock') return '';
  const override = facts.addressVariable === undefined ? undefined : environment[facts.addressVariable];
  const written = (override === '' ? undefined : override) ?? settings.base_url ?? facts.address;
  if (written === undefined) {
    throw new ModelFailure(
      'connection',
      `connection "${name}" needs \`base_url\`: provider "${settings.provider}" has none`,
    );
  }
  if (!URL.canParse(written)) {
    const source = override === undefined || override === '' ? '`base_url`' : facts.addressVariable;
    throw new ModelFailure('connection', `connection "${name}": ${source ?? ''} is not an address`);
  }
  return versionedUrl(written, facts.version);
}
