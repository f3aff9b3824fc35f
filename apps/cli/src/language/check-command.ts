import { statSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { addManifestLines, applyFixes, type Diagnostic, type SourceFile, toJsonDiagnostic } from '@concerto/language';
import { defineCommand, parseArguments } from '../arguments.ts';
import { printJson, tell } from '../terminal/print.ts';
import { checkWithServers } from './ask-mcp-servers.ts';
import { findSources } from './find-sources.ts';
import { printDiagnostics } from './print-diagnostics.ts';
import { checkTarget, filesOf, findManifest, readTextFile, resolveTarget, type Target } from './project.ts';

export const spec = defineCommand({
  name: 'check',
  summary: 'Type-check programs.',
  usage: '[PATH...]',
  options: {
    json: { type: 'boolean', help: 'print one array of diagnostics on standard output' },
    mcp: { type: 'boolean', help: 'start or reach the MCP servers it declares, and check against the tools they have' },
    fix: { type: 'boolean', help: 'apply the fixes that are safe to apply, then check' },
  },
  details:
    'A PATH is a program or a directory; without one it is the project here. Exit code 1 when there is an error.',
});

interface Findings {
  readonly diagnostics: readonly Diagnostic[];
  readonly files: ReadonlyMap<string, SourceFile>;
  readonly programs: number;
}

export async function run(argv: string[]): Promise<number> {
  const { values, positionals } = parseArguments(spec, argv);
  let findings = await checkPaths(positionals, values.mcp === true);
  if (values.fix) {
    const changed = fixFiles(findings);
    if (changed > 0) findings = await checkPaths(positionals, values.mcp === true);
    tell(`fixed ${changed} file${changed === 1 ? '' : 's'}\n`);
  }
  const { diagnostics, files } = findings;
  if (values.json) {
    const list = diagnostics.map((diagnostic) => toJsonDiagnostic(diagnostic, files.get(diagnostic.file)));
    printJson(list);
  } else {
    printDiagnostics(diagnostics, (path) => files.get(path));
    if (diagnostics.length === 0) tell(`${praise(findings.programs)}\n`);
  }
  return diagnostics.some((diagnostic) => diagnostic.severity === 'error') ? 1 : 0;
}

function praise(programs: number): string {
  if (programs === 0) return 'there are no programs here; `concerto new` creates a project';
  return `no problems in ${programs} ${programs === 1 ? 'program' : 'programs'}`;
}

async function checkPaths(paths: readonly string[], asksServers: boolean): Promise<Findings> {
  const files = new Map<string, SourceFile>();
  const seen = new Set<string>();
  const diagnostics: Diagnostic[] = [];
  const targets = findTargets(paths);
  for (const target of targets) {
    const checked = asksServers ? await checkWithServers(target) : checkTarget(target);
    if (checked.target.manifest !== undefined)
      files.set(checked.target.manifest.file.path, checked.target.manifest.file);
    for (const [path, { source }] of checked.program.files) files.set(path, source);
    for (const diagnostic of checked.diagnostics) {
      // Programs of one project share the manifest and maybe modules.
      const key = JSON.stringify([diagnostic.code, diagnostic.file, diagnostic.span, diagnostic.message]);
      if (seen.has(key)) continue;
      seen.add(key);
      diagnostics.push(diagnostic);
    }
  }
  return { diagnostics, files, programs: targets.filter(({ entry }) => entry !== '').length };
}

/**
 * A file is a program of its own. In a directory every file is checked: those that are modules of another one
 * with it, the rest alone.
 */
function findTargets(paths: readonly string[]): Target[] {
  const targets: Target[] = [];
  for (const path of paths.length === 0 ? ['.'] : paths) {
    const isDirectory = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
    if (isDirectory) targets.push(...directoryTargets(path));
    else targets.push(resolveTarget(path));
  }
  return targets;
}

function directoryTargets(directory: string): Target[] {
  const hasManifest = findManifest(resolve(directory)) !== undefined;
  const main = hasManifest ? [resolveTarget(directory)] : [];
  const sources = findSources([directory]).filter((path) => path !== main[0]?.entry);
  const others = sources.map((entry): Target => ({ entry, manifest: findManifest(dirname(resolve(entry))) }));
  const modules = new Set<string>();
  for (const target of [...main, ...others]) {
    if (target.entry === '') continue;
    const [, ...reached] = filesOf(target);
    for (const file of reached) modules.add(file);
  }
  return [...main, ...others.filter((target) => !modules.has(target.entry))];
}

/** Returns how many files were written. */
function fixFiles(findings: Findings): number {
  const changed = new Map<string, string>();
  const toFix = [...findings.files.values()].map((file) => {
    const own = findings.diagnostics.filter((diagnostic) => diagnostic.file === file.path);
    return { file, fixes: own.flatMap((diagnostic) => (diagnostic.fix === undefined ? [] : [diagnostic.fix])) };
  });
  const isAdding = ({ fixes }: (typeof toFix)[number]) => fixes.some((fix) => fix.manifestLines !== undefined);
  // A manifest is mended before anything is added to it.
  for (const { file, fixes } of [...toFix.filter((each) => !isAdding(each)), ...toFix.filter(isAdding)]) {
    const manifest = isAdding({ file, fixes }) ? manifestFor(file.path) : undefined;
    const before = manifest === undefined ? '' : (changed.get(manifest) ?? readTextFile(manifest) ?? '');
    const usable =
      manifest === undefined
        ? fixes.filter((fix) => fix.manifestLines === undefined)
        : addManifestLines(before, fixes).applied;
    const { text, applied } = applyFixes(file.text, usable);
    if (applied.length === 0) continue;
    changed.set(file.path, text);
    const after = addManifestLines(before, applied).text;
    if (manifest !== undefined && after !== before) changed.set(manifest, after);
  }
  for (const [path, text] of changed) writeFileSync(path, text);
  return changed.size;
}

function manifestFor(path: string): string | undefined {
  return findManifest(dirname(resolve(path)))?.file.path;
}
