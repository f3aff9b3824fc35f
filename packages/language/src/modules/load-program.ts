import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import type { ParseResult } from '../parser/parse-source.ts';
import { createSourceFile, type SourceFile } from '../source/source-file.ts';
import type { Item, ModuleItem } from '../syntax/item.ts';
import { createIdSource, type IdSource, type NodeId } from '../syntax/node.ts';
import { moduleCandidates } from './module-path.ts';
import type { Program, ProgramFile } from './program.ts';
import { mentionsStdTools, STD_TOOLS, STD_TOOLS_TEXT } from './std-tools.ts';

export type ReadFile = (path: string) => string | undefined;

export interface LoadInput {
  readonly entry: string;
  readonly readFile: ReadFile;
  readonly parse: (source: SourceFile, ids: IdSource) => ParseResult;
}

export interface LoadResult {
  readonly program: Program;
  /** Of the parser, and for files that are missing or include themselves. */
  readonly diagnostics: readonly Diagnostic[];
}

interface Loading {
  readonly input: LoadInput;
  readonly ids: IdSource;
  readonly files: Map<string, ProgramFile>;
  readonly moduleFiles: Map<NodeId, string>;
  readonly diagnostics: Diagnostic[];
}

/** Reads and parses the entry file and everything it reaches through `mod name;`. A file is read once. */
export function loadProgram(input: LoadInput): LoadResult {
  const loading: Loading = {
    input,
    ids: createIdSource(),
    files: new Map(),
    moduleFiles: new Map(),
    diagnostics: [],
  };
  const text = input.readFile(input.entry);
  loadFile(loading, input.entry, text ?? '', []);
  const { files, moduleFiles, diagnostics } = loading;
  if ([...files.values()].some(({ source }) => mentionsStdTools(source.text))) {
    loadFile(loading, STD_TOOLS, STD_TOOLS_TEXT, []);
  }
  return { program: { entry: input.entry, files, moduleFiles }, diagnostics };
}

/** `ancestors` are the files whose `mod` led here, to find circles. */
function loadFile(loading: Loading, path: string, text: string, ancestors: readonly string[]): void {
  const source = createSourceFile(path, text);
  const { tree, diagnostics, guesses } = loading.input.parse(source, loading.ids);
  loading.diagnostics.push(...diagnostics);
  loading.files.set(path, { source, tree, guesses });
  loadModules(loading, tree.items, { path, inside: [], ancestors: [...ancestors, path] });
}

interface Place {
  readonly path: string;
  /** Names of the inline modules around the declaration. */
  readonly inside: readonly string[];
  readonly ancestors: readonly string[];
}

function loadModules(loading: Loading, items: readonly Item[], place: Place): void {
  for (const item of items) {
    if (item.kind !== 'ModuleItem' || item.name.text === '') continue;
    if (item.items === undefined) loadModule(loading, item, place);
    else loadModules(loading, item.items, { ...place, inside: [...place.inside, item.name.text] });
  }
}

function loadModule(loading: Loading, item: ModuleItem, place: Place): void {
  const candidates = moduleCandidates(place.path, place.inside, item.name.text);
  for (const candidate of candidates) {
    if (place.ancestors.includes(candidate)) {
      report(loading, item, place.path, {
        code: 'C0237',
        message: `module \`${item.name.text}\` includes itself: ${[...place.ancestors, candidate].join(' → ')}`,
      });
      return;
    }
    const known = loading.files.has(candidate);
    const text = known ? '' : loading.input.readFile(candidate);
    if (text === undefined) continue;
    loading.moduleFiles.set(item.id, candidate);
    if (!known) loadFile(loading, candidate, text, place.ancestors);
    return;
  }
  const [first, second] = candidates;
  report(loading, item, place.path, {
    code: 'C0228',
    message: `no file found for module \`${item.name.text}\``,
    help: `create \`${first}\` or \`${second}\`, or write \`mod ${item.name.text} { … }\``,
  });
}

function report(
  loading: Loading,
  item: ModuleItem,
  file: string,
  what: { readonly code: string; readonly message: string; readonly help?: string },
): void {
  loading.diagnostics.push({ ...what, severity: 'error', file, span: item.name.span, labels: [] });
}
