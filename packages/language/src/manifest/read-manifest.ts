import { nearest } from '@concerto/base';
import { parse, TomlDate, TomlError } from 'smol-toml';
import * as z from 'zod';
import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import { createSourceFile, type SourceFile } from '../source/source-file.ts';
import type { Span } from '../source/span.ts';
import { findKeyPlaces, placeOfKey } from './key-places.ts';
import { type Manifest, manifestSchema } from './manifest.ts';
import { missingNames } from './missing-names.ts';
import { renameHosts } from './rename-hosts.ts';

export interface ManifestResult {
  /** Absent when there is an error. */
  readonly manifest: Manifest | undefined;
  readonly diagnostics: readonly Diagnostic[];
  /** For showing the diagnostics. */
  readonly file: SourceFile;
}

type Table = { [key: string]: unknown };

export function readManifest(text: string, path = 'Concerto.toml'): ManifestResult {
  const file = createSourceFile(path, text);
  const report = new ManifestReport(file);
  const document = parseToml(file, report);
  if (document === undefined) return { manifest: undefined, diagnostics: report.diagnostics, file };
  const { table, oldNames } = mergeHosts(document, report);
  const parsed = manifestSchema.safeParse(plainJson(table), { reportInput: true });
  if (!parsed.success) {
    const { issues } = parsed.error;
    for (const issue of issues) if (!isMisspelt(issue, issues)) reportIssue(issue, oldNames, report);
  } else {
    for (const { path, message, ...rest } of missingNames(parsed.data)) report.add('C0504', path, message, rest);
  }
  const hasError = report.diagnostics.some((diagnostic) => diagnostic.severity === 'error');
  const manifest = parsed.success && !hasError ? withoutEmptyParams(parsed.data) : undefined;
  return { manifest, diagnostics: report.diagnostics, file };
}

class ManifestReport {
  readonly diagnostics: Diagnostic[] = [];
  readonly places: ReturnType<typeof findKeyPlaces>;
  readonly file: SourceFile;

  constructor(file: SourceFile) {
    this.file = file;
    this.places = findKeyPlaces(file);
  }

  add(code: string, where: Span | readonly string[], message: string, extras: Partial<Diagnostic> = {}): void {
    const span = 'start' in where ? where : placeOfKey(this.places, where);
    this.diagnostics.push({ code, severity: 'error', message, file: this.file.path, span, labels: [], ...extras });
  }
}

