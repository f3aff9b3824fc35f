import type { Argument, Expression, MapExpression } from '../syntax/expression.ts';
import type { FunctionItem, McpItem } from '../syntax/item.ts';
import { fitOrReport } from './body.ts';
import { typeOfText } from './builtins.ts';
import { CODE } from './codes.ts';
import type { Body, Context } from './context.ts';
import { implOf } from './impls.ts';
import { argumentMisfit, resultMisfit } from './mcp-shape.ts';
import { didYouMean } from './resolve-path.ts';
import { ANY, type Type, type TypeCon } from './types.ts';

/** A tool as its server describes it. */
export interface McpToolShape {
  readonly name: string;
  readonly description: string;
  readonly params: readonly { readonly name: string; readonly shape: McpValueShape; readonly optional: boolean }[];
  /** It takes arguments that it does not list. */
  readonly takesMore: boolean;
  /** What it gives; undefined when the server does not say. */
  readonly returns: McpValueShape | undefined;
}

/** What a server takes or gives at one place; the type is one of the language, as text. */
export interface McpValueShape {
  readonly type: string;
  /** Of an object whose fields are listed. */
  readonly fields?: readonly { readonly name: string; readonly optional: boolean; readonly shape: McpValueShape }[];
  /** Of an array. */
  readonly items?: McpValueShape;
}

/** What a server said when it was asked, or why it could not be. */
export type McpKnowledge =
  | { readonly kind: 'tools'; readonly tools: readonly McpToolShape[] }
  | { readonly kind: 'silent'; readonly problem: string };

/** By the name a compiled program has for the server. `unasked`: they will be, and until then any tool may be there. */
export type McpAnswers = ReadonlyMap<string, McpKnowledge> | 'unasked';

/** A compiled program calls a server by its short name, unless two modules have one of that name. */
function knowledgeOf(cx: Context, con: TypeCon): McpKnowledge | undefined {
  if (cx.mcpServers === 'unasked') return undefined;
  return cx.mcpServers.get(con.path) ?? cx.mcpServers.get(con.name);
}

/** What the server of an `mcp` block answered; nothing when it was not asked or did not answer. */
export function knownTools(cx: Context, con: TypeCon): readonly McpToolShape[] {
  const known = knowledgeOf(cx, con);
  return known?.kind === 'tools' ? known.tools : [];
}

/** A tool as a name of the language: `get_sum` for `get-sum`. */
export function writtenName(tool: McpToolShape): string {
  return tool.name.replaceAll(/\W/g, '_');
}

function toolCalled(tools: readonly McpToolShape[], written: string): McpToolShape | undefined {
  const exact = tools.find((tool) => tool.name === written);
  const alike = tools.filter((tool) => writtenName(tool) === written);
  return exact ?? (alike.length === 1 ? alike[0] : undefined);
}

/** Compares the signatures in an `mcp` block with the tools its server really has. */
export function checkMcpTools(cx: Context, item: McpItem): void {
  const con = cx.declaredCons.get(item);
  const known = con === undefined ? undefined : knowledgeOf(cx, con);
  if (con === undefined || known === undefined) return;
  if (known.kind === 'silent') {
    const message = `the MCP server \`${item.name.text}\` could not be asked for its tools`;
    cx.report.error(CODE.mcpTool, item.name.span, message, { help: known.problem });
    return;
  }
  for (const method of item.methods) {
    const tool = toolCalled(known.tools, method.name.text);
    if (tool === undefined) reportUnknownTool(cx, method.name, { server: item.name.text, tools: known.tools });
    else checkSignature(cx, con, method, tool);
  }
}

function checkSignature(cx: Context, con: TypeCon, method: FunctionItem, tool: McpToolShape): void {
  const declared = implOf(cx, con).methods.get(method.name.text)?.signature.params ?? [];
  for (const parameter of method.parameters) {
    const { text, span } = parameter.name;
    const wanted = tool.params.find((candidate) => candidate.name === text);
    if (wanted === undefined) {
      if (!tool.takesMore) reportUnknownArgument(cx, parameter.name, tool);
      continue;
    }
    const type = declared.find((candidate) => candidate.name === text)?.type ?? ANY;
    const misfit = argumentMisfit(cx, type, wanted.shape, text);
    if (misfit === undefined) continue;
    cx.report.error(CODE.mcpTool, parameter.type?.span ?? span, `the tool \`${tool.name}\` ${misfit}`);
  }
  checkReturns(cx, method, tool);
  const given = new Set(method.parameters.map((parameter) => parameter.name.text));
  reportMissing(cx, method.name.span, tool, given);
}

