import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseSync } from 'oxc-parser';

export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

export type Source = {
  /** From the root, with forward slashes. */
  readonly path: string;
  /** `packages/log`, `apps/cli`, …; undefined outside the rooms. */
  readonly room: string | undefined;
  readonly text: string;
  readonly test: boolean;
};

export type Import = { readonly specifier: string; readonly line: number };
export type FunctionSpan = { readonly name: string; readonly line: number; readonly lines: number };

export function readSources(): readonly Source[] {
  return ['packages', 'apps', 'middleware', 'tools', 'bench', 'tests'].flatMap((folder) => walk(join(root, folder)));
}

function walk(folder: string): Source[] {
  if (!existsSync(folder)) return []; // A folder that a later change brings.
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (entry.name === 'node_modules' || entry.name === 'dist' || entry.name.startsWith('.')) return [];
    const file = join(folder, entry.name);
    if (entry.isDirectory()) return walk(file);
    return /\.(ts|tsx|mjs)$/.test(entry.name) ? [readSource(file)] : [];
  });
}

function readSource(file: string): Source {
  const path = relative(root, file).replaceAll('\\', '/');
  const room = /^(packages|apps|middleware)\/[^/]+/.exec(path)?.[0];
  const test = /\.test\.tsx?$|\/test\/|\/testing\/|^tests\/|\.config\.ts$/.test(path);
  return { path, room, text: readFileSync(file, 'utf8'), test };
}

export function lineOf(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) line++;
  return line;
}

export function importsOf(source: Source): readonly Import[] {
  const { module } = parseSync(source.path, source.text);
  const at = (start: number, specifier: string): Import => ({ specifier, line: lineOf(source.text, start) });
  return [
    ...module.staticImports.map((entry) => at(entry.start, entry.moduleRequest.value)),
    ...module.staticExports.flatMap((entry) =>
      entry.entries.flatMap((one) => (one.moduleRequest ? [at(entry.start, one.moduleRequest.value)] : [])),
    ),
    ...module.dynamicImports.map((entry) =>
      at(entry.start, source.text.slice(entry.moduleRequest.start + 1, entry.moduleRequest.end - 1)),
    ),
  ];
}

export function functionsOf(source: Source): readonly FunctionSpan[] {
  const { program } = parseSync(source.path, source.text);
  const found: FunctionSpan[] = [];
  const visit = (node: unknown, name: string): void => {
    if (Array.isArray(node)) {
      for (const child of node) visit(child, name);
      return;
    }
    if (node === null || typeof node !== 'object' || !('type' in node)) return;
    const own = nameOf(node) ?? name;
    if (isFunction(node)) {
      const line = lineOf(source.text, node.start);
      found.push({ name: own, line, lines: lineOf(source.text, node.end) - line + 1 });
    }
    for (const child of Object.values(node)) if (child !== null && typeof child === 'object') visit(child, own);
  };
  visit(program, '(module)');
  return found;
}

function isFunction(node: object): node is { start: number; end: number } {
  return (
    'type' in node &&
    typeof node.type === 'string' &&
    /^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(node.type)
  );
}

function nameOf(node: object): string | undefined {
  const named: unknown = Reflect.get(node, 'id') ?? Reflect.get(node, 'key');
  if (named !== null && typeof named === 'object' && 'name' in named && typeof named.name === 'string')
    return named.name;
  return undefined;
}
