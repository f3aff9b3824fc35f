import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Api, apiOf } from './api.ts';
import { type StartedServer, type StartOptions, startServer } from './start-server.ts';

const puppet = join(dirname(fileURLToPath(import.meta.url)), 'puppet.mjs');

/** The same agent with different manners; `puppet.mjs` says what the flags mean. */
const puppets: Readonly<Record<string, readonly string[]>> = {
  puppet: [],
  able: ['--can=steer,interrupt,pause,resume,cancel'],
  asleep: ['--asleep'],
  'deaf-interrupt': ['--deaf=interrupt', '--stubborn'],
  'deaf-pause': ['--deaf=pause'],
  'deaf-resume': ['--can=pause', '--deaf=resume'],
  'deaf-cancel': ['--deaf=cancel', '--stubborn'],
};

function agentTable(name: string, flags: readonly string[], more = ''): string {
  return `[agents.${name}]\ncommand = ${JSON.stringify(process.execPath)}\nargs = ${JSON.stringify([puppet, ...flags])}\n${more}\n`;
}

/** One that takes its time before its first word. */
function slowTable(name: string, flags: readonly string[]): string {
  const words = [process.execPath, puppet, ...flags].map((word) => `'${word}'`).join(' ');
  return `[agents.${name}]\ncommand = "sh"\nargs = ["-c", ${JSON.stringify(`sleep 0.4; exec ${words}`)}]\n`;
}

export type PuppetServer = {
  readonly folder: string;
  readonly server: StartedServer;
  readonly api: Api;
  /** A path that does not exist yet, for a step that waits until it does. */
  gate(): { readonly path: string; open(): Promise<void> };
  close(): Promise<void>;
};

/** A folder with a manifest of puppets, and a server in it. */
export async function startPuppetServer(
  options: StartOptions & { readonly manifest?: string } = {},
): Promise<PuppetServer> {
  const folder = options.folder ?? (await mkdtemp(join(tmpdir(), 'concerto-contract-')));
  await writePuppets(folder, options.manifest);
  const server = await startServer({ ...options, folder });
  let gates = 0;
  return {
    folder,
    server,
    api: apiOf(server),
    gate: () => {
      gates += 1;
      const path = join(folder, `gate-${process.pid}-${Date.now()}-${gates}`);
      return { path, open: () => writeFile(path, '') };
    },
    close: async () => {
      await server.stop();
      if (options.folder === undefined) await rm(folder, { recursive: true, force: true });
    },
  };
}

/** One for a whole file of tests, with room for all the sessions that they leave behind. */
export async function startRoomyPuppetServer(manifest = ''): Promise<PuppetServer> {
  const puppets = await startPuppetServer({ manifest });
  await puppets.api.call('PUT', '/api/pool', { max: 200 });
  return puppets;
}

export async function writePuppets(folder: string, more = ''): Promise<void> {
  const tables = Object.entries(puppets).map(([name, flags]) => agentTable(name, flags));
  const limited = [
    agentTable('hasty', [], 'timeout = 1'),
    agentTable('quiet', [], 'idle_timeout = 1'),
    agentTable('mute', ['--asleep'], '[agents.mute.params]\ncolour = "blue"'),
    slowTable('slow-able', ['--can=steer,interrupt,pause,resume,cancel']),
    '[agents.gone]\ncommand = "sh"\nargs = ["-c", "echo left early >&2; exit 3"]\n',
    '[agents.cat]\ncommand = "cat"\ninput_format = "text"\n',
    agentTable('tuned', ['--can=steer', '--params'], '[agents.tuned.params]\ncolour = "blue"'),
  ];
  await writeFile(join(folder, 'Concerto.toml'), [...tables, ...limited, more].join('\n'));
}

/** A prompt that a puppet plays. */
export function steps(...list: readonly object[]): string {
  return JSON.stringify(list);
}
