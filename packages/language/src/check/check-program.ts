import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import type { Program } from '../modules/program.ts';
import { STD_TOOLS } from '../modules/std-tools.ts';
import type { FieldDeclaration, Item, StatementItem } from '../syntax/item.ts';
import { fitOrReport } from './body.ts';
import { builtinTable } from './builtins.ts';
import { checkStatement } from './check-block.ts';
import { checkAgent, checkConnection, checkMcp, checkModel } from './check-config.ts';
import { checkConstant, evaluateConstants, outerBody } from './check-constant.ts';
import { checkItemDecorators } from './check-decorators.ts';
import { checkFunction, settle } from './check-function.ts';
import { checkMcpTools, type McpAnswers } from './check-mcp.ts';
import { checkPipeline } from './check-pipeline.ts';
import { checkTool } from './check-tool.ts';
import { CODE } from './codes.ts';
import { type CollectedItem, collectItems, inFile, uniquePath } from './collect-items.ts';
import type { Body, Context, DeclareGlobal, ManifestNames } from './context.ts';
import { declareItems } from './declare-items.ts';
import { createFacts, type Facts, type FunctionRef, type ModuleVariable, traitMethodName } from './facts.ts';
import { implOf } from './impls.ts';
import { createModule, join, type ModuleScope } from './module-scope.ts';
import { Reporter } from './report.ts';
import { lookupInModule } from './resolve-path.ts';
import type { MethodInfo, Type } from './types.ts';

export type { ManifestNames } from './context.ts';

export interface CheckInput {
  readonly program: Program;
  readonly manifest?: ManifestNames;
  /** By the name of the `mcp` block: what its server answered, for those that were asked. */
  readonly mcpServers?: McpAnswers;
}

export interface CheckResult {
  readonly facts: Facts;
  /** Ordered by file and position. */
  readonly diagnostics: readonly Diagnostic[];
  /** Scopes and declarations, for the questions of editors. */
  readonly context: Context;
}

/** Names, types and rules of a whole program. Any tree is checked, also one with errors in it. */
export function checkProgram(input: CheckInput): CheckResult {
  const cx = createContext(input);
  const entry = input.program.files.get(input.program.entry);
  cx.report.file = input.program.entry;
  const collected = [...collectStdTools(cx), ...collectItems(cx, cx.root, entry?.tree.items ?? [])];
  declareItems(cx, collected);
  runQueues(cx);
  fillMethodTables(cx);
  reportUnusedLocals(cx);
  reportUnusedImports(cx);
  return { facts: cx.facts, diagnostics: cx.report.finish(input.program.files.keys()), context: cx };
}

/** `std::tools` is written in the language; it is there when the program mentions it. */
function collectStdTools(cx: Context): CollectedItem[] {
  const file = cx.program.files.get(STD_TOOLS);
  if (file === undefined) return [];
  const module = createModule(
    'tools',
    createModule('std', createModule('', undefined, STD_TOOLS), STD_TOOLS),
    STD_TOOLS,
  );
  cx.fileModules.set(STD_TOOLS, module);
  return inFile(cx, STD_TOOLS, () => collectItems(cx, module, file.tree.items));
}

function createContext(input: CheckInput): Context {
  const root = createModule('', undefined, input.program.entry);
  return {
    program: input.program,
    manifest: input.manifest,
    mcpServers: input.mcpServers ?? new Map(),
    facts: createFacts(highestId(input.program) + 1),
    report: new Reporter(),
    builtins: builtinTable(),
    impls: new Map(),
    root,
    fileModules: new Map([[input.program.entry, root]]),
    builtinEntries: new Map(),
    globSearches: new Map(),
    compared: { names: 0 },
    paths: new Set(),
    functionBodies: [],
    otherItems: [],
    pipelineOutputs: new Map(),
    structDefaults: new Map(),
    evaluation: { current: undefined },
    later: [],
    watched: [],
    declaredCons: new Map(),
    signatures: new Map(),
    pipelineRuns: new Map(),
    declareGlobal,
    unused: new Set(),
    stageResults: new Set(),
    messages: new Map(),
    typeSizes: new WeakMap(),
    mutatingMethods: new Set(),
    declarations: new Map(),
    uninitialized: new Map(),
    enclosing: new Map(),
    blockModules: new Map(),
    connections: new Set(),
  };
}

