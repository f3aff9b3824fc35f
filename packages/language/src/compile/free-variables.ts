import type { Facts, Local } from '../check/facts.ts';
import type { Program } from '../modules/program.ts';

interface AnyNode {
  readonly kind: string;
  readonly id?: number;
}

function isNode(candidate: unknown): candidate is AnyNode {
  return typeof candidate === 'object' && candidate !== null && 'kind' in candidate;
}

/** Calls `visit` for a node and all below it, until `visit` says not to go deeper. */
function walk(root: unknown, visit: (node: AnyNode) => boolean | undefined): void {
  if (Array.isArray(root)) {
    for (const item of root) walk(item, visit);
    return;
  }
  if (!isNode(root)) return;
  if (visit(root) === false) return;
  for (const child of Object.values(root)) if (typeof child === 'object') walk(child, visit);
}

/** Variables used below a node that are declared outside of it, in the order of first use. */
export function freeVariables(facts: Facts, root: unknown): Local[] {
  const own = new Set<Local>();
  const used = new Set<Local>();
  walk(root, (node) => {
    if (node.id === undefined) return undefined;
    const declared = facts.locals.get(node.id);
    if (declared !== undefined) own.add(declared);
    const resolved = facts.names.get(node.id);
    if (resolved?.kind === 'local') used.add(resolved.local);
    return undefined;
  });
  return [...used].filter((local) => !own.has(local));
}

const THROWS: ReadonlySet<string> = new Set(['ThrowExpression', 'PropagateExpression']);
const LEAVES: ReadonlySet<string> = new Set([...THROWS, 'ReturnExpression', 'BreakExpression', 'ContinueExpression']);

/** `throw` or `?` that would leave the function this is part of. */
export function mayThrow(root: unknown): boolean {
  return contains(root, THROWS);
}

/** As `mayThrow`, or a jump to somewhere around it. */
export function mayLeave(root: unknown): boolean {
  return contains(root, LEAVES);
}

function contains(root: unknown, kinds: ReadonlySet<string>): boolean {
  let found = false;
  walk(root, (node) => {
    found ||= kinds.has(node.kind);
    return !found && node.kind !== 'ClosureExpression' && node.kind !== 'ListenHandler' && node.kind !== 'FunctionItem';
  });
  return found;
}

/**
 * The bodies of `parallel for` and what `await (…)` and `race` start run as fibers: they share variables with the code
 * around them as closures do.
 */
export function captureForFibers(facts: Facts, program: Program): void {
  for (const { tree, source } of program.files.values()) {
    // Looking at every node takes as long as compiling it.
    if (!/\b(?:parallel|race|await)\b/.test(source.text)) continue;
    walk(tree, (node) => {
      for (const fiber of fibersOf(node)) for (const local of freeVariables(facts, fiber)) local.captured = true;
      return undefined;
    });
  }
}

function fibersOf(node: AnyNode): unknown[] {
  if (node.kind === 'ForExpression' && 'parallel' in node && node.parallel === true && 'body' in node)
    return [node.body];
  if (node.kind === 'RaceExpression' && 'contenders' in node) return [node.contenders];
  if (node.kind === 'AwaitExpression' && 'operand' in node) {
    let { operand } = node;
    while (isNode(operand) && operand.kind === 'ParenExpression' && 'expression' in operand)
      operand = operand.expression;
    return isNode(operand) && operand.kind === 'TupleExpression' ? [operand] : [];
  }
  return [];
}
