import { builtinSignature, builtinSpec, formatType, isBuiltin } from '@concerto/ir';
import { typeOf } from '../check/facts.ts';
import { CON, isCon, showType } from '../check/types.ts';
import type { Argument, CallExpression, MethodCallExpression } from '../syntax/expression.ts';
import type { CodeSymbol } from './code-symbol.ts';
import { describeSymbol } from './describe-symbol.ts';
import { type ProgramIndex, referenceAt } from './index-program.ts';
import { nodesAt } from './syntax-node.ts';

export interface SignatureHelp {
  readonly name: string;
  /** As they are written: `n: Int = 1`. */
  readonly parameters: readonly { readonly name: string; readonly text: string }[];
  readonly result: string | undefined;
  readonly doc: string | undefined;
  /** Index of the parameter being typed; beyond the end when there are too many. */
  readonly active: number;
}

type Call = CallExpression | MethodCallExpression;

/** The call whose parentheses the offset is in, innermost first. */
export function signatureAt(index: ProgramIndex, file: string, offset: number): SignatureHelp | undefined {
  const found = index.program.files.get(file);
  if (found === undefined) return undefined;
  const { text } = found.source;
  const path = nodesAt(found.tree, offset).toReversed();
  for (const [at, node] of path.entries()) {
    // The variables of a closure are not arguments of the call it is given to.
    if (node.kind === 'Block' || node.kind === 'FunctionItem') return undefined;
    if (node.kind !== 'CallExpression' && node.kind !== 'MethodCallExpression') continue;
    if (!isInside(node, text, offset)) continue;
    const help = signatureOf(index, file, node);
    if (help === undefined) return undefined;
    const piped = path[at + 1]?.kind === 'PipeExpression' ? 1 : 0;
    return { ...help, active: activeParameter(help, node.arguments, { text, offset, piped }) };
  }
  return undefined;
}

function nameEnd(node: Call): number {
  const last = node.typeArguments[node.typeArguments.length - 1];
  const own = node.kind === 'CallExpression' ? node.callee.span.end : node.method.span.end;
  return last?.span.end ?? own;
}

function isInside(node: Call, text: string, offset: number): boolean {
  const opening = text.indexOf('(', nameEnd(node));
  if (opening === -1 || offset <= opening) return false;
  const isClosed = text[node.span.end - 1] === ')';
  return isClosed ? offset < node.span.end : true;
}

function signatureOf(index: ProgramIndex, file: string, node: Call): Omit<SignatureHelp, 'active'> | undefined {
  const at = node.kind === 'CallExpression' ? node.callee.span.end : node.method.span.end;
  const symbol = referenceAt(index, file, at - 1)?.symbol;
  const known = symbol === undefined ? undefined : symbolSignature(index, symbol);
  if (known !== undefined || node.kind !== 'CallExpression') return known;
  const type = typeOf(index.checked.facts, node.callee);
  if (!isCon(type, CON.Function)) return undefined;
  const params = type.args.slice(0, -1).map((param) => ({ name: '', text: showType(param) }));
  const result = showType(type.args[type.args.length - 1] ?? { kind: 'any' });
  return { name: symbol?.name ?? 'fn', parameters: params, result, doc: undefined };
}

function symbolSignature(index: ProgramIndex, symbol: CodeSymbol): Omit<SignatureHelp, 'active'> | undefined {
  if (symbol.builtin !== undefined) return builtinHelp(symbol.name, symbol.builtin);
  const node = symbol.declaration?.node;
  const text = index.program.files.get(symbol.declaration?.file ?? '')?.source.text ?? '';
  if (node?.kind === 'EnumVariant' && node.payload.kind === 'TuplePayload') {
    const parameters = node.payload.types.map(({ span }) => ({ name: '', text: text.slice(span.start, span.end) }));
    return { name: symbol.name, parameters, result: undefined, doc: node.doc };
  }
  if (node?.kind !== 'FunctionItem') return undefined;
  const parameters = node.parameters.map((parameter) => ({
    name: parameter.name.text,
    text: text.slice(parameter.name.span.start, parameter.span.end).replaceAll(/\s+/g, ' '),
  }));
  const { returnType } = node;
  const result = returnType === undefined ? undefined : text.slice(returnType.span.start, returnType.span.end);
  return { name: symbol.name, parameters, result, doc: describeSymbol(index, symbol).doc };
}

function builtinHelp(name: string, row: string): Omit<SignatureHelp, 'active'> | undefined {
  if (!isBuiltin(row)) return undefined;
  const { params, result } = builtinSignature(row);
  const own = row.includes('.') ? params.slice(1) : params;
  const parameters = own.map((param) => {
    const mark = param.optional ? '?' : '';
    return { name: param.name, text: `${param.rest ? '...' : ''}${param.name}${mark}: ${formatType(param.type)}` };
  });
  return { name, parameters, result: formatType(result), doc: builtinSpec(row).help };
}

function activeParameter(
  help: Omit<SignatureHelp, 'active'>,
  args: readonly Argument[],
  at: { readonly text: string; readonly offset: number; readonly piped: number },
): number {
  const { text, offset, piped } = at;
  let active = 0;
  for (const [index, argument] of args.entries()) {
    const next = args[index + 1]?.span.start ?? offset;
    if (text.slice(argument.span.end, Math.min(next, offset)).includes(',')) active = index + 1;
  }
  const label = args[active]?.label?.text;
  const labelled = label === undefined ? -1 : help.parameters.findIndex((parameter) => parameter.name === label);
  if (labelled !== -1) return labelled;
  const last = help.parameters.length - 1;
  const isVariadic = help.parameters[last]?.text.startsWith('...') === true;
  return isVariadic ? Math.min(active + piped, last) : active + piped;
}
