import type { TokenKind } from '../lexer/token.ts';
import type { Argument, Expression } from '../syntax/expression.ts';
import type { TypeExpression } from '../syntax/type-expression.ts';
import { canStartExpression } from './expression-start.ts';
import { parseMacroOrForce, startsChoice, startsMacroOrForce } from './foreign-phrases.ts';
import { startsArrowFunction } from './foreign-words.ts';
import { parseClosure } from './parse-closure.ts';
import { parseAnyName, parseList, takeName } from './parse-name.ts';
import { parseTypeArguments, typeArgumentsEnd } from './parse-type.ts';
import type { Parser } from './parser.ts';

/** Calls, fields, indexes, `?` and `.await` after an expression. */
export function parsePostfix(p: Parser, first: Expression): Expression {
  let left = first;
  for (;;) {
    const next = parsePostfixStep(p, left);
    if (next === undefined) return left;
    p.links++;
    left = next;
  }
}

function parsePostfixStep(p: Parser, left: Expression): Expression | undefined {
  const { start } = left.span;
  switch (p.kind) {
    case '(':
      return startsNextArm(p) ? undefined : callExpression(p, left, []);
    case '[':
      return startsNextArm(p) ? undefined : indexExpression(p, left);
    case '.':
      return parseDot(p, left);
    case '!':
      return startsMacroOrForce(p, left) ? parseMacroOrForce(p, left) : undefined;
    case '?':
      if (startsChoice(p)) return undefined;
      p.bump();
      return { kind: 'PropagateExpression', id: p.newId(), span: p.spanFrom(start), operand: left };
    case '??':
      return canStartExpression(p.peek(1)) && !isPostfixOnly(p.peek(1)) ? undefined : doublePropagate(p, left);
    case '<':
      return canTakeTypeArguments(left) && callFollowsTypes(p)
        ? callExpression(p, left, parseTypeArguments(p))
        : undefined;
    default:
      return undefined;
  }
}

function isPostfixOnly(kind: TokenKind): boolean {
  return kind === '..' || kind === '..=';
}

/** `f()??;` is two `?`, because nothing follows for a `??` to fall back to. */
function doublePropagate(p: Parser, left: Expression): Expression {
  const { start } = left.span;
  const middle = p.start + 1;
  const inner: Expression = { kind: 'PropagateExpression', id: p.newId(), span: { start, end: middle }, operand: left };
  p.bump();
  return { kind: 'PropagateExpression', id: p.newId(), span: p.spanFrom(start), operand: inner };
}

function canTakeTypeArguments(left: Expression): boolean {
  return left.kind === 'NameExpression' || left.kind === 'PathExpression';
}

/** At `<`: a balanced list of types and then `(`. Otherwise it is a comparison. */
function callFollowsTypes(p: Parser): boolean {
  const end = typeArgumentsEnd(p);
  return end !== undefined && p.tokens.kinds[end] === '(';
}

function callExpression(p: Parser, callee: Expression, typeArguments: readonly TypeExpression[]): Expression {
  const args = parseArguments(p);
  const span = p.spanFrom(callee.span.start);
  return { kind: 'CallExpression', id: p.newId(), span, callee, typeArguments, arguments: args };
}

/** At `(`. */
export function parseArguments(p: Parser): Argument[] {
  if (!p.expect('(')) return [];
  return p.within({ inHead: false, inArm: false }, () => parseList(p, ')', parseArgument));
}

function parseArgument(p: Parser): Argument {
  const { start } = p;
  const label = p.atName() && p.peek(1) === ':' ? takeName(p) : undefined;
  if (label !== undefined) p.bump();
  const value = startsArrowFunction(p) ? parseClosure(p) : p.expression();
  return { kind: 'Argument', id: p.newId(), span: p.spanFrom(start), label, value };
}

function indexExpression(p: Parser, receiver: Expression): Expression {
  p.bump();
  const index = p.freeExpression();
  if (p.at(':')) reportSliceColon(p);
  p.expect(']', 'after the index');
  return { kind: 'IndexExpression', id: p.newId(), span: p.spanFrom(receiver.span.start), receiver, index };
}

/** `xs[1:2]`. */
function reportSliceColon(p: Parser): void {
  const span = p.tokenSpan;
  p.syntaxError('C0100', span, 'a part of a list or text is taken with a range', {
    help: 'write `xs[from..to]`',
    fix: { title: 'write `..`', edits: [{ span, text: '..' }] },
  });
  p.bump();
  if (!p.at(']')) p.freeExpression();
}

function parseDot(p: Parser, receiver: Expression): Expression {
  const { start } = receiver.span;
  p.bump();
  if (p.at('await') && p.peek(1) !== '(') {
    p.bump();
    return { kind: 'AwaitExpression', id: p.newId(), span: p.spanFrom(start), operand: receiver, postfix: true };
  }
  if (p.at('Int')) {
    const index = p.tokens.numbers.get(p.position) ?? 0;
    p.bump();
    return { kind: 'TupleFieldExpression', id: p.newId(), span: p.spanFrom(start), receiver, index };
  }
  const name = parseAnyName(p, 'a name after `.`', 'C0103');
  const typeArguments = p.at('<') && callFollowsTypes(p) ? parseTypeArguments(p) : [];
  if (!p.at('(') || startsNextArm(p)) {
    return { kind: 'FieldExpression', id: p.newId(), span: p.spanFrom(start), receiver, name };
  }
  const args = parseArguments(p);
  const span = p.spanFrom(start);
  return { kind: 'MethodCallExpression', id: p.newId(), span, receiver, method: name, typeArguments, arguments: args };
}

/** In a match without commas a bracket on a new line may open the next pattern. */
function startsNextArm(p: Parser): boolean {
  if (!p.inArm || !p.newlineBefore()) return false;
  const end = p.closingAfter(p.position);
  if (end === undefined) return false;
  const after = p.tokens.kinds[end];
  return after === '=>' || after === 'if' || after === '|';
}
