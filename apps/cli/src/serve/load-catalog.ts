import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { agentSpecOf } from '@concerto/agents';
import { ok, parseDuration, type Result } from '@concerto/base';
import { type Manifest, type ManifestAgent, type ManifestRule, readManifest } from '@concerto/language';
import { demoAgents } from '@concerto/middleware-scripted';
import { createModels, readPrices } from '@concerto/models';
import { Budget, Rule, type Template } from '@concerto/protocol';
import { type Catalog, type CatalogEntry, catalogOf, type LoadedProgram, type RetentionRules } from '@concerto/runtime';
import { printDiagnostics } from '../language/print-diagnostics.ts';
import { assistantEntry } from './assistant-entry.ts';
import type { NotifyTable } from './notify-settings.ts';
import { ProgramCompiler } from './program-compiler.ts';
import type { NamedPrograms } from './program-shelf.ts';
import type { ServerTable } from './server-settings.ts';
import { spanMs } from './span-ms.ts';

export type Configured = {
  readonly catalog: Catalog;
  readonly poolMax: number;
  readonly programsMax?: number | undefined;
  readonly templates: readonly Template[];
  /** Undefined without a manifest. */
  readonly programs: NamedPrograms | undefined;
  /** Undefined without a manifest. */
  readonly server: ServerTable | undefined;
  readonly notify?: NotifyTable;
  /** Programs that it starts beside agents: MCP servers, who is told elsewhere. */
  readonly alsoStarts: readonly Started[];
  readonly retention: RetentionRules;
  /** Where sessions may work, the project first. */
  readonly folders: readonly string[];
};

export type Started = { readonly command?: string | undefined; readonly args?: readonly string[] };

const poolMaxDefault = 20;
const foreignStartMs = 60_000;

export type CatalogOptions = {
  readonly config: string | undefined;
  /** Every model answers with the offline mock. */
  readonly mock: boolean;
  /** Whether sessions run here, so that what they need must be here too. */
  readonly runs: boolean;
};

/** What sessions can be started with. Undefined when the manifest is refused; the reasons are on stderr by then. */
export function loadCatalog(options: CatalogOptions): Configured | undefined {
  const { config } = options;
  const file = config ?? 'Concerto.toml';
  if (!existsSync(file)) {
    if (config !== undefined) throw new Error(`there is no ${config}`);
    return {
      catalog: catalogOf(demoAgents().map(demoEntry)),
      poolMax: poolMaxDefault,
      templates: [],
      programs: undefined,
      server: undefined,
      alsoStarts: [],
      retention: {},
      folders: [resolve('.')],
    };
  }
  const text = readFileSync(file, 'utf8');
  const { manifest, diagnostics, file: source } = readManifest(text, file);
  printDiagnostics(diagnostics, () => source);
  if (manifest === undefined) return undefined;
  const folder = dirname(resolve(file));
  const compiler = new ProgramCompiler();
  return {
    catalog: catalogOf(entriesOf(manifest, folder, { ...options, compiler }), manifest.rules.map(ruleOf)),
    poolMax: manifest.pool.max_sessions,
    programsMax: manifest.pool.max_programs,
    templates: Object.entries(manifest.templates).map(([name, template]) => ({ name, ...template })),
    programs: { folder, manifest: basename(file), entries: manifest.programs, compiler },
    server: { table: manifest.server, folder },
    notify: { table: manifest.notify, folder },
    alsoStarts: startedBeside(manifest),
    retention: retentionOf(manifest.retention),
    folders: [folder, ...manifest.server.folders.map((path) => resolve(folder, path))],
  };
}

/** Programs that a manifest starts beside its agents. */
export function startedBeside(manifest: Manifest): readonly Started[] {
  return [...serversOf(manifest), manifest.notify?.command ?? {}];
}

function serversOf({ mcp, assistants }: Manifest): readonly Started[] {
  const own = Object.values(assistants).flatMap(({ tools }) =>
    Array.isArray(tools) || Array.isArray(tools.servers) ? [] : Object.values(tools.servers),
  );
  return [...Object.values(mcp), ...own];
}

export function entriesOf(
  manifest: Manifest,
  folder: string,
  options: CatalogOptions & { readonly compiler?: ProgramCompiler },
): readonly CatalogEntry[] {
  const { mock, compiler = new ProgramCompiler() } = options;
  const prices = readPrices(manifest.prices);
  const models = createModels({ connections: manifest.connections, environment: process.env, mock, prices });
  return [
    ...Object.entries(manifest.agents).map(([name, agent]) => ({ ...agentEntry(name, agent, folder), prices })),
    ...Object.entries(manifest.programs).map(
      ([name, program]): CatalogEntry => ({
        kind: 'program',
        name,
        load: async () => loaded(await compiler.compile(resolve(folder, program.entry)), mock, limitsOf(program)),
        ...answeredBy(program),
        ...(program.description === undefined ? {} : { description: program.description }),
      }),
    ),
    ...Object.entries(manifest.assistants).map(([name, assistant]) => ({
      ...assistantEntry(name, { manifest, folder, models, ...options }),
      ...answeredBy(assistant),
    })),
  ];
}

