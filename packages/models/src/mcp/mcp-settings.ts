import { isAbsolute, resolve } from 'node:path';
import * as z from 'zod';
import { type Environment, resolveVariables } from '../variables.ts';
import { McpFailure } from './mcp-failure.ts';

const text = z.string().min(1);
const table = z.record(z.string(), z.union([z.string(), z.strictObject({ text: z.string() })]));

/** `[mcp.NAME]`, and what the declaration in the program adds. */
const settingsSchema = z
  .looseObject({
    transport: z.enum(['stdio', 'http', 'sse']).optional(),
    command: text.optional(),
    args: z.array(z.string()).default([]),
    env: table.default({}),
    working_dir: text.optional(),
    url: text.optional(),
    headers: table.default({}),
    /** Seconds, for connecting and for each call. */
    timeout: z.number().positive().optional(),
  })
  .transform((settings) => ({
    ...settings,
    transport: settings.transport ?? (settings.url === undefined ? 'stdio' : 'http'),
  }));

const CONNECT_TIMEOUT_MS = 30_000;
const CALL_TIMEOUT_MS = 120_000;

export type McpPlace = {
  readonly environment: Environment;
  /** Where the manifest is: relative paths start here. */
  readonly directory: string;
  /** Set in every server that is a process of ours. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Whether servers are told that they may ask, as far as calls are watched by somebody who answers. */
  readonly elicits?: boolean;
};

export type McpSpec = {
  readonly name: string;
  readonly reach:
    | {
        readonly kind: 'stdio';
        readonly command: string;
        readonly args: readonly string[];
        readonly env: Readonly<Record<string, string>>;
        readonly directory: string;
      }
    | { readonly kind: 'http' | 'sse'; readonly url: URL; readonly headers: Readonly<Record<string, string>> };
  readonly elicits: boolean;
  readonly connectTimeoutMs: number;
  readonly callTimeoutMs: number;
  readonly secrets: readonly string[];
};

export function readMcpSettings(name: string, written: unknown, place: McpPlace): McpSpec {
  const parsed = settingsSchema.safeParse(written);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new McpFailure('connection', name, `${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}`);
  }
  const { data } = parsed;
  const { values, secrets, missing } = resolveVariables(
    data.transport === 'stdio' ? data.env : data.headers,
    place.environment,
  );
  if (missing.length > 0) throw new McpFailure('auth', name, `${missing.join(', ')} is not set`);
  const timeout = data.timeout === undefined ? undefined : data.timeout * 1000;
  const limits = {
    name,
    secrets,
    elicits: place.elicits === true,
    connectTimeoutMs: timeout ?? CONNECT_TIMEOUT_MS,
    callTimeoutMs: timeout ?? CALL_TIMEOUT_MS,
  };
  if (data.transport !== 'stdio') {
    if (data.url === undefined || !URL.canParse(data.url)) {
      throw new McpFailure('connection', name, 'needs `url`: the address of the server');
    }
    return { ...limits, reach: { kind: data.transport, url: new URL(data.url), headers: values } };
  }
  if (data.command === undefined) throw new McpFailure('connection', name, 'needs `command`: the program to start');
  const [command = data.command, ...first] = data.args.length > 0 ? [data.command] : words(data.command);
  const directory = resolve(place.directory, data.working_dir ?? '.');
  const env = { ...inherited(place.environment), ...values, ...place.variables };
  return {
    ...limits,
    reach: { kind: 'stdio', command: programPath(command, directory), args: [...first, ...data.args], env, directory },
  };
}

/** `command = "npx server --flag"` has its arguments in it. */
function words(line: string): string[] {
  const found = [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)];
  return found.map(([, double, single, plain]) => double ?? single ?? plain ?? '');
}

function programPath(command: string, directory: string): string {
  return command.startsWith('.') && !isAbsolute(command) ? resolve(directory, command) : command;
}

/** Enough to find programs, a home and the network; our keys only when `env` says so. */
const INHERITED = [
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'LANG',
  'LC_ALL',
  'TERM',
  'TMPDIR',
  'TZ',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'SSL_CERT_FILE',
  'NODE_EXTRA_CA_CERTS',
  'SystemRoot',
  'PATHEXT',
  'USERPROFILE',
  'APPDATA',
  'LOCALAPPDATA',
];

function inherited(environment: Environment): Record<string, string> {
  return Object.fromEntries(
    INHERITED.flatMap((name) => (environment[name] === undefined ? [] : [[name, environment[name]]])),
  );
}
