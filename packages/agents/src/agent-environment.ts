import { AgentError } from './agent-error.ts';

/**
 * What an agent inherits: enough to find programs, its home and the network. All else, our own keys and tokens first of
 * all, it gets only when its `env` says so.
 */
const inherited = new Set([
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'LANG',
  'LANGUAGE',
  'TMPDIR',
  'TMP',
  'TEMP',
  'TERM',
  'COLORTERM',
  'NO_COLOR',
  'TZ',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'http_proxy',
  'https_proxy',
  'no_proxy',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'NODE_EXTRA_CA_CERTS',
  // Without these no program starts on Windows.
  'SystemRoot',
  'ComSpec',
  'PATHEXT',
  'USERPROFILE',
  'APPDATA',
  'LOCALAPPDATA',
]);
const inheritedPrefixes = ['LC_', 'XDG_'];

type Environment = Readonly<Record<string, string | undefined>>;

export type AgentEnvironment = {
  readonly variables: Readonly<Record<string, string>>;
  /** Values that came by reference, to be struck out of anything we show. */
  readonly secrets: readonly string[];
};

export function agentEnvironment(
  agent: string,
  configured: Readonly<Record<string, string>>,
  ours: Environment,
): AgentEnvironment {
  const variables: Record<string, string> = {};
  for (const [name, value] of Object.entries(ours)) {
    if (value !== undefined && isInherited(name)) variables[name] = value;
  }
  const secrets = new Set<string>();
  for (const [name, value] of Object.entries(configured)) {
    variables[name] = value.replaceAll(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (_, reference: string) => {
      const found = ours[reference];
      if (found === undefined) throw missingVariable(agent, name, reference);
      secrets.add(found);
      return found;
    });
  }
  return { variables, secrets: [...secrets] };
}

function isInherited(name: string): boolean {
  return inherited.has(name) || inheritedPrefixes.some((prefix) => name.startsWith(prefix));
}

function missingVariable(agent: string, name: string, reference: string): AgentError {
  return new AgentError(
    'missing-variable',
    `agent "${agent}": its variable ${name} is read from ${reference}, which is not set here`,
    { advice: `set ${reference} where the server starts, or correct \`env\` in the manifest, and start again` },
  );
}