/** The tree itself is the last node its parser makes. */
function highestId(program: Program): number {
  let highest = 0;
  for (const { tree } of program.files.values()) highest = Math.max(highest, tree.id);
  return highest;
}

/** A `let` at the top level: later statements and all functions see it. */
const declareGlobal: DeclareGlobal = (body, options) => {
  const { cx, module } = body;
  const { id, name, span, type, mutable } = options;
  const path = uniquePath(cx, join(module.path, `let ${name}`)).replace('let ', '');
  const variable: ModuleVariable = { id, path, name, mutable, type, used: false };
  cx.facts.moduleVariables.push(variable);
  cx.declarations.set(id, { span, file: module.file });
  const first = module.entries.get(name);
  if (first !== undefined && first.meaning.kind !== 'variable') {
    cx.report.error(CODE.duplicate, span, `\`${name}\` is defined twice`, {
      labels: [{ span: first.span, message: 'first defined here', file: first.file }],
    });
  } else if (name !== '') {
    const meaning = { kind: 'variable', variable } as const;
    module.entries.set(name, { name, meaning, isPublic: false, module, span, file: module.file, used: false });
  }
  return variable;
};

/** Constants first, then what runs at the top level, then bodies; local items found on the way join the queues. */
function runQueues(cx: Context): void {
  do {
    const items = cx.otherItems.splice(0);
    for (const { item, module } of items) inFile(cx, module.file, () => checkDefaults(cx, module, item));
    for (const { item, module } of items) {
      if (item.kind === 'ConstItem') inFile(cx, module.file, () => checkConstant(cx, module, item));
    }
    evaluateConstants(cx);
    checkStatements(cx, items);
    for (const { item, module } of items) inFile(cx, module.file, () => checkItem(cx, module, item));
    for (const job of cx.functionBodies.splice(0)) {
      inFile(cx, job.scope.module.file, () => {
        if (job.kind !== 'tool' && job.self === undefined) checkItemDecorators(cx, job.scope.module, job.item);
        checkFunction(cx, job);
      });
    }
  } while (cx.otherItems.length > 0 || cx.functionBodies.length > 0);
}

/** Top-level statements of one module share a body, so that a later one sees the variables of an earlier one. */
function checkStatements(cx: Context, items: readonly { readonly item: Item; readonly module: ModuleScope }[]): void {
  const bodies = new Map<ModuleScope, Body>();
  for (const { item, module } of items) {
    if (item.kind !== 'StatementItem') continue;
    const body = bodies.get(module) ?? outerBody(cx, module);
    bodies.set(module, body);
    cx.facts.topLevel.push({ item, file: module.file });
    inFile(cx, module.file, () => {
      body.diverges = false;
      checkStatement(body, item.statement);
      if (item.isPublic) publishVariables(module, item);
      settle(cx);
    });
  }
}

/** `pub let`. */
function publishVariables(module: ModuleScope, item: StatementItem): void {
  for (const [name, entry] of module.entries) {
    const declared = entry.meaning.kind === 'variable' && entry.span.start >= item.span.start;
    if (declared && entry.span.end <= item.span.end) module.entries.set(name, { ...entry, isPublic: true });
  }
}

function checkItem(cx: Context, module: ModuleScope, item: Item): void {
  checkItemDecorators(cx, module, item);
  switch (item.kind) {
    case 'ModelItem':
      checkModel(cx, module, item);
      return;
    case 'AgentItem':
      checkAgent(cx, module, item);
      return;
    case 'McpItem':
      checkMcp(cx, module, item);
      checkMcpTools(cx, item);
      return;
    case 'ConnectionItem':
      checkConnection(cx, module, item);
      return;
    case 'ToolItem':
      checkTool(cx, module, item);
      return;
    case 'PipelineItem':
      checkPipeline(cx, module, item);
      return;
    case 'StoreItem': {
      const body = outerBody(cx, module);
      const meaning = module.entries.get(item.name.text)?.meaning;
      const type = body.check(item.value);
      const declared = meaning?.kind === 'resource' && meaning.ref.item === item ? meaning.type : undefined;
      if (declared !== undefined) fitOrReport(body, item.value, type, { type: declared, what: `\`${item.store}\`` });
      settle(cx);
      return;
    }
    default:
      return;
  }
}

