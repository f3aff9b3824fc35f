import type { AgentItem, McpItem, PipelineItem, StoreItem, ToolItem } from '../syntax/item.ts';
import { typeOfText } from './builtins.ts';
import { knownTools, writtenName } from './check-mcp.ts';
import { CODE } from './codes.ts';
import { type CollectedItem, inFile } from './collect-items.ts';
import type { Context, TypeScope } from './context.ts';
import { implementTrait } from './declare-impls.ts';
import { declareFields, declareMethod, plainScope } from './declare-types.ts';
import { implOf, openImpl } from './impls.ts';
import type { ModuleScope, ResourceMeaning } from './module-scope.ts';
import { resolveTrait, resolveType } from './resolve-type.ts';
import { ANY, applied, CON, isCon, prune, resultOf, type Signature, type Type, type TypeCon } from './types.ts';

const BASE_TYPE = {
  ModelItem: 'ModelRef',
  AgentItem: 'AgentRef',
  ToolItem: 'Tool',
  McpItem: 'McpRef',
  PipelineItem: 'PipelineRef',
} as const;

const STORE_TYPE = { hashmap: 'HashMap', ledger: 'Ledger', memory: 'Memory' } as const;

/** The types of models, agents, tools, servers, pipelines and stores. */
export function declareResources(cx: Context, collected: readonly CollectedItem[]): void {
  for (const { item, module } of collected) {
    switch (item.kind) {
      case 'ModelItem':
      case 'AgentItem':
      case 'ToolItem':
      case 'McpItem':
      case 'PipelineItem':
        inFile(cx, module.file, () => declareResource(cx, module, item));
        break;
      case 'StoreItem':
        inFile(cx, module.file, () => declareStore(cx, module, item));
        break;
      default:
        break;
    }
  }
}

function resourceOf(
  module: ModuleScope,
  item: { readonly name: { readonly text: string } },
): ResourceMeaning | undefined {
  const meaning = module.entries.get(item.name.text)?.meaning;
  return meaning?.kind === 'resource' && meaning.ref.item === item ? meaning : undefined;
}

type DeclaredItem =
  | AgentItem
  | ToolItem
  | McpItem
  | PipelineItem
  | Extract<CollectedItem['item'], { kind: 'ModelItem' }>;

function declareResource(cx: Context, module: ModuleScope, item: DeclaredItem): void {
  const con = cx.declaredCons.get(item);
  if (con === undefined) return;
  const base = cx.builtins.types.get(BASE_TYPE[item.kind]);
  if (base !== undefined) con.base = applied(base);
  const scope: TypeScope = { ...plainScope(module), self: applied(con) };
  if (item.kind === 'ToolItem') declareTool(cx, scope, item, con);
  else if (item.kind === 'McpItem') {
    for (const method of item.methods) {
      const declared = declareMethod(cx, { con, trait: undefined, path: con.path, scope }, method);
      cx.facts.mcpResults.set(method, unwrapResult(declared.signature.result));
      openImpl(cx, con).methods.set(method.name.text, {
        ...declared,
        receiver: 'self',
        signature: { ...declared.signature, result: callResult(cx, declared.signature.result) },
      });
    }
    declareAskedTools(cx, item, con);
  } else if (item.kind === 'PipelineItem') cx.pipelineRuns.set(con, () => runSignature(cx, scope, item));
}

/** A call of a server may always fail: `-> String` says what it gives when it does not. */
function callResult(cx: Context, declared: Type): Type {
  const toolError = cx.builtins.types.get('ToolError');
  if (toolError === undefined || isCon(declared, CON.Result)) return declared;
  return resultOf(declared, applied(toolError));
}

/** The tools a server has and the block does not declare; one whose name is no name is called by `call`. */
function declareAskedTools(cx: Context, item: McpItem, con: TypeCon): void {
  const known = knownTools(cx, con).map((tool) => ({ ...tool, name: writtenName(tool) }));
  const asked = known.filter(
    ({ name }, index) =>
      /^[A-Za-z_]\w*$/.test(name) &&
      !implOf(cx, con).methods.has(name) &&
      !isBuiltinMethod(cx, name) &&
      known.every((other, at) => at === index || other.name !== name),
  );
  const text = (type: string): Type => typeOfText(cx.builtins, type);
  for (const { name, params, returns } of asked) {
    const signature: Signature = {
      typeParams: [],
      params: requiredFirst(params).map((param) => ({
        name: param.name,
        type: text(param.shape.type),
        hasDefault: param.optional,
        node: undefined,
      })),
      result: callResult(cx, returns === undefined ? ANY : text(returns.type)),
      isAsync: false,
    };
    openImpl(cx, con).methods.set(name, {
      name,
      signature,
      receiver: 'self',
      owner: con,
      hasBody: false,
      ref: undefined,
    });
  }
  cx.facts.askedTools.set(
    item,
    asked.map((tool) => ({ ...tool, params: requiredFirst(tool.params) })),
  );
}

