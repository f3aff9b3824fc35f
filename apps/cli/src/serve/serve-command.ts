import { hostname, networkInterfaces } from 'node:os';
import { agentSockets } from '@concerto/keeper';
import { manifestJsonSchema } from '@concerto/language';
import { mcpOverHttp } from '@concerto/mcp';
import { type RunningServer, type ServeOptions, serve } from '@concerto/server';
import { defineCommand, parseArguments, UsageError } from '../arguments.ts';
import { portState, whoseServer } from '../doctor/check-machine.ts';
import { projectFindings } from '../doctor/project-findings.ts';
import { upkeepOf } from '../keeper/upkeep.ts';
import { ownVersion, pageFolder } from '../own-place.ts';
import { forgetServer, rememberServer, type ServerRecord } from '../state/project-state.ts';
import { write } from '../terminal/print.ts';
import { checkTrust } from './check-trust.ts';
import { keepTemplates } from './keep-templates.ts';
import { keeperFolder } from './keeper-of.ts';
import { type Configured, loadCatalog } from './load-catalog.ts';
import { notifyOf, startNotifier } from './notify-settings.ts';
import { type Leaving, openRuntime, type Runtime } from './open-runtime.ts';
import { storeWaitOf, waitOptions } from './open-store.ts';
import { logOptions, logSettings, operatorLog } from './operator-log.ts';
import { prepareOwnStore } from './own-store.ts';
import { programShelf } from './program-shelf.ts';
import { defaultPort, defaultStore, hostOf, inlineToolsOf, isLoopback, portOf, storeOf } from './server-settings.ts';
import { serverToken } from './server-token.ts';
import { traceOptions, tracingOf } from './trace-settings.ts';
import { stopWithWord, untilStopped } from './until-stopped.ts';

export const spec = defineCommand({
  name: 'serve',
  summary: 'Start the server: the page, the API and (unless told otherwise) the runner.',
  usage: '[OPTIONS]',
  options: {
    config: {
      type: 'string',
      value: 'FILE',
      help: 'manifest; default ./Concerto.toml, without one the demo agents are offered',
    },
    host: {
      type: 'string',
      value: 'HOST',
      help: 'address to listen on; default 127.0.0.1; others let other machines in',
    },
    port: { type: 'string', value: 'PORT', help: `port, 0 for any free one; default ${defaultPort}, or PORT` },
    store: {
      type: 'string',
      value: 'URL',
      help: `memory:, sqlite:PATH or redis://…; default ${defaultStore}, or CONCERTO_STORE`,
    },
    token: {
      type: 'string',
      value: 'T',
      help: 'token that callers must have; default CONCERTO_TOKEN, or one that is kept: `concerto token` prints it',
    },
    trust: { type: 'boolean', help: 'trust the files of this folder, now and later' },
    'no-auth': { type: 'boolean', help: 'ask for no token; only on a loopback address' },
    mock: { type: 'boolean', help: 'models of assistants and programs answer with the offline mock' },
    'no-runner': { type: 'boolean', help: 'run no sessions here; `concerto runner` does elsewhere' },
    ...waitOptions,
    ...logOptions,
    ...traceOptions,
  },
  maxPositionals: 0,
});

