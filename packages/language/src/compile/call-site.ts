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
  const site = writtenSite(node, call);
  return call.target.kind === 'trait-method' && site.receiver === undefined ? firstIsReceiver(site) : site;
}

/** `Trait::method(x, …)` is `x.method(…)`. */
function firstIsReceiver(site: CallSite): CallSite {
  const sources = site.call.arguments.slice(1);
  if (site.piped !== undefined) {
    return { ...site, receiver: site.piped, piped: undefined, call: { ...site.call, arguments: sources } };
  }
  const shifted = sources.map((source) =>
    source.kind === 'argument' ? { ...source, index: source.index - 1 } : source,
  );
  return {
    ...site,
    receiver: site.arguments[0]?.value,
    arguments: site.arguments.slice(1),
    call: { ...site.call, arguments: shifted },
  };
}

function writtenSite(node: AnyCall, call: ResolvedCall): CallSite {
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