function parseToml(file: SourceFile, report: ManifestReport): Table | undefined {
  try {
    return parse(file.text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const start = (file.lineStarts[error.line - 1] ?? 0) + Math.max(0, error.column - 1);
    // The rest of the message is a picture of the place, which we draw ourselves.
    const reason = (error.message.split('\n')[0] ?? '').replace(/^Invalid TOML document: /, '');
    report.add('C0500', { start, end: start }, `not a TOML document: ${reason}`);
    return undefined;
  }
}

/** `[hosts.NAME]` is the old spelling of `[agents.NAME]`. */
function mergeHosts(document: Table, report: ManifestReport): { table: Table; oldNames: Set<string> } {
  const { hosts, ...table } = document;
  const oldNames = new Set<string>();
  if (!isTable(hosts)) return { table: document, oldNames };
  const agents: Table = isTable(table.agents) ? { ...table.agents } : {};
  for (const [name, host] of Object.entries(hosts)) {
    if (Object.hasOwn(agents, name)) {
      report.add('C0503', ['hosts', name], `\`${name}\` is both in [agents] and in the old [hosts]`, {
        help: `remove \`[hosts.${name}]\``,
      });
      continue;
    }
    agents[name] = host;
    oldNames.add(name);
  }
  const fix = renameHosts(report.file, report.places);
  report.add('C0310', ['hosts'], '`[hosts.*]` is now `[agents.*]`', {
    severity: 'warning',
    ...(fix === undefined
      ? { help: 'move what is in `hosts` to `agents`' }
      : { help: '`concerto check --fix` rewrites it', fix }),
  });
  return { table: { ...table, agents }, oldNames };
}

/** Whether what is missing is there under a name like it, of which is told as that. */
function isMisspelt(missing: z.core.$ZodIssue, issues: readonly z.core.$ZodIssue[]): boolean {
  if (!isMissing(missing)) return false;
  const table = missing.path.slice(0, -1).map(String);
  return issues.some(
    (issue) =>
      issue.code === 'unrecognized_keys' &&
      issue.path.map(String).join('.') === table.join('.') &&
      issue.keys.some((key) => nearest(key, knownKeys(table)) === missing.path.at(-1)),
  );
}

function isMissing({ code, input }: z.core.$ZodIssue): boolean {
  return input === undefined && (code === 'invalid_type' || code === 'invalid_value');
}

/** As it is written above its keys. */
function headerOf(path: readonly string[]): string {
  const list = path.slice(0, -1);
  return path.length > 0 && schemaAt(list) instanceof z.ZodArray ? `[[${list.join('.')}]]` : `[${path.join('.')}]`;
}

function reportIssue(issue: z.core.$ZodIssue, oldNames: ReadonlySet<string>, report: ManifestReport): void {
  const path = issue.path.map(String);
  const written = path[0] === 'agents' && oldNames.has(path[1] ?? '') ? ['hosts', ...path.slice(1)] : path;
  const table = written.length === 0 ? '' : ` in ${headerOf(written)}`;
  switch (issue.code) {
    case 'unrecognized_keys':
      for (const key of issue.keys) {
        const meant = nearest(key, knownKeys(path));
        const hint = meant === undefined ? '' : `; did you mean \`${meant}\`?`;
        report.add('C0501', [...written, key], `unknown key \`${key}\`${table}${hint}`, {
          help: `known here: ${knownKeys(path).join(', ')}`,
        });
      }
      return;
    case 'custom':
      report.add('C0502', written, `${headerOf(written)} ${issue.message}`);
      return;
    default:
      reportValue(issue, written, report);
  }
}

function reportValue(issue: z.core.$ZodIssue, path: readonly string[], report: ManifestReport): void {
  const key = path.at(-1) ?? '';
  const parent = path.slice(0, -1);
  const inTable = parent.length === 0 ? '' : ` in ${headerOf(parent)}`;
  if (isMissing(issue)) {
    const values = issue.code === 'invalid_value' ? `; it is one of ${issue.values.join(', ')}` : '';
    const what = parent.length === 0 ? `the table [${key}] is missing` : `\`${key}\` is missing${inTable}${values}`;
    report.add('C0502', path, what);
    return;
  }
  const noJson = noJsonNumbers(issue.input, key, path);
  for (const { place, name, written } of noJson)
    report.add('C0502', place, `\`${name}\`${inTable}: JSON has no number \`${written}\``);
  if (noJson.length > 0) return;
  const reason = issue.message.replace(/^Invalid (?:input|option): /, '').replace(/^Invalid input$/, 'not allowed');
  report.add('C0502', path, `\`${key}\`${inTable}: ${reason}`);
}

type NoJsonNumber = { readonly place: readonly string[]; readonly name: string; readonly written: string };

/** The numbers that TOML has and JSON has not, wherever they are in a value. */
function noJsonNumbers(value: unknown, name: string, place: readonly string[]): readonly NoJsonNumber[] {
  if (typeof value === 'number' && !Number.isFinite(value)) {
    const written = String(value).replace('Infinity', 'inf').replace('NaN', 'nan');
    return [{ place, name, written }];
  }
  if (Array.isArray(value))
    return value.flatMap((member, index) => noJsonNumbers(member, `${name}[${index}]`, [...place, String(index)]));
  if (!isTable(value)) return [];
  return Object.entries(value).flatMap(([key, member]) => noJsonNumbers(member, `${name}.${key}`, [...place, key]));
}

/** The keys the schema has at this place. */
function knownKeys(path: readonly string[]): string[] {
  const found = schemaAt(path);
  return found instanceof z.ZodObject ? Object.keys(found.shape) : [];
}

function schemaAt(path: readonly string[]): unknown {
  let schema: unknown = manifestSchema;
  for (const part of path) schema = memberOf(unwrap(schema), part);
  return unwrap(schema);
}

function memberOf(schema: unknown, key: string): unknown {
  if (schema instanceof z.ZodObject) {
    const shape: Table = schema.shape;
    return shape[key];
  }
  if (schema instanceof z.ZodArray) return schema.element;
  return schema instanceof z.ZodRecord ? schema.valueType : undefined;
}

function unwrap(schema: unknown): unknown {
  let inner = schema;
  while (inner instanceof z.ZodDefault || inner instanceof z.ZodOptional) inner = inner.unwrap();
  return inner;
}

/** TOML dates become their text; tables lose their missing prototype. */
function plainJson(value: unknown): unknown {
  if (value instanceof TomlDate) return value.toISOString();
  if (Array.isArray(value)) return value.map(plainJson);
  if (!isTable(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, plainJson(member)]));
}

/** An empty table of params means the same as none: no `init` is sent. */
function withoutEmptyParams(manifest: Manifest): Manifest {
  const agents = Object.entries(manifest.agents).map(([name, { params, ...agent }]) => {
    const isEmpty = params === undefined || Object.keys(params).length === 0;
    return [name, isEmpty ? agent : { ...agent, params }] as const;
  });
  return { ...manifest, agents: Object.fromEntries(agents) };
}

function isTable(value: unknown): value is Table {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
