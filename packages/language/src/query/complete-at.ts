import { CONFIG_FIELDS } from '../check/check-config.ts';
import { DECORATOR_NAMES } from '../check/check-decorators.ts';
import { typeOf } from '../check/facts.ts';
import type { ModuleScope } from '../check/module-scope.ts';
import { implementedTrait, lookupInModule, resolvePath } from '../check/resolve-path.ts';
import { type FieldInfo, prune, showType } from '../check/types.ts';
import { KEYWORDS } from '../lexer/token.ts';
import type { Manifest } from '../manifest/manifest.ts';
import type { StringLiteral } from '../syntax/expression.ts';
import type { Name, Path } from '../syntax/node.ts';
import type { Completion } from './completion.ts';
import { describeSymbol } from './describe-symbol.ts';
import type { ProgramIndex } from './index-program.ts';
import { entryCompletion, membersOf, namesInside } from './members-of.ts';
import { messageTypes } from './message-types.ts';
import { boundBy, type ScopeAt, scopeAt } from './scope-at.ts';
import { nodesAt, type SyntaxNode } from './syntax-node.ts';

/**
 * Stands in the text where something is being typed, so that `value.` and `Type::` are whole expressions. It is put
 * right at the cursor before the program is read.
 */
export const CURSOR_MARK = 'cursor_is_here';

export interface CompleteInput {
  readonly index: ProgramIndex;
  readonly file: string;
  /** Where the mark begins. */
  readonly offset: number;
  readonly manifest: Manifest | undefined;
}

interface Place extends CompleteInput {
  readonly path: readonly SyntaxNode[];
  readonly scope: ScopeAt;
}

export function completeAt(input: CompleteInput): Completion[] {
  const { index, file, offset } = input;
  const tree = index.program.files.get(file)?.tree;
  if (tree === undefined) return [];
  // One into the mark: at its start the node before it would be found too.
  const path = nodesAt(tree, offset + 1);
  const place = { ...input, path, scope: scopeAt(index.checked, file, path, offset) };
  const found = complete(place, path[path.length - 1], path[path.length - 2]);
  const seen = new Set<string>();
  return found.filter(({ label }) => {
    const isNew = label !== '' && !label.includes(CURSOR_MARK) && !seen.has(label);
    seen.add(label);
    return isNew;
  });
}

function complete(place: Place, node: SyntaxNode | undefined, parent: SyntaxNode | undefined): Completion[] {
  if (node?.kind === 'StringLiteral') return inText(place, parent, node);
  if (node?.kind !== 'Name' || !node.text.includes(CURSOR_MARK)) return [];
  switch (parent?.kind) {
    case 'FieldExpression':
    case 'MethodCallExpression':
      return membersOf(place.index, typeOf(place.index.checked.facts, parent.receiver));
    case 'Path':
      return inPath(place, node, parent);
    case 'FieldInitializer':
    case 'FieldPattern':
      return fieldNames(place);
    case 'ConfigField':
      return configNames(place);
    case 'Decorator':
      return DECORATOR_NAMES.map((label) => ({ label, kind: 'keyword', rank: 0 }));
    case 'Argument':
      return argumentLabels(place);
    case 'NameExpression':
      return nameExpression(place);
    case 'BindingPattern':
      return place.path.some((each) => each.kind === 'MatchArm') ? patternNames(place) : [];
    case 'MockStatement':
      return visibleNames(place).filter(({ kind }) => kind === 'model' || kind === 'agent' || kind === 'tool');
    default:
      return [];
  }
}

function nameExpression(place: Place): Completion[] {
  const { path } = place;
  const above = path[path.length - 3];
  if (above?.kind === 'FieldInitializer' && above.shorthand) return fieldNames(place);
  const config = above?.kind === 'ConfigField' ? externalNames(place, above.name.text) : [];
  const labels = above?.kind === 'Argument' ? argumentLabels(place) : [];
  return [...config, ...labels, ...visibleNames(place), ...keywords(place)];
}

/** The first segment of a path, or what is inside of those before it. */
function inPath(place: Place, name: Name, path: Path): Completion[] {
  const { index, scope } = place;
  const at = path.segments.indexOf(name);
  const uses = place.path.flatMap((node) => (node.kind === 'UseGroup' ? node.prefix.segments : []));
  const outer = place.path.some((node) => node.kind === 'UseItem') && !uses.includes(name) ? uses : [];
  const before = [...outer, ...path.segments.slice(0, at)];
  if (before.length === 0) return firstSegments(place);
  const module = scope.module;
  if (module === undefined) return [];
  const target = resolvePath(index.checked.context, module, { ...path, segments: before });
  if (target.kind === 'entry') return namesInside(index, module, target.entry.meaning);
  if (target.kind === 'missing') return [];
  const trait = implementedTrait(index.checked.context, module, target.con, target.name);
  return trait === undefined ? [] : namesInside(index, module, { kind: 'trait', trait });
}

