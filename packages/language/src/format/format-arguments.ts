import type { Argument, Expression } from '../syntax/expression.ts';
import type { Doc } from './doc.ts';
import type { Formatter } from './formatter.ts';

export function formatArguments(f: Formatter, args: readonly Argument[]): Doc {
  const layouts = args.map((argument) => () => [formatLabel(f, argument), f.expression(argument.value)]);
  const last = args.at(-1);
  const others = args.slice(0, -1);
  const hugs = last !== undefined && isHuggable(last.value) && others.every((other) => isPlain(other.value));
  return hugs ? f.huggingList('(', ')', layouts) : f.list('(', ')', layouts);
}

function formatLabel(f: Formatter, argument: { readonly label: Argument['label'] }): Doc {
  return argument.label === undefined ? '' : [f.cursor.next(), f.cursor.token(':'), ' '];
}

/** What has lines of its own and closes with a bracket. */
export function isHuggable(e: Expression): boolean {
  switch (e.kind) {
    case 'ClosureExpression':
      return e.body.kind === 'Block';
    case 'MapExpression':
      return e.entries.length > 0;
    case 'StructExpression':
      return e.fields.length > 0;
    case 'ArrayExpression':
      return e.elements.length > 0;
    case 'StringLiteral':
      return e.value.includes('\n');
    case 'Block':
    case 'MatchExpression':
    case 'ListenExpression':
      return true;
    default:
      return false;
  }
}

function isPlain(e: Expression): boolean {
  switch (e.kind) {
    case 'IntLiteral':
    case 'FloatLiteral':
    case 'StringLiteral':
    case 'BoolLiteral':
    case 'NilLiteral':
    case 'NameExpression':
    case 'PathExpression':
    case 'FieldExpression':
    case 'InterpolatedString':
      return true;
    default:
      return false;
  }
}

/** `<A, B>` in an expression. */
export function formatTypeArguments(f: Formatter, types: readonly { readonly span: Expression['span'] }[]): Doc {
  const last = types.at(-1);
  if (last === undefined || !f.cursor.at('<')) return '';
  return [f.run(last.span), f.cursor.drop(','), f.cursor.token('>')];
}
