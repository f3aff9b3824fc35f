import { execFile } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { delimiter, isAbsolute, join, resolve, sep } from 'node:path';
import type { AgentSandbox } from '@concerto/protocol';
import { AgentError } from './agent-error.ts';

export type SandboxMode = 'auto' | 'require' | 'off';

/** What an agent's process may not see. */
export type Sandbox = {
  /** `auto`: where the system can; `require`: or it does not start. */
  readonly mode: SandboxMode;
  /** Files and folders that are not there for it: tokens, stores, sockets of ours. */
  readonly hide: readonly string[];
  /** What stays visible inside them. */
  readonly show?: readonly string[];
};

export type SandboxUse =
  | {
      readonly kind: 'bubblewrap';
      readonly program: string;
      /** Beside the view itself. */
      readonly args: readonly string[];
      /** Whether a program inside can open a sandbox of its own for what it starts; Codex does, for every command. */
      readonly nests: boolean;
    }
  | { readonly kind: 'none'; readonly reason: string };

const probeTimeoutMs = 10_000;

/**
 * Signals go to the whole group, and bubblewrap would die of them before the agent has had its say: it ignores what the
 * agent, which starts with nothing ignored, may want to handle.
 */
const deaf = ['/bin/sh', '-c', 'trap "" INT TERM HUP; exec "$@"', 'sh'];
const listening = ['/usr/bin/env', '--default-signal=INT,TERM,HUP'];

/**
 * Its own processes are all it sees, and they end with it, however they were started; the files are those of its user,
 * without what is hidden. The network is shared: without a token our port is as closed as a stranger's.
 */
const view = [
  '--die-with-parent',
  '--unshare-pid',
  '--unshare-ipc',
  '--cap-drop',
  'ALL',
  '--dev-bind',
  '/',
  '/',
  '--proc',
  '/proc',
];

/**
 * Of root's own namespace the kernel lets nobody make another without this, and an agent's own sandbox begins with one.
 * It gives nothing that who may write root's files has not: what it marks gains nothing inside.
 */
const nestingOfRoot = ['--cap-add', 'CAP_SETFCAP'];

let probed: Promise<SandboxUse> | undefined;

/** Whether agents can be put into a sandbox here; tried once. */
export function probeSandbox(): Promise<SandboxUse> {
  probed ??= probe();
  return probed;
}

/** What stands before an agent's command; nothing where it runs without. Throws when it must not. */
export async function sandboxPrefix(
  agent: string,
  { mode, hide, show = [] }: Sandbox,
  workingDir: string,
): Promise<readonly string[]> {
  if (mode === 'off') return [];
  const use = await probeSandbox();
  if (use.kind === 'none') {
    if (mode === 'auto') return [];
    throw new AgentError(
      'spawn-failed',
      `agent "${agent}": \`sandbox = "require"\`, but there is none here: ${use.reason}`,
      { advice: 'make one possible (docs/SECURITY.md says how), or take `sandbox` out of the manifest' },
    );
  }
  const { program, args } = use;
  return [
    ...deaf,
    program,
    ...view,
    ...args,
    ...hidden(hide),
    ...shown([workingDir, ...show], hide),
    '--',
    ...listening,
  ];
}

/** In which sandbox an agent with this setting runs here, or why in none. */
export async function sandboxAbout(sandbox: Sandbox | undefined): Promise<AgentSandbox> {
  if (sandbox === undefined) return { kind: 'none', reason: 'nobody asked for one' };
  if (sandbox.mode === 'off') return { kind: 'none', reason: '`sandbox = "off"` in the manifest' };
  const use = await probeSandbox();
  return use.kind === 'none' ? { kind: 'none', reason: use.reason } : { kind: 'bubblewrap' };
}

function hidden(paths: readonly string[]): string[] {
  return paths.filter((path) => existsSync(path)).flatMap((path) => covering(resolve(path)));
}

function covering(path: string): string[] {
  return statSync(path).isDirectory() ? ['--tmpfs', path] : ['--ro-bind', '/dev/null', path];
}

/** A folder it works in may lie within what is hidden; it is there all the same. */
function shown(paths: readonly string[], hide: readonly string[]): string[] {
  const covered = hide.map((path) => resolve(path));
  return paths
    .map((path) => resolve(path))
    .filter(
      (path) => covered.some((folder) => path === folder || path.startsWith(`${folder}${sep}`)) && existsSync(path),
    )
    .flatMap((path) => ['--bind', path, path]);
}

async function probe(): Promise<SandboxUse> {
  if (process.platform !== 'linux') return { kind: 'none', reason: 'there is a sandbox on Linux only' };
  // By its own path: an agent's variables do not choose who guards it.
  const program = (process.env.PATH ?? '')
    .split(delimiter)
    .map((folder) => join(folder, 'bwrap'))
    .find((file) => isAbsolute(file) && existsSync(file));
  if (program === undefined) {
    return { kind: 'none', reason: 'bubblewrap is not installed (`apt-get install bubblewrap`)' };
  }
  const inner = [program, '--unshare-user', '--unshare-pid', '--ro-bind', '/', '/'];
  const isRoot = process.getuid?.() === 0;
  let why: string | undefined;
  for (const args of isRoot ? [nestingOfRoot, []] : [[]]) {
    const outer = [...deaf, program, ...view, ...args, '--', ...listening];
    why = await whyFails([...outer, 'true']);
    if (why !== undefined) continue;
    const nests = (await whyFails([...outer, ...inner, '--', 'true'])) === undefined;
    return { kind: 'bubblewrap', program, args, nests };
  }
  return { kind: 'none', reason: `bubblewrap: ${why}` };
}

/** Undefined when the command succeeds. */
async function whyFails([command = '', ...args]: readonly string[]): Promise<string | undefined> {
  return await new Promise((settle) => {
    execFile(command, args, { timeout: probeTimeoutMs }, (error, _, stderr) => {
      settle(error === null ? undefined : stderr.trim().split('\n')[0] || 'it does not work here');
    });
  });
}