function agentEntry(name: string, agent: ManifestAgent, folder: string): CatalogEntry {
  return {
    kind: 'agent',
    name,
    spec: {
      ...agentSpecOf(name, agent, folder),
      sandbox: { mode: agent.sandbox, hide: [], show: agent.sandbox_paths.map((path) => resolve(folder, path)) },
    },
    ...(agent.timeout === undefined ? {} : { timeoutMs: agent.timeout * 1000 }),
    ...(agent.idle_timeout === undefined ? {} : { idleTimeoutMs: agent.idle_timeout * 1000 }),
    ...startWithin(agent),
    ...(agent.description === undefined ? {} : { description: agent.description }),
    ...(agent.worktree ? { worktree: true } : {}),
    ...(agent.per_session.length === 0 ? {} : { perSession: agent.per_session }),
    ...answeredBy(agent),
  };
}

/** Programs of others take their time to start, their servers too; one of our own wire has nothing to do before its `init_ack`. */
function startWithin({ protocol, init_timeout: seconds }: ManifestAgent): { readonly initTimeoutMs?: number } {
  if (seconds !== undefined) return { initTimeoutMs: seconds * 1000 };
  return protocol === 'ndjson' ? {} : { initTimeoutMs: foreignStartMs };
}

type AnsweredKey = 'rules' | 'answer_within' | 'on_timeout' | 'ask_within' | 'model_asks_max' | 'budget' | 'supervisor';

/** Who answers for it before a person does, and for how long a person may think. */
function answeredBy({
  rules,
  answer_within: within,
  on_timeout: onTimeout,
  ask_within: askWithin,
  model_asks_max: modelAsksMax,
  budget,
  supervisor,
}: Pick<ManifestAgent, AnsweredKey>): Pick<
  CatalogEntry,
  'rules' | 'answerWithinMs' | 'onTimeout' | 'askWithinMs' | 'modelAsksMax' | 'budget' | 'supervisor'
> {
  return {
    ...(rules.length === 0 ? {} : { rules: rules.map(ruleOf) }),
    ...(within === undefined ? {} : { answerWithinMs: spanMs(within) }),
    ...(onTimeout === undefined ? {} : { onTimeout }),
    ...(askWithin === undefined ? {} : { askWithinMs: spanMs(askWithin) }),
    ...(modelAsksMax === undefined ? {} : { modelAsksMax }),
    ...(budget === undefined ? {} : { budget: Budget.parse(budget) }),
    ...(supervisor === undefined ? {} : { supervisor }),
  };
}

function ruleOf(rule: ManifestRule): Rule {
  return Rule.parse(rule);
}

function demoEntry({ description, ...spec }: ReturnType<typeof demoAgents>[number]): CatalogEntry {
  return { kind: 'agent', name: spec.name, spec, description };
}

type Limits = NonNullable<LoadedProgram['limits']>;

export function limitsOf({ limits }: Manifest['programs'][string]): Limits | undefined {
  if (limits === undefined) return undefined;
  const { memory, stream, slice, ...counts } = limits;
  const measured = {
    memory: bytesOf(memory),
    stream: bytesOf(stream),
    slice: slice === undefined ? undefined : spanMs(slice),
  };
  return Object.fromEntries(Object.entries({ ...counts, ...measured }).filter(([, limit]) => limit !== undefined));
}

const byteUnits = { KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 } as const;

function bytesOf(text: string | undefined): number | undefined {
  const [, number, unit] = /^(\d+)(KiB|MiB|GiB)$/.exec(text ?? '') ?? [];
  return unit === 'KiB' || unit === 'MiB' || unit === 'GiB' ? Number(number) * byteUnits[unit] : undefined;
}

function loaded(
  compiled: Awaited<ReturnType<ProgramCompiler['compile']>>,
  mockModels: boolean,
  limits: Limits | undefined,
): Result<LoadedProgram, string> {
  return compiled.ok ? ok({ ...compiled.value, mockModels, ...(limits === undefined ? {} : { limits }) }) : compiled;
}

function retentionOf(table: Manifest['retention']): RetentionRules {
  const ms = (age: string | undefined): number | undefined => (age === undefined ? undefined : parseDuration(age));
  return {
    archiveAfterMs: ms(table?.archive_after),
    deleteAfterMs: ms(table?.delete_after),
    keepSessions: table?.keep_sessions,
    keepBytes: bytesOf(table?.keep_size),
  };
}
