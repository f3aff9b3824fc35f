import type { Expression } from '../syntax/expression.ts';
import { type Doc, group, indent, softline } from './doc.ts';
import { formatArguments, formatTypeArguments } from './format-arguments.ts';
import { isWrappedPipe } from './format-operators.ts';
import type { Formatter } from './formatter.ts';

/** From two method calls on, each begins its own line when the chain does not fit. */
const MIN_CALLS_TO_BREAK = 2;

/** `a.b().c()?[0]`. Not recursive along the chain, which may be long. */
export function formatChain(f: Formatter, top: Expression): Doc {
  const links: Expression[] = [];
  let root = top;
  for (let next = receiverOf(root); next !== undefined; next = receiverOf(root)) {
    links.push(root);
    root = next;
  }
  const calls = links.filter((link) => link.kind === 'MethodCallExpression').length;
  const breaks = calls >= MIN_CALLS_TO_BREAK;
  const docs: Doc[] = [f.expression(root)];
  // `42 .2` asks 42 for a field; `42.2` is another number.
  if (root.kind === 'IntLiteral' && links.at(-1)?.kind === 'TupleFieldExpression') docs.push(' ');
  const tail: Doc[] = [];
  for (const link of links.reverse()) {
    if (breaks && link.kind === 'MethodCallExpression') tail.push(softline);
    (breaks ? tail : docs).push(formatLink(f, link));
  }
  return breaks ? group([docs, indent(tail)]) : docs;
}

function receiverOf(e: Expression): Expression | undefined {
  switch (e.kind) {
    case 'CallExpression':
      return e.callee;
    case 'MethodCallExpression':
    case 'FieldExpression':
    case 'TupleFieldExpression':
    case 'IndexExpression':
      return e.receiver;
    case 'PropagateExpression':
      return isWrappedPipe(e) ? undefined : e.operand;
    case 'AwaitExpression':
      return e.postfix && !isWrappedPipe(e) ? e.operand : undefined;
    default:
      return undefined;
  }
}

/** What the link adds behind its receiver. */
function formatLink(f: Formatter, e: Expression): Doc {
  const { cursor } = f;
  switch (e.kind) {
    case 'CallExpression':
      return [formatTypeArguments(f, e.typeArguments), formatArguments(f, e.arguments)];
    case 'MethodCallExpression':
      return [
        cursor.token('.'),
        cursor.next(),
        formatTypeArguments(f, e.typeArguments),
        formatArguments(f, e.arguments),
      ];
    case 'FieldExpression':
    case 'TupleFieldExpression':
    case 'AwaitExpression':
      return [cursor.token('.'), cursor.next()];
    case 'IndexExpression':
      return f.enclosed('[', ']', () => f.expression(e.index));
    case 'PropagateExpression':
      // The lexer reads `f()??` as one token; the outer of the two prints it.
      return cursor.at('??') && e.span.end === cursor.start + 1 ? '' : cursor.next();
    default:
      return '';
  }
}
