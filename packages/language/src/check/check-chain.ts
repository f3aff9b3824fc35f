import type { Expression } from '../syntax/expression.ts';
import type { NodeId } from '../syntax/node.ts';
import type { Body } from './context.ts';
import { CON, isCon, isDynamic, optionOf, prune, type Type } from './types.ts';

/**
 * `a?.b.c` where an error may leave the function is `(a?).b.c`: `None` leaves. Where nothing may leave, the rest of the
 * chain is left out instead, and the whole is an Option.
 */
export function checkChain(body: Body, node: Expression, check: () => Type): Type {
  const links = linksOf(node) ?? NO_LINKS;
  if (body.chain?.links.has(firstOf(links)) === true) return check();
  const outer = body.chain;
  const chain = { links, isCut: false };
  body.chain = chain;
  const type = check();
  body.chain = outer;
  if (!chain.isCut) return type;
  const known = prune(type);
  body.cx.facts.chains.set(node.id, isDynamic(known) ? 'dynamic' : 'option');
  return isDynamic(known) || isCon(known, CON.Option) ? type : optionOf(type);
}

const NO_LINKS: ReadonlySet<NodeId> = new Set();

/** Is there a `?` that a `.` or `[` follows? */
export function isChain(node: Expression): boolean {
  for (let current = receiverOf(node); current !== undefined; current = receiverOf(current)) {
    if (current.kind === 'PropagateExpression') return true;
  }
  return false;
}

function firstOf(links: ReadonlySet<NodeId>): NodeId {
  const [first = 0] = links;
  return first;
}

/** The `?` that a `.` or `[` follows, on the way down to what the chain begins with. */
function linksOf(node: Expression): ReadonlySet<NodeId> | undefined {
  let links: Set<NodeId> | undefined;
  let current: Expression = node;
  for (;;) {
    const inner = receiverOf(current);
    if (inner === undefined) return links;
    if (inner.kind !== 'PropagateExpression') current = inner;
    else {
      links ??= new Set();
      links.add(inner.id);
      current = inner;
    }
  }
}

function receiverOf(node: Expression): Expression | undefined {
  switch (node.kind) {
    case 'FieldExpression':
    case 'TupleFieldExpression':
    case 'IndexExpression':
    case 'MethodCallExpression':
      return node.receiver;
    case 'PropagateExpression':
      return receiverOf(node.operand) === undefined ? undefined : node.operand;
    default:
      return undefined;
  }
}

/** May this `?` give up on its chain? Only where it could not leave the function. */
export function cutsChain(body: Body, node: Expression): boolean {
  const { fn, chain } = body;
  const mayLeave = fn.failure !== undefined || fn.kind === 'top' || fn.tries.includes(true);
  if (chain === undefined || mayLeave || !chain.links.has(node.id)) return false;
  chain.isCut = true;
  return true;
}
