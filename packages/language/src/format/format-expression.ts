import { unreachable } from '@concerto/base';
import type { ClosureExpression, Expression, StructExpression } from '../syntax/expression.ts';
import type { Doc } from './doc.ts';
import { formatTypeArguments, isHuggable } from './format-arguments.ts';
import { formatBars } from './format-bars.ts';
import { formatChain } from './format-chain.ts';
import { formatControl } from './format-control.ts';
import { formatOperators, isWrappedPipe } from './format-operators.ts';
import type { Formatter } from './formatter.ts';

export function formatExpression(f: Formatter, e: Expression): Doc {
  const { cursor } = f;
  switch (e.kind) {
    case 'IntLiteral':
    case 'FloatLiteral':
    case 'StringLiteral':
    case 'BoolLiteral':
    case 'NilLiteral':
    case 'NameExpression':
      return cursor.next();
    case 'InterpolatedString':
      return cursor.verbatim(e.span.end);
    case 'PathExpression':
      return f.run(e.span);
    case 'ParenExpression':
      return f.enclosed('(', ')', () => f.expression(e.expression));
    case 'TupleExpression':
      return f.list('(', ')', elements(f, e.elements));
    case 'ArrayExpression':
      return formatSequence(f, '[', ']', e.elements);
    case 'MapExpression':
      return formatMap(f, e);
    case 'StructExpression':
      return formatStruct(f, e);
    case 'CallExpression':
    case 'MethodCallExpression':
    case 'FieldExpression':
    case 'TupleFieldExpression':
    case 'IndexExpression':
      return formatChain(f, e);
    case 'PropagateExpression':
      return isWrappedPipe(e) ? formatOperators(f, e) : formatChain(f, e);
    case 'UnaryExpression':
    case 'AwaitExpression':
    case 'AssignExpression':
    case 'RangeExpression':
    case 'CastExpression':
      return formatOperation(f, e);
    case 'BinaryExpression':
    case 'PipeExpression':
      return formatOperators(f, e);
    case 'ClosureExpression':
      return formatClosure(f, e);
    case 'RaceExpression':
      return [cursor.next(), f.list('(', ')', elements(f, e.contenders))];
    case 'ReturnExpression':
    case 'ThrowExpression':
      return e.value === undefined ? cursor.next() : [cursor.next(), ' ', f.expression(e.value)];
    case 'BreakExpression':
    case 'ContinueExpression':
      return formatJump(f, e);
    case 'Block':
      return f.block(e);
    case 'IfExpression':
    case 'MatchExpression':
    case 'ForExpression':
    case 'WhileExpression':
    case 'LoopExpression':
    case 'TryExpression':
    case 'ListenExpression':
      return formatControl(f, e);
    case 'ErrorExpression':
      return '';
    default:
      return unreachable(e);
  }
}

type Operation = Extract<
  Expression,
  { kind: 'UnaryExpression' | 'AwaitExpression' | 'AssignExpression' | 'RangeExpression' | 'CastExpression' }
>;

function formatOperation(f: Formatter, e: Operation): Doc {
  const { cursor } = f;
  switch (e.kind) {
    case 'UnaryExpression':
      return [cursor.next(), f.expression(e.operand)];
    case 'AwaitExpression':
      if (!e.postfix) return [cursor.next(), ' ', f.expression(e.operand)];
      return isWrappedPipe(e) ? formatOperators(f, e) : formatChain(f, e);
    case 'AssignExpression':
      return [f.expression(e.target), ' ', cursor.next(), ' ', f.expression(e.value)];
    case 'RangeExpression': {
      const start = e.start === undefined ? '' : f.expression(e.start);
      return [start, cursor.next(), e.end === undefined ? '' : f.expression(e.end)];
    }
    case 'CastExpression':
      return [f.expression(e.operand), ' ', cursor.token('as'), ' ', f.run(e.type.span)];
    default:
      return unreachable(e);
  }
}

function elements(f: Formatter, expressions: readonly Expression[]): (() => Doc)[] {
  return expressions.map((expression) => () => f.expression(expression));
}

function formatSequence(f: Formatter, open: '[', close: ']', expressions: readonly Expression[]): Doc {
  const only = expressions[0];
  if (expressions.length === 1 && only !== undefined && isHuggable(only)) {
    return f.huggingList(open, close, elements(f, expressions));
  }
  return f.list(open, close, elements(f, expressions));
}

function formatMap(f: Formatter, e: Extract<Expression, { kind: 'MapExpression' }>): Doc {
  const members = e.entries.map((entry) => ({
    comma: true,
    layout: () => {
      const key =
        entry.keyForm === 'computed'
          ? [f.cursor.token('['), f.expression(entry.key), f.cursor.token(']')]
          : formatKey(f, entry.key);
      return [key, f.cursor.token(':'), ' ', f.expression(entry.value)];
    },
  }));
  return f.braces(members, { padding: '', forceBreak: false });
}

function formatKey(f: Formatter, key: Expression): Doc {
  return key.kind === 'InterpolatedString' ? f.expression(key) : f.cursor.next();
}

function formatStruct(f: Formatter, e: StructExpression): Doc {
  const head = [f.run(e.path.span), formatTypeArguments(f, e.typeArguments)];
  const members = e.fields.map((field) => ({
    start: field.span.start,
    comma: true,
    layout: () =>
      field.shorthand ? f.cursor.next() : [f.cursor.next(), f.cursor.token(':'), ' ', f.expression(field.value)],
  }));
  const { base } = e;
  if (base !== undefined) {
    const layout = () => [f.cursor.token('..'), f.expression(base)];
    members.push({ start: base.span.start, comma: true, layout });
  }
  members.sort((a, b) => a.start - b.start);
  return [head, ' ', f.braces(members, { padding: ' ', forceBreak: false })];
}

function formatClosure(f: Formatter, e: ClosureExpression): Doc {
  const head = formatBars(f, e.parameters);
  const result = e.returnType === undefined ? '' : [f.cursor.token('->'), ' ', f.run(e.returnType.span), ' '];
  return [head, ' ', result, f.expression(e.body)];
}

function formatJump(f: Formatter, e: Extract<Expression, { kind: 'BreakExpression' | 'ContinueExpression' }>): Doc {
  const docs: Doc[] = [f.cursor.next()];
  if (e.label !== undefined) docs.push(' ', f.cursor.token('Label'));
  if (e.kind === 'BreakExpression' && e.value !== undefined) docs.push(' ', f.expression(e.value));
  return docs;
}
