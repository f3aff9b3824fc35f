import { defineCommand, parseArguments, UsageError } from '../arguments.ts';
import { write } from '../terminal/print.ts';
import { checkTrust } from './check-trust.ts';
import { loadCatalog } from './load-catalog.ts';
import { openRuntime } from './open-runtime.ts';
import { storeWaitOf, waitOptions } from './open-store.ts';
import { logOptions, logSettings, operatorLog } from './operator-log.ts';
import { storeOf } from './server-settings.ts';
import { traceOptions, tracingOf } from './trace-settings.ts';
import { stopWithWord, untilStopped } from './until-stopped.ts';

export const spec = defineCommand({
  name: 'runner',
  summary: 'Run sessions for servers elsewhere that share a Redis store.',
  usage: '--store redis://HOST:PORT [--config FILE]',
  options: {
    store: { type: 'string', value: 'URL', help: 'redis://… or rediss://…; or CONCERTO_STORE, or the manifest' },
    config: { type: 'string', value: 'FILE', help: 'manifest; default ./Concerto.toml, without one the demo agents' },
    trust: { type: 'boolean', help: 'trust the files of this folder, now and later' },
    mock: { type: 'boolean', help: 'models of assistants and programs answer with the offline mock' },
    ...waitOptions,
    ...logOptions,
    ...traceOptions,
  },
  maxPositionals: 0,
});

export async function run(argv: string[]): Promise<number> {
  const { values } = parseArguments(spec, argv);
  const logging = logSettings(values);
  const { report } = await operatorLog(logging, process.stderr);
  const stopped = untilStopped(report);
  const opening = { waitMs: storeWaitOf(values), stopped };
  const configured = loadCatalog({ config: values.config, mock: values.mock, runs: true });
  if (configured === undefined) return 1;
  await checkTrust(configured, { project: process.cwd(), isNamed: values.config !== undefined, given: values.trust });
  const store = storeOf(values, configured.server);
  if (store === undefined) throw new UsageError('--store is needed: the Redis that the servers use');
  if (!/^rediss?:/.test(store))
    throw new UsageError('a runner shares its store with servers, so it must be redis:// or rediss://');
  const tracing = await tracingOf(values, report);
  const keepAgents = configured.server?.table.keep_agents;
  const runtime = await openRuntime({ store, opening, ...configured, runs: true, report, keepAgents, tracing });
  if (runtime === undefined) return 0;
  write('runner ready\n');
  const stopping = await stopped;
  await stopWithWord(stopping, report, (leaving) => runtime.close(leaving));
  return 0;
}