const TYPE_KINDS = new Set([
  'struct',
  'schema',
  'enum',
  'trait',
  'type',
  'type parameter',
  'module',
  'model',
  'agent',
  'tool',
  'mcp',
]);

function firstSegments(place: Place): Completion[] {
  const isUse = place.path.some((node) => node.kind === 'UseItem');
  const roots = ['std', ...(isUse ? ['crate', 'self', 'super'] : [])];
  const modules = roots.map((label): Completion => ({ label, kind: 'module', rank: 2 }));
  if (isUse) return [...modules, ...visibleNames(place).filter(({ kind }) => kind === 'module' || kind === 'enum')];
  const isType = place.path.some((node) => node.kind === 'NamedType');
  const names = visibleNames(place);
  const any: Completion = { label: 'Any', kind: 'type', rank: 3 };
  return isType ? [...names.filter(({ kind }) => TYPE_KINDS.has(kind)), any, ...modules] : [...names, ...modules];
}

/** Variables, then what the modules around declare and import, then what is built in. */
function visibleNames(place: Place): Completion[] {
  const { index, scope } = place;
  const cx = index.checked.context;
  const nearest = [...scope.variables, ...scope.generics].flatMap((id): Completion[] => {
    const symbol = index.symbols.of(id);
    if (symbol === undefined) return [];
    return [{ label: symbol.name, kind: symbol.kind, detail: describeSymbol(index, symbol).code, rank: 0 }];
  });
  const declared: Completion[] = [];
  for (let module: ModuleScope | undefined = scope.module; module !== undefined; module = module.parent) {
    for (const name of module.entries.keys()) {
      const entry = lookupInModule(cx, module, name);
      if (entry !== undefined) declared.push(...entryCompletion(index, name, entry.meaning));
    }
    for (const { entry } of module.globs) {
      const container = entry.meaning.kind === 'import' ? entry.meaning.target?.meaning : undefined;
      if (container !== undefined) declared.push(...namesInside(index, module, container));
    }
  }
  const functions = [...cx.builtins.functions.keys()].filter((name) => !name.includes('::'));
  const builtin = functions.flatMap((name) => entryCompletion(index, name, { kind: 'builtin', name }));
  const types = [...cx.builtins.types].flatMap(([name, con]) => entryCompletion(index, name, { kind: 'type', con }));
  const more: Completion[] = ['None', 'std'].map((label) => ({
    label,
    kind: label === 'std' ? 'module' : 'variant',
    rank: 2,
  }));
  return [...nearest, ...declared, ...[...builtin, ...more, ...types].map((each) => ({ ...each, rank: 3 }))];
}

const ITEM_WORDS = new Set([
  'pub',
  'use',
  'mod',
  'schema',
  'struct',
  'enum',
  'trait',
  'impl',
  'agent',
  'model',
  'tool',
]);

/** In a function those that start an item only come last. */
function keywords(place: Place): Completion[] {
  const isInside = place.path.some((node) => node.kind === 'Block');
  return [...KEYWORDS.keys()].map((label) => ({
    label,
    kind: 'keyword',
    rank: isInside && ITEM_WORDS.has(label) ? 5 : 4,
  }));
}

function patternNames(place: Place): Completion[] {
  const match = place.path.findLast((node) => node.kind === 'MatchExpression');
  const type = match?.kind === 'MatchExpression' ? typeOf(place.index.checked.facts, match.scrutinee) : undefined;
  const variants =
    type?.kind === 'applied'
      ? [...(type.con.variants?.keys() ?? [])].map((name): Completion => {
          return { label: `${type.con.name}::${name}`, kind: 'variant', rank: 0 };
        })
      : [];
  // The alternatives of a pattern bind the same names.
  const either = place.path.findLast((node) => node.kind === 'OrPattern');
  const bound = either?.kind === 'OrPattern' ? boundBy(either) : [];
  const names = bound.flatMap((id): Completion[] => {
    const symbol = place.index.symbols.of(id);
    return symbol === undefined ? [] : [{ label: symbol.name, kind: 'variable', rank: 1 }];
  });
  const wrappers = ['Ok', 'Err', 'Some', 'None', 'true', 'false', 'nil'];
  const kinds = new Set(['enum', 'constant', 'struct', 'schema', 'module']);
  return [
    ...variants,
    ...names,
    ...wrappers.map((label): Completion => ({ label, kind: 'variant', rank: 2 })),
    ...visibleNames(place).filter(({ kind }) => kinds.has(kind)),
  ];
}

/** Fields of the struct around that are not given yet. */
function fieldNames(place: Place): Completion[] {
  const { index } = place;
  const { facts } = index.checked;
  const owner = place.path.findLast((node) => node.kind === 'StructExpression' || node.kind === 'StructPattern');
  if (owner?.kind !== 'StructExpression' && owner?.kind !== 'StructPattern') return [];
  const given = new Set<string>(owner.fields.map((field) => field.name.text));
  const fields = owner.kind === 'StructExpression' ? literalFields(place, owner.id) : patternFields(place, owner.id);
  const values = owner.kind === 'StructExpression' ? facts.names.get(owner.id) : undefined;
  const separator = values === undefined ? '' : ': ';
  return fields
    .filter((field) => !given.has(field.name))
    .map((field) => ({
      label: field.name,
      kind: 'field',
      detail: showType(field.type),
      rank: 0,
      insert: `${field.name}${separator}`,
    }));
}

