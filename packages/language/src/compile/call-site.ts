import { assert } from '@concerto/base';
import type { ResolvedCall } from '../check/facts.ts';
import type {
  Argument,
  CallExpression,
  Expression,
  MethodCallExpression,
  PipeExpression,
} from '../syntax/expression.ts';
import type { Node } from '../syntax/node.ts';
import type { Frame } from './frame.ts';

export type AnyCall = CallExpression | MethodCallExpression | PipeExpression;

/** A call in whichever form it was written. */
export interface CallSite {
  readonly node: AnyCall;
  readonly call: ResolvedCall;
  readonly callee: Expression | undefined;
  readonly receiver: Expression | undefined;
  readonly arguments: readonly Argument[];
  /** Left side of a pipe; evaluated before everything else. */
  readonly piped: Expression | undefined;
  /** What the stack trace shows. */
  readonly position: Node;
}

export function callSite(frame: Frame, node: AnyCall): CallSite {
  const call = frame.facts.calls.get(node.id);
  assert(call !== undefined, 'every call is resolved');
  const piped = node.kind === 'PipeExpression' ? node.left : undefined;
  const form = node.kind === 'PipeExpression' ? withoutParens(node.right) : node;
  switch (form.kind) {
    case 'CallExpression':
      return {
        node,
        call,
        callee: form.callee,
        receiver: undefined,
        arguments: form.arguments,
        piped,
        position: form,
      };
    case 'MethodCallExpression':
      return {
        node,
        call,
        callee: undefined,
        receiver: form.receiver,
        arguments: form.arguments,
        piped,
        position: form.method,
      };
    default:
      return { node, call, callee: form, receiver: undefined, arguments: [], piped, position: form };
  }
}

function withoutParens(expression: Expression): Expression {
  return expression.kind === 'ParenExpression' ? withoutParens(expression.expression) : expression;
}
