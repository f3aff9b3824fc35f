import type { Expression } from '../syntax/expression.ts';
import { type Doc, group, indent, line } from './doc.ts';
import type { Formatter } from './formatter.ts';

/** `a + b + c` in one group: the operators begin the lines when it does not fit. */
export function formatOperators(f: Formatter, e: Expression): Doc {
  const parts: Doc[] = [];
  const first = addOperands(f, e, parts);
  return group([first, indent(parts)]);
}

/** Operators of the same looseness are laid out together, whatever the depth of the tree. */
function addOperands(f: Formatter, top: Expression, parts: Doc[]): Doc {
  const spine: Expression[] = [];
  let left = top;
  for (let next = leftOperand(left, top); next !== undefined; next = leftOperand(left, top)) {
    spine.push(left);
    left = next;
  }
  const first = f.expression(left);
  for (const node of spine.reverse()) {
    if (node.kind === 'BinaryExpression' || node.kind === 'PipeExpression') {
      parts.push(line, f.cursor.next(), ' ', f.expression(node.right));
    } else if (node.kind === 'PropagateExpression') parts.push(f.cursor.next());
    else parts.push(f.cursor.token('.'), f.cursor.next());
  }
  return first;
}

/** The left operand when it belongs to the same chain as `top`; a `?` behind a pipe is part of the chain. */
function leftOperand(node: Expression, top: Expression): Expression | undefined {
  if (top.kind === 'PipeExpression' || isWrappedPipe(top)) {
    if (node.kind === 'PipeExpression') return node.left;
    const isWrapper = node.kind === 'PropagateExpression' || node.kind === 'AwaitExpression';
    return isWrapper && isWrappedPipe(node) ? node.operand : undefined;
  }
  if (node.kind !== 'BinaryExpression' || top.kind !== 'BinaryExpression') return undefined;
  return precedence(node.operator) === precedence(top.operator) ? node.left : undefined;
}

/** `a |> f()?`: the tree has the pipe inside the `?`, without parentheses. */
export function isWrappedPipe(node: Expression): boolean {
  if (node.kind !== 'PropagateExpression' && !(node.kind === 'AwaitExpression' && node.postfix)) return false;
  return node.operand.kind === 'PipeExpression' || isWrappedPipe(node.operand);
}

function precedence(operator: string): number {
  return PRECEDENCE.findIndex((operators) => operators.includes(operator));
}

const PRECEDENCE: readonly (readonly string[])[] = [
  ['??'],
  ['||'],
  ['&&'],
  ['==', '!='],
  ['<', '>', '<=', '>='],
  ['+', '-'],
  ['*', '/', '%'],
  ['**'],
];