function literalFields({ index }: Place, id: number): FieldInfo[] {
  const resolved = index.checked.facts.names.get(id);
  if (resolved?.kind === 'struct' || resolved?.kind === 'schema') return fieldsOfPath(index, resolved.path);
  return resolved?.kind === 'variant' ? fieldsOfPath(index, resolved.variant.enum, resolved.variant.name) : [];
}

function patternFields({ index }: Place, id: number): FieldInfo[] {
  const resolved = index.checked.facts.patterns.get(id);
  if (resolved?.kind === 'struct') return fieldsOfPath(index, resolved.path);
  return resolved?.kind === 'variant' ? fieldsOfPath(index, resolved.variant.enum, resolved.variant.name) : [];
}

function fieldsOfPath(index: ProgramIndex, path: string, variant?: string): FieldInfo[] {
  const declared = index.checked.facts.declaredTypes.find((type) => type.path === path)?.con;
  const con = declared ?? index.checked.context.builtins.types.get(path);
  const fields = variant === undefined ? con?.fields : con?.variants?.get(variant)?.fields;
  return [...(fields?.values() ?? [])];
}

function configNames(place: Place): Completion[] {
  const item = place.path.findLast((node) => Object.hasOwn(CONFIG_FIELDS, node.kind));
  const rules = item === undefined ? undefined : CONFIG_FIELDS[item.kind];
  if (item === undefined || rules === undefined || !('fields' in item)) return [];
  const given = new Set<string>(item.fields.map((field) => field.name.text));
  return Object.entries(rules)
    .filter(([name]) => !given.has(name))
    .map(([label, rule]) => ({
      label,
      kind: 'property',
      detail: showType(rule.type),
      rank: 0,
      insert: `${label}: `,
    }));
}

/** Words of the manifest: `provider: openai`, `connector: reviewer`. */
function externalNames({ manifest }: Place, field: string): Completion[] {
  const tables = { provider: manifest?.connections, connector: manifest?.agents };
  const table = field === 'provider' || field === 'connector' ? tables[field] : undefined;
  const mock = field === 'provider' ? ['mock'] : [];
  return [...Object.keys(table ?? {}), ...mock].map((label) => ({
    label,
    kind: 'text',
    detail: 'Concerto.toml',
    rank: 0,
  }));
}

/** Names of the parameters that are not given yet. */
function argumentLabels(place: Place): Completion[] {
  const call = place.path.findLast((node) => node.kind === 'CallExpression' || node.kind === 'MethodCallExpression');
  if (call?.kind !== 'CallExpression' && call?.kind !== 'MethodCallExpression') return [];
  const called = place.index.checked.facts.calls.get(call.id)?.target;
  const item = called !== undefined && 'function' in called ? called.function.item : undefined;
  const given = new Set(call.arguments.map((argument) => argument.label?.text));
  const positional = call.arguments.filter(({ label, value }) => label === undefined && !isMark(value)).length;
  return (item?.parameters ?? [])
    .slice(positional)
    .filter((parameter) => !given.has(parameter.name.text))
    .map(({ name }) => ({ label: `${name.text}:`, kind: 'parameter', rank: 1, insert: `${name.text}: ` }));
}

function isMark(value: SyntaxNode): boolean {
  return value.kind === 'NameExpression' && value.name.text.includes(CURSOR_MARK);
}

/** In quotes: message types of `listen`, words of the manifest, and the texts a field takes. */
function inText(place: Place, parent: SyntaxNode | undefined, node: StringLiteral): Completion[] {
  if (!node.value.includes(CURSOR_MARK)) return [];
  if (parent?.kind === 'ListenHandler') {
    // The parser reads a message type without its quotes too.
    const isQuoted = place.index.program.files.get(place.file)?.source.text[node.span.start] === '"';
    const types = messageTypes(place.index);
    return isQuoted ? types : types.map((type) => ({ ...type, insert: `"${type.label}"` }));
  }
  if (parent?.kind !== 'ConfigField') return [];
  const item = place.path.findLast((node) => Object.hasOwn(CONFIG_FIELDS, node.kind));
  const rules = item === undefined ? undefined : CONFIG_FIELDS[item.kind];
  const type = prune(rules?.[parent.name.text]?.type ?? { kind: 'any' });
  const values = type.kind === 'applied' ? (type.con.values ?? []) : [];
  return [
    ...externalNames(place, parent.name.text),
    ...values.map((label): Completion => ({ label, kind: 'text', rank: 0 })),
  ];
}
