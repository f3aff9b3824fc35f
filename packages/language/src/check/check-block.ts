import type { Block, Expression } from '../syntax/expression.ts';
import type { Item } from '../syntax/item.ts';
import type { NodeId } from '../syntax/node.ts';
import type { ExpressionStatement, LetStatement, Statement } from '../syntax/statement.ts';
import { checkFits, inScope, readType } from './body.ts';
import { checkMock } from './check-mock.ts';
import { bindPattern } from './check-pattern.ts';
import { CODE } from './codes.ts';
import type { Body } from './context.ts';
import { declareBlockItems } from './declare-block-items.ts';
import type { Local } from './facts.ts';
import { unsetFrom } from './flow.ts';
import { ANY, CON, freshVar, isCon, isDynamic, NEVER, NIL, prune, type Type } from './types.ts';

/** The value of a block is its tail; a block that leaves early has the type of nothing. */
export function checkBlock(body: Body, node: Block, expected?: Type): Type {
  return inScope(body, () => checkStatements(body, node, expected));
}

/** In the scope that is open: for bodies whose parameters share it. */
export function checkStatements(
  body: Body,
  node: Block,
  expected?: Type,
  checkTail: (tail: Expression) => Type = (tail) => body.check(tail, expected),
): Type {
  const items: Item[] = [];
  for (const statement of node.statements) if (statement.kind === 'ItemStatement') items.push(statement.item);
  const { module, types } = body;
  if (items.length > 0) declareBlockItems(body, items);
  let warned = false;
  for (const statement of node.statements) {
    if (body.diverges && statement.kind !== 'ItemStatement') {
      if (!warned) warnUnreachable(body, statement);
      warned = true;
      // What follows is told once, not again for everything inside it.
      body.diverges = false;
    }
    checkStatement(body, statement);
  }
  let type: Type = NIL;
  if (node.tail !== undefined) {
    if (body.diverges && !warned) warnUnreachable(body, node.tail);
    warned ||= body.diverges;
    body.diverges = false;
    if (body.cx.unused.has(node.id)) type = checkUnusedTail(body, node.tail);
    else type = checkTail(node.tail);
  }
  body.diverges ||= warned;
  body.module = module;
  body.types = types;
  return body.diverges && node.tail === undefined ? NEVER : type;
}

function warnUnreachable(body: Body, node: { readonly span: Expression['span'] }): void {
  body.cx.report.warning(CODE.unreachable, node.span, 'this is never reached');
}

export function checkStatement(body: Body, statement: Statement): void {
  switch (statement.kind) {
    case 'LetStatement':
      checkLet(body, statement);
      return;
    case 'ExpressionStatement':
      checkDiscarded(body, statement);
      return;
    case 'MockStatement':
      checkMock(body, statement);
      return;
    case 'ItemStatement':
      return;
  }
}

function checkLet(body: Body, statement: LetStatement): void {
  const { pattern, initializer } = statement;
  const written = statement.type === undefined ? undefined : readType(body, statement.type);
  let type: Type;
  if (initializer === undefined) type = written ?? freshVar();
  else if (written === undefined) type = bindingType(statement, body.check(initializer));
  else {
    checkFits(body, initializer, {
      type: written,
      what: 'the initialiser',
      ...(statement.type === undefined
        ? {}
        : { label: { span: statement.type.span, message: 'expected because of this' } }),
    });
    type = written;
  }
  const locals = bindPattern(body, pattern, type, { mutable: statement.mutable, purpose: 'let' });
  if (initializer !== undefined) return;
  const unset = locals.filter((local): local is Local => 'owner' in local);
  for (const local of unset) body.cx.uninitialized.set(local, 'new');
  unsetFrom(body, unset);
}

/** A `mut` variable that starts as nil may hold anything later. */
function bindingType(statement: LetStatement, type: Type): Type {
  const known = prune(type);
  if (statement.mutable && isCon(known, CON.Nil)) return ANY;
  return known.kind === 'never' ? ANY : type;
}

function checkDiscarded(body: Body, statement: ExpressionStatement): void {
  const { expression } = statement;
  // Its value is nobody's: the branches of an `if` need not agree.
  body.cx.unused.add(expression.id);
  dropValue(body, expression, body.check(expression), statement.id);
}

function checkUnusedTail(body: Body, tail: Expression): Type {
  body.cx.unused.add(tail.id);
  const type = body.check(tail);
  dropValue(body, tail, type, tail.id);
  return prune(type).kind === 'never' ? type : NIL;
}

/** Inside a `try` a dropped `Err` is raised; elsewhere it would go unnoticed. */
function dropValue(body: Body, node: Expression, type: Type, id: NodeId): void {
  const known = prune(type);
  const inTry = body.fn.tries.length > 0;
  if (isCon(known, CON.Result)) {
    if (inTry) body.cx.facts.raisedWhenErr.add(id);
    else warnDiscarded(body, node);
  } else if (inTry && isDynamic(known)) body.cx.facts.raisedWhenErr.add(id);
}

function warnDiscarded(body: Body, node: Expression): void {
  if (node.kind === 'AssignExpression' || node.kind === 'ListenExpression') return;
  body.cx.report.warning(CODE.discardedResult, node.span, 'this `Result` is not used, so an error would go unnoticed', {
    help: 'use `?`, `match` or `unwrap`, or write `let _ = …`',
  });
}
