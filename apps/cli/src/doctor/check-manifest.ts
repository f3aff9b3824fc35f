import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { nearest } from '@concerto/base';
import { type Manifest, readManifest } from '@concerto/language';
import { type CatalogEntry, catalogOf, readySupervisor } from '@concerto/runtime';
import { entriesOf } from '../serve/load-catalog.ts';
import { ProgramCompiler } from '../serve/program-compiler.ts';
import { showsColour } from '../terminal/paint.ts';
import { anyModel } from './check-connections.ts';
import { diagnosticFinding } from './diagnostic-finding.ts';
import { type Finding, failed, messageOf, passed } from './finding.ts';

export type LoadedConfig = {
  readonly manifest: Manifest;
  readonly folder: string;
  readonly entries: readonly CatalogEntry[];
};

export type ConfigResult = { readonly config: LoadedConfig | undefined; readonly findings: readonly Finding[] };

/** Of an assistant that names what is not there its own check says it, as the failure that it is. */
const missingName = 'C0504';

export function loadConfig(file: string): ConfigResult {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    const help = 'name the manifest with --config, or make one with `concerto new`';
    return { config: undefined, findings: [failed('manifest', `${file} cannot be read: ${messageOf(cause)}`, help)] };
  }
  const { manifest, diagnostics, file: source } = readManifest(text, file);
  const told = diagnostics.filter(({ code, severity }) => code !== missingName || severity === 'error');
  const color = showsColour(process.stdout);
  const findings = told.map((diagnostic) =>
    diagnosticFinding('manifest', diagnostic, { findFile: () => source, color }),
  );
  if (manifest === undefined) return { config: undefined, findings };
  const folder = dirname(resolve(file));
  const entries = entriesOf(manifest, folder, { config: file, mock: false, runs: true });
  const config = { manifest, folder, entries };
  return { config, findings: findings.length > 0 ? findings : [passed('manifest', `${file}: ${contents(manifest)}`)] };
}

function contents(manifest: Manifest): string {
  const { agents, assistants, programs, connections, mcp, templates } = manifest;
  const counted = Object.entries({ agents, assistants, programs, connections, mcp, templates })
    .map(([name, table]) => ({ name, count: Object.keys(table).length }))
    .filter(({ count }) => count > 0)
    .map(({ name, count }) => `${count} in [${name}]`);
  return counted.length === 0 ? 'declares nothing' : counted.join(', ');
}

/** Where a template names something that is not there. */
export function checkTemplates({ manifest }: LoadedConfig): readonly Finding[] {
  return Object.entries(manifest.templates).map(([name, template]) => {
    const check = `template.${name}`;
    const kinds = [
      ['agents', template.agent],
      ['programs', template.program],
      ['assistants', template.assistant],
    ] as const;
    for (const [table, wanted] of kinds) {
      if (wanted === undefined || Object.hasOwn(manifest[table], wanted)) continue;
      const meant = nearest(wanted, Object.keys(manifest[table]));
      const help = meant === undefined ? `add [${table}.${wanted}]` : `did you mean "${meant}"?`;
      return failed(check, `there is no [${table}.${wanted}]`, help);
    }
    return passed(check, 'names what is there');
  });
}

/**
 * Why an assistant could not be started. What is wrong with its connection is told once, where the connection is
 * checked: an assistant that lacks nothing else has no finding.
 */
export function checkAssistant(
  entry: Extract<CatalogEntry, { kind: 'assistant' }>,
  { manifest: { connections } }: LoadedConfig,
): readonly Finding[] {
  const check = `assistant.${entry.name}`;
  const fault = entry.fault?.();
  const { models, connection, model, functions, servers, agents = [] } = entry.spec;
  const isOfConnection =
    Object.hasOwn(connections, connection) && fault === models.fault(connection, anyModel)?.message;
  if (fault !== undefined && isOfConnection) return [];
  if (fault !== undefined) return [failed(check, fault, `correct [assistants.${entry.name}] or what it names`)];
  const tools = Object.keys(servers).length;
  const parts = [
    `connection ${connection}`,
    ...(model === undefined ? [] : [`model ${model}`]),
    ...(functions.length === 0 ? [] : [`${functions.length} function${functions.length === 1 ? '' : 's'}`]),
    ...(agents.length === 0 ? [] : [`${agents.length} agent${agents.length === 1 ? '' : 's'}`]),
    ...(tools === 0 ? [] : [`${tools} tool server${tools === 1 ? '' : 's'}`]),
  ];
  return [passed(check, parts.join(', '))];
}

/** The programs the manifest names, and its own entry when it is a project. */
export async function checkPrograms({ manifest, folder }: LoadedConfig): Promise<readonly Finding[]> {
  const own = manifest.project === undefined ? [] : [['project', manifest.project.entry] as const];
  const named = Object.entries(manifest.programs).map(([name, { entry }]) => [`program.${name}`, entry] as const);
  const compiler = new ProgramCompiler();
  const found: Finding[] = [];
  for (const [check, entry] of [...own, ...named]) {
    const finding = await compiler.check(check, resolve(folder, entry), showsColour(process.stdout));
    found.push(finding.ok ? finding.value : failed(check, finding.error, 'simplify its types'));
  }
  compiler.close();
  return found;
}

/** Whether the programs that are to answer for others can. */
export async function checkSupervisors({ manifest, entries }: LoadedConfig): Promise<readonly Finding[]> {
  const { agents, programs, assistants, templates } = manifest;
  const named = [agents, programs, assistants, templates].flatMap((table) =>
    Object.values(table).flatMap(({ supervisor }) => supervisor ?? []),
  );
  const catalog = catalogOf(entries);
  const found: Finding[] = [];
  for (const name of new Set(named)) {
    const check = `supervisor.${name}`;
    const ready = await readySupervisor(name, catalog);
    const help = 'until it can, what it is asked goes on to the next; docs/guide/who-answers.md shows one that can';
    found.push(ready.ok ? passed(check, 'can answer for sessions') : failed(check, ready.error.message, help));
  }
  return found;
}
