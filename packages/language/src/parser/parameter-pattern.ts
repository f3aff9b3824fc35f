import type { Block, Expression } from '../syntax/expression.ts';
import type { Parameter } from '../syntax/item.ts';
import type { Name } from '../syntax/node.ts';
import type { Pattern } from '../syntax/pattern.ts';
import type { LetStatement } from '../syntax/statement.ts';
import type { TypeExpression } from '../syntax/type-expression.ts';
import { parsePatternBeforeBar } from './parse-pattern.ts';
import type { Parser } from './parser.ts';

/** A parameter that is written as a pattern, and the pattern. */
export interface Apart {
  readonly name: Name;
  readonly pattern: Pattern;
}

export function startsParameterPattern(p: Parser): boolean {
  return p.at('(') || p.at('[') || (p.at('Identifier') && p.peek(1) === '{');
}

/**
 * `|(i, x)| …`, as people write who know it from other languages: one error. It is read as the `let` that is meant, so that
 * nothing else is wrong with its variables.
 */
export function parseParameterPattern(p: Parser, apart: Apart[], parseType: (p: Parser) => TypeExpression): Parameter {
  const { start } = p;
  const errors = p.diagnostics.length;
  const pattern = parsePatternBeforeBar(p);
  const span = p.spanFrom(start);
  // No program can name it.
  const name: Name = { kind: 'Name', id: p.newId(), span, text: p.file.text.slice(span.start, span.end) };
  if (p.diagnostics.length === errors) {
    p.report('C0100', span, 'a parameter is a name, not a pattern', {
      help: `take it apart inside: \`let ${name.text} = …;\``,
    });
  }
  apart.push({ name, pattern });
  const type = p.eat(':') ? parseType(p) : undefined;
  const whole = p.spanFrom(start);
  return { kind: 'Parameter', id: p.newId(), span: whole, decorators: [], name, type, defaultValue: undefined };
}

export function takeApart(p: Parser, apart: readonly Apart[], body: Block): Block;
export function takeApart(p: Parser, apart: readonly Apart[], body: Expression): Expression;
export function takeApart(p: Parser, apart: readonly Apart[], body: Expression): Expression {
  if (apart.length === 0) return body;
  const statements = apart.map(({ name, pattern }): LetStatement => {
    const initializer = { kind: 'NameExpression', id: p.newId(), span: name.span, name } as const;
    return {
      kind: 'LetStatement',
      id: p.newId(),
      span: name.span,
      mutable: false,
      pattern,
      type: undefined,
      initializer,
    };
  });
  return { kind: 'Block', id: p.newId(), span: body.span, statements, tail: body };
}

/** `mut x`: parameters need no `mut`. */
export function passMut(p: Parser): void {
  if (!p.at('mut') || !p.nameAt(1)) return;
  const span = { start: p.start, end: p.tokens.starts[p.position + 1] ?? p.start };
  p.syntaxError('C0100', p.tokenSpan, 'a parameter needs no `mut`', {
    help: 'parameters may be assigned',
    fix: { title: 'remove `mut`', edits: [{ span, text: '' }] },
  });
  p.bump();
}