/** A text is what every tool gives, and nil is what nobody reads: only other types can be wrong. */
function checkReturns(cx: Context, method: FunctionItem, tool: McpToolShape): void {
  const declared = cx.facts.mcpResults.get(method);
  if (declared === undefined || tool.returns === undefined) return;
  const misfit = resultMisfit(cx, declared, tool.returns, '');
  if (misfit === undefined) return;
  const span = method.returnType?.span ?? method.name.span;
  cx.report.error(CODE.mcpTool, span, `the tool \`${tool.name}\` ${misfit}`);
}

/** `Server.call("tool", {…})`, whose arguments have been checked for themselves. */
export function checkMcpCall(body: Body, args: readonly Argument[], receiver: Type): void {
  if (receiver.kind !== 'applied') return;
  const known = knowledgeOf(body.cx, receiver.con);
  const name = argument(args, 'tool', 0);
  if (known?.kind !== 'tools' || name?.kind !== 'StringLiteral') return;
  const tool = known.tools.find((candidate) => candidate.name === name.value);
  if (tool === undefined) {
    const written = { text: name.value, span: name.span };
    reportUnknownTool(body.cx, written, { server: receiver.con.name, tools: known.tools });
    return;
  }
  const given = argument(args, 'arguments', 1);
  if (given === undefined) reportMissing(body.cx, name.span, tool, new Set());
  else if (given.kind === 'MapExpression') checkGiven(body, given, tool);
}

function argument(args: readonly Argument[], label: string, index: number): Expression | undefined {
  const named = args.find((candidate) => candidate.label?.text === label);
  const positional = args[index];
  return (named ?? (positional?.label === undefined ? positional : undefined))?.value;
}

function checkGiven(body: Body, given: MapExpression, tool: McpToolShape): void {
  const { cx } = body;
  const names = new Set<string>();
  for (const { key, value } of given.entries) {
    // A computed key can be any of them.
    if (key.kind !== 'StringLiteral') return;
    names.add(key.value);
    const wanted = tool.params.find((candidate) => candidate.name === key.value);
    if (wanted === undefined) {
      if (!tool.takesMore) reportUnknownArgument(cx, { text: key.value, span: key.span }, tool);
      continue;
    }
    const type = typeOfText(cx.builtins, wanted.shape.type);
    fitOrReport(body, value, cx.facts.types.get(value.id) ?? ANY, { type, what: `\`${key.value}\`` });
  }
  reportMissing(cx, given.span, tool, names);
}

type Written = Pick<FunctionItem['name'], 'text' | 'span'>;

function reportUnknownTool(
  cx: Context,
  written: Written,
  { server, tools }: { readonly server: string; readonly tools: readonly McpToolShape[] },
): void {
  const names = tools.map((tool) => tool.name);
  cx.report.error(CODE.mcpTool, written.span, `the MCP server \`${server}\` has no tool \`${written.text}\``, {
    help: didYouMean(written.text, names) ?? `it has ${names.map((name) => `\`${name}\``).join(', ')}`,
  });
}

function reportUnknownArgument(cx: Context, written: Written, tool: McpToolShape): void {
  const names = tool.params.map((param) => param.name);
  cx.report.error(CODE.mcpTool, written.span, `the tool \`${tool.name}\` has no argument \`${written.text}\``, {
    help: didYouMean(written.text, names),
  });
}

function reportMissing(cx: Context, span: Written['span'], tool: McpToolShape, given: ReadonlySet<string>): void {
  const missing = tool.params.filter((param) => !param.optional && !given.has(param.name));
  if (missing.length === 0) return;
  const names = missing.map((param) => `\`${param.name}: ${param.shape.type}\``).join(', ');
  cx.report.error(CODE.mcpTool, span, `the tool \`${tool.name}\` also needs ${names}`);
}