/** Default values of fields. */
function checkDefaults(cx: Context, module: ModuleScope, item: Item): void {
  if (item.kind === 'EnumItem') {
    const con = cx.declaredCons.get(item);
    for (const variant of item.variants) {
      if (variant.payload.kind !== 'StructPayload') continue;
      const fields = con?.variants?.get(variant.name.text)?.fields;
      checkFieldDefaults(cx, module, variant.payload.fields, (name) => fields?.get(name)?.type);
    }
  }
  if (item.kind !== 'StructItem' && item.kind !== 'SchemaItem') return;
  const con = cx.declaredCons.get(item);
  if (con === undefined) return;
  cx.structDefaults.set(
    con.path,
    item.fields.map((field) => ({ name: field.name.text, value: field.defaultValue })),
  );
  checkFieldDefaults(cx, module, item.fields, (name) => con.fields?.get(name)?.type);
}

function checkFieldDefaults(
  cx: Context,
  module: ModuleScope,
  fields: readonly FieldDeclaration[],
  typeOf: (name: string) => Type | undefined,
): void {
  const body = outerBody(cx, module);
  for (const field of fields) {
    const type = typeOf(field.name.text);
    if (field.defaultValue === undefined || type === undefined) continue;
    const actual = body.check(field.defaultValue, type);
    fitOrReport(body, field.defaultValue, actual, { type, what: `default of \`${field.name.text}\`` });
  }
  settle(cx);
}

/** For dispatch at run time: own methods first, then those of traits with their defaults, then each by its trait. */
function fillMethodTables(cx: Context): void {
  for (const con of cx.impls.keys()) {
    const table = new Map<string, FunctionRef>();
    const add = (name: string, method: MethodInfo) => {
      if (method.ref !== undefined && !table.has(name)) table.set(name, method.ref);
    };
    const { methods, traitMethods, traits } = implOf(cx, con);
    for (const [name, method] of methods) add(name, method);
    for (const [name, method] of traitMethods) add(name, method);
    for (const [trait, implemented] of traits)
      for (const [name, method] of implemented) add(traitMethodName(trait.path, name), method);
    if (table.size > 0) cx.facts.methodTables.set(con.path, table);
    if (traits.size > 0)
      cx.facts.traitsOf.set(
        con.path,
        [...traits.keys()].map((trait) => trait.path),
      );
  }
}

function reportUnusedLocals(cx: Context): void {
  for (const { local, what, span, file } of cx.watched) {
    if (local.used) continue;
    cx.report.warning(CODE.unusedName, span, `unused ${what} \`${local.name}\``, {
      help: `if this is intended, call it \`_${local.name}\``,
      file,
    });
  }
}

/** Resolving what is still untouched also reports imports that lead nowhere. */
function reportUnusedImports(cx: Context): void {
  const visit = (module: ModuleScope): void => {
    for (const [name, entry] of module.entries) {
      if (entry.meaning.kind === 'module' && entry.meaning.module.parent === module) visit(entry.meaning.module);
      if (entry.meaning.kind !== 'import') continue;
      const { used } = entry;
      inFile(cx, module.file, () => lookupInModule(cx, module, name));
      const kind = entry.meaning.target?.meaning.kind;
      // A trait is used by the methods it brings.
      if (used || entry.isPublic || kind === 'broken' || kind === 'trait') continue;
      cx.report.warning(CODE.unusedImport, entry.span, `unused import \`${name}\``, { file: entry.file });
    }
  };
  visit(cx.root);
}