export async function run(argv: string[]): Promise<number> {
  const { values } = parseArguments(spec, argv);
  const runs = !values['no-runner'];
  // Bad flags are told before a bad manifest.
  portOf(values, undefined);
  const logging = logSettings(values);
  const { report, answered } = await operatorLog(logging, process.stderr);
  // Before anybody can know that we run: whoever reads the ready line may stop us at once.
  const stopped = untilStopped(report);
  const opening = { waitMs: storeWaitOf(values), stopped };
  const configured = loadCatalog({ config: values.config, mock: values.mock, runs });
  if (configured === undefined) return 1;
  const project = process.cwd();
  await checkTrust(configured, { project, isNamed: values.config !== undefined, given: values.trust });
  const settings = configured.server;
  const host = hostOf(values, settings);
  if (values['no-auth'] && !isLoopback(host)) {
    throw new UsageError(`--no-auth is only for a loopback address, and ${host} is none`);
  }
  const port = portOf(values, settings);
  const kept = values['no-auth'] ? undefined : serverToken({ flag: values.token, settings, host, warn: report });
  const store = storeOf(values, settings) ?? ownStore(project);
  tellWhatIsOffered(configured, report);
  const keepAgents = settings?.table.keep_agents;
  // Before anything begins: what cannot be signed is told at the start.
  const notify = configured.notify === undefined ? undefined : notifyOf(configured.notify, process.env);
  const tracing = await tracingOf(values, report);
  const runtime = await openRuntime({ store, opening, ...configured, runs, report, keepAgents, tracing });
  if (runtime === undefined) return 0;
  let server: RunningServer;
  let here = '';
  const mcp = mcpOverHttp({ version: ownVersion(), url: () => here });
  try {
    const { sessions, log, measures, agentsMemory } = runtime;
    await keepTemplates(configured.templates, runtime, report);
    const guard = { token: kept?.token, ...whoMayCall(host, settings), agentSockets };
    const inlineTools = inlineToolsOf(settings);
    const watched = { report, onAnswered: answered, measures, agentsMemory, tracing };
    const programs = programShelf(configured.programs, isLoopback(host));
    const about = {
      programs,
      version: ownVersion(),
      manifestSchema: manifestJsonSchema,
      webRoot: pageFolder(),
      mcp: mcp.answer,
      upkeep: { ...upkeepOf(runtime.keeper), doctor: () => projectFindings(values.config) },
    };
    server = await serve({ host, port, sessions, log, guard, inlineTools, ...about, ...watched });
  } catch (cause) {
    await runtime.close();
    throw await listenError(cause, host, port);
  }
  const url = `http://${inUrl(host)}:${server.port}`;
  here = isWildcard(host) ? `http://127.0.0.1:${server.port}` : url;
  const pid = process.pid;
  const keeper = runs ? keeperFolder(store) : undefined;
  remember(project, { url: here, pid, token: kept?.source ?? 'none', keeper }, report);
  const notifier = startNotifier(notify, { log: runtime.log, report, address: here });
  write(`listening on ${url}\n`);
  tellAddress(here, logging.format === 'json' ? undefined : kept?.token);
  const stopping = await stopped;
  await stopWithWord(stopping, report, async (leaving) => {
    forgetServer(project, pid);
    await stopParts(leaving, { mcp, notifier, runtime, server });
  });
  return 0;
}

type Parts = {
  readonly mcp: { close(): Promise<void> };
  readonly notifier: { close(): Promise<void> } | undefined;
  readonly runtime: Runtime;
  readonly server: RunningServer;
};

async function stopParts(leaving: Leaving, { mcp, notifier, runtime, server }: Parts): Promise<void> {
  runtime.sessions.stopTaking();
  leaving.awaits('a client of MCP');
  await mcp.close();
  leaving.awaits('a notification');
  await notifier?.close();
  await runtime.close(leaving);
  leaving.awaits('an open connection');
  await server.close();
}

/** Of a project that names none. */
function ownStore(project: string): string {
  prepareOwnStore(project);
  return defaultStore;
}

/** What a service prints is kept, and the token must not be in it: `concerto token --url` tells the address. */
function tellAddress(here: string, token: string | undefined): void {
  write(token === undefined ? `open ${here}/\n` : `open ${here}/?token=${encodeURIComponent(token)}\n`);
}

/** So that `concerto sessions` and others find it from this folder. */
function remember(project: string, server: ServerRecord, report: (message: string, cause: unknown) => void): void {
  try {
    rememberServer(project, server);
  } catch (cause) {
    report('commands in this folder will not find this server by themselves', cause);
  }
}

/** Whoever starts it in another folder than they thought finds out here, not on an empty page. */
function tellWhatIsOffered({ catalog, server }: Configured, report: (message: string) => void): void {
  const names = catalog.list().map(({ name }) => name);
  if (server === undefined) report(`no Concerto.toml here, so the demo agents are offered: ${names.join(', ')}`);
  else if (names.length === 0)
    report('there is nothing to start: add [agents.NAME], [assistants.NAME] or [programs.NAME] to the manifest');
}

function inUrl(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

function isWildcard(host: string): boolean {
  return host === '0.0.0.0' || host === '::';
}

/** By which names this server is called, and from which pages. */
function whoMayCall(host: string, settings: Configured['server']): Pick<ServeOptions['guard'], 'hosts' | 'origins'> {
  const { allowed_hosts: hosts = [], allowed_origins: origins = [] } = settings?.table ?? {};
  return { hosts: [...(isWildcard(host) ? ownNames() : [inUrl(host)]), ...hosts], origins };
}

/** Under which names this machine is called when it listens on all its addresses; no other site can have one of them. */
function ownNames(): readonly string[] {
  const addresses = Object.values(networkInterfaces()).flatMap((entries) => entries ?? []);
  return [hostname(), ...addresses.map(({ address }) => inUrl(address))];
}

async function listenError(cause: unknown, host: string, port: number): Promise<unknown> {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  if (code === 'EADDRINUSE') {
    const state = await portState(host, port);
    const who = typeof state === 'object' && 'owner' in state ? ` by ${whoseServer(state.owner)}` : '';
    return new Error(`port ${port} is in use${who}; give another with --port, or 0 for any free one`, { cause });
  }
  if (code === 'EACCES') return new Error(`port ${port} needs more rights; give one above 1023 with --port`, { cause });
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return new Error(`this machine has no address ${host}`, { cause });
  return cause;
}
