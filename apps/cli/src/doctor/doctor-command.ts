import { setMaxListeners } from 'node:events';
import { nearest } from '@concerto/base';
import { defineCommand, parseArguments, UsageError } from '../arguments.ts';
import { untilInterrupted } from '../language/until-interrupted.ts';
import { commandsOf } from '../serve/check-trust.ts';
import { startedBeside } from '../serve/load-catalog.ts';
import { defaultPort, defaultStore, hostOf, portOf, type ServerTable, storeOf } from '../serve/server-settings.ts';
import { serverOf } from '../state/project-state.ts';
import { ensureTrust } from '../state/trust.ts';
import { tell } from '../terminal/print.ts';
import { type AgentEntry, defaultPrompt } from './check-agent.ts';
import { checkKeeper } from './check-keeper.ts';
import { checkNode, checkPort, checkSandbox, isOwnServer, type PortPlace, portState } from './check-machine.ts';
import { checkStore } from './check-store.ts';
import { reportChecks } from './doctor-report.ts';
import { declaredTasks, loadDeclared } from './doctor-tasks.ts';
import { type CheckTask, type Finding, failed, messageOf } from './finding.ts';

const defaultTimeoutSeconds = 30;
const timeoutSecondsMax = 86_400;
const EXIT_INTERRUPTED = 130;

export const spec = defineCommand({
  name: 'doctor',
  summary: 'Check the machine and each configured agent against the wire; say what is wrong and what to do.',
  usage: '[AGENT]',
  options: {
    config: { type: 'string', value: 'FILE', help: 'manifest; default ./Concerto.toml, without one the demo agents' },
    store: { type: 'string', value: 'URL', help: `the store to check; default ${defaultStore}, or CONCERTO_STORE` },
    host: { type: 'string', value: 'HOST', help: 'where the server is to listen; default 127.0.0.1' },
    port: { type: 'string', value: 'PORT', help: `the port to check; default ${defaultPort}, or PORT` },
    prompt: { type: 'string', value: 'TEXT', help: 'what agents are asked; default a harmless sentence' },
    'no-prompt': { type: 'boolean', help: 'start agents and ask them nothing' },
    timeout: {
      type: 'string',
      value: 'SECONDS',
      help: `how long an answer may take; default ${defaultTimeoutSeconds}`,
    },
    trust: { type: 'boolean', help: 'trust the files of this folder, now and later' },
    online: { type: 'boolean', help: 'ask each connection one small question, which may cost money' },
    json: { type: 'boolean', help: 'print one array of {check,status,message,help?} on standard output' },
  },
  maxPositionals: 1,
  details: [
    'Agents are started and asked something harmless; approvals are refused and questions answered for you, and each is shown.',
    'An agent that announces capabilities or asks with ids is started again to see whether it keeps to them.',
    'With AGENT only the machine and that agent are checked. Exit code 0 when nothing failed, 1 when something did.',
  ].join('\n'),
});

type Values = ReturnType<typeof parseArguments<typeof spec.options>>['values'];

export async function run(argv: string[]): Promise<number> {
  const { values, positionals } = parseArguments(spec, argv);
  const [agent] = positionals;
  if (values['no-prompt'] && values.prompt !== undefined)
    throw new UsageError('--prompt and --no-prompt exclude each other');
  const timeoutMs = readTimeout(values.timeout);
  portOf(values, undefined);
  const declared = loadDeclared(values.config);
  const { config } = declared;
  const server = config === undefined ? undefined : { table: config.manifest.server, folder: config.folder };
  if (config !== undefined && values.config === undefined) {
    const starts = [...(declared.agents ?? []).map((entry) => entry.spec), ...startedBeside(config.manifest)];
    await ensureTrust({ folder: config.folder, given: values.trust, commands: commandsOf(starts) });
  }
  const { host, findings: hostFindings } = hostWanted(values, server);
  const port = portWanted(values, server);
  const folders = [process.cwd(), ...(config === undefined ? [] : [config.folder])];
  const store = storeOf(values, server) ?? defaultStore;
  checkAgentName(agent, declared.agents);
  const { signal: calledOff, release } = untilInterrupted();
  // Every deadline listens to it, and there are several in each check.
  setMaxListeners(0, calledOff);
  try {
    const prompt = values['no-prompt'] ? undefined : (values.prompt ?? defaultPrompt);
    const plan = { prompt, online: values.online, timeoutMs, calledOff };
    const machine: CheckTask = {
      name: 'machine',
      run: (say) => checkMachine({ host, port, folders, store, portMatters: agent === undefined }, say),
    };
    const manifest: CheckTask = { name: 'manifest', run: async () => [...declared.findings, ...hostFindings] };
    const tasks = [machine, manifest, ...declaredTasks(declared, agent, plan)];
    const findings = await reportChecks(tasks, { json: values.json, calledOff });
    if (calledOff.aborted) {
      tell('interrupted; what was started has been ended\n');
      return EXIT_INTERRUPTED;
    }
    return findings.some(({ status }) => status === 'fail') ? 1 : 0;
  } finally {
    release();
  }
}

function hostWanted(
  values: Values,
  server: ServerTable | undefined,
): { readonly host: string; readonly findings: readonly Finding[] } {
  try {
    return { host: hostOf(values, server), findings: [] };
  } catch (cause) {
    const help = 'start the server with that flag, or take `host` out of the manifest';
    return { host: '127.0.0.1', findings: [failed('manifest', messageOf(cause), help)] };
  }
}

/** A server that runs for this folder is looked at where it is. */
function portWanted(values: Values, server: ServerTable | undefined): number {
  const running = values.port === undefined && !process.env.PORT ? serverOf(process.cwd()) : undefined;
  return running === undefined ? portOf(values, server) : Number(new URL(running.url).port);
}

function readTimeout(text: string | undefined): number {
  const seconds = text === undefined ? defaultTimeoutSeconds : Number(text);
  if (!Number.isFinite(seconds) || seconds <= 0 || seconds > timeoutSecondsMax)
    throw new UsageError(`--timeout takes seconds from 1 to ${timeoutSecondsMax}, not ${JSON.stringify(text)}`);
  return seconds * 1000;
}

async function checkMachine(
  at: PortPlace & { readonly store: string; readonly portMatters: boolean },
  say: (doing: string) => void,
): Promise<readonly Finding[]> {
  say('looks at the port and the store');
  const state = await portState(at.host, at.port);
  const port = at.portMatters ? [checkPort(at, state)] : [];
  const serverRuns = isOwnServer(state, at);
  const store = await checkStore(at.store, serverRuns);
  const keeper = await checkKeeper(at.store, serverRuns);
  return [checkNode(), await checkSandbox(), ...store, ...keeper, ...port];
}

function checkAgentName(name: string | undefined, agents: readonly AgentEntry[] | undefined): void {
  if (name === undefined || agents === undefined || agents.some((entry) => entry.name === name)) return;
  const names = agents.map((entry) => entry.name);
  const meant = nearest(name, names);
  const hint = meant === undefined ? `there are: ${names.join(', ') || 'none'}` : `did you mean "${meant}"?`;
  throw new UsageError(`there is no agent "${name}"; ${hint}`);
}