function requiredFirst<Param extends { readonly optional: boolean }>(params: readonly Param[]): readonly Param[] {
  return [...params.filter((param) => !param.optional), ...params.filter((param) => param.optional)];
}

function isBuiltinMethod(cx: Context, name: string): boolean {
  return cx.builtins.methods.get(BASE_TYPE.McpItem)?.has(name) === true;
}

function declareTool(cx: Context, scope: TypeScope, item: ToolItem, con: TypeCon): void {
  con.fields = declareFields(cx, scope, item.state, item.name.text);
  for (const field of item.fields) {
    if (con.fields.has(field.name.text)) continue;
    con.fields.set(field.name.text, { name: field.name.text, type: ANY, optional: false, hasDefault: true });
  }
  const owner = { con, trait: undefined, path: con.path, scope };
  const own = openImpl(cx, con).methods;
  for (const method of item.methods) {
    if (own.has(method.name.text)) {
      cx.report.error(CODE.duplicate, method.name.span, `method \`${method.name.text}\` is defined twice`);
    }
    own.set(method.name.text, declareMethod(cx, owner, method));
    if (method.body !== undefined) cx.functionBodies.push({ item: method, scope, self: scope.self, kind: 'tool' });
  }
  const trait = item.trait === undefined ? undefined : resolveTrait(cx, scope.module, item.trait);
  if (trait === undefined) return;
  const methods = new Map([...own].filter(([name]) => trait.methods.has(name)));
  const traitArgs = new Map(trait.typeParams.map((param) => [param, ANY] as const));
  implementTrait(cx, item, { con, trait, methods, self: applied(con), traitArgs });
}

function declareStore(cx: Context, module: ModuleScope, item: StoreItem): void {
  const meaning = resourceOf(module, item);
  const written = item.type === undefined ? undefined : resolveType(cx, plainScope(module), item.type);
  const con = cx.builtins.types.get(STORE_TYPE[item.store]);
  if (con === undefined) return;
  const known = written === undefined ? undefined : prune(written);
  const plain = applied(
    con,
    con.params.map(() => ANY),
  );
  if (known !== undefined && known.kind === 'applied' && known.con !== con) {
    cx.report.error(CODE.mismatch, item.type?.span ?? item.span, `a \`${item.store}\` has the type \`${con.name}\``);
  }
  if (meaning !== undefined) meaning.type = known !== undefined && isCon(known, con) ? known : plain;
}

/** `run` takes what the first stage takes and gives what the last one gives. */
function runSignature(cx: Context, scope: TypeScope, item: PipelineItem): Signature {
  const first = item.stages[0];
  const parameter = item.parameter ?? (first?.kind === 'FunctionStage' ? first.parameters[0] : undefined);
  const input = parameter?.type === undefined ? ANY : quietType(cx, scope, parameter.type);
  const last = item.stages[item.stages.length - 1];
  const written = item.returnType ?? (last?.kind === 'FunctionStage' ? last.returnType : undefined);
  const output = written === undefined ? (cx.pipelineOutputs.get(item) ?? ANY) : quietType(cx, scope, written);
  const error = cx.builtins.types.get('PipelineError');
  return {
    typeParams: [],
    params: [
      { name: parameter?.name.text ?? 'input', type: input, hasDefault: parameter === undefined, node: undefined },
    ],
    result: resultOf(unwrapResult(output), error === undefined ? ANY : applied(error)),
    isAsync: true,
  };
}

/** A success is taken out of its Result between stages and at the end. */
export function unwrapResult(raw: Type): Type {
  const type = prune(raw);
  return isCon(type, CON.Result) ? (type.args[0] ?? ANY) : raw;
}

/** Mistakes in these types are reported where the pipeline itself is checked; the same place is never told twice. */
function quietType(cx: Context, scope: TypeScope, node: NonNullable<PipelineItem['returnType']>): Type {
  return inFile(cx, scope.module.file, () => resolveType(cx, scope, node));
}
