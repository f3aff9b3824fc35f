import type { Expression } from '../syntax/expression.ts';
import type { Parameter } from '../syntax/item.ts';
import type { TypeExpression } from '../syntax/type-expression.ts';
import { startsArrowFunction } from './foreign-words.ts';
import { type Apart, parseParameterPattern, passMut, startsParameterPattern, takeApart } from './parameter-pattern.ts';
import { looksLikeMap } from './parse-map-and-struct.ts';
import { parseName } from './parse-name.ts';
import { parseClosureParameterType, parseType } from './parse-type.ts';
import type { Parser } from './parser.ts';

export function parseClosure(p: Parser): Expression {
  const { start } = p;
  const apart: Apart[] = [];
  const parameters = parseClosureParameters(p, apart);
  const { returnType, body } = parseClosureBody(p, apart);
  return { kind: 'ClosureExpression', id: p.newId(), span: p.spanFrom(start), parameters, returnType, body };
}

/** At `|` or `||`, or at what other languages write instead, which is read to its end so that it is one error. */
export function parseClosureParameters(p: Parser, apart: Apart[]): Parameter[] {
  if (startsArrowFunction(p)) return parseArrowParameters(p, apart);
  if (p.eat('||')) return [];
  p.expect('|');
  const parameters = parseParametersUntil(p, '|', apart);
  if (!p.eat('|')) {
    p.unexpected('expected `|` after the parameters', true);
    p.skipBalanced((kind) => kind === '|' || kind === ';' || kind === ',');
    p.eat('|');
  }
  return parameters;
}

function parseParametersUntil(p: Parser, end: '|' | ')', apart: Apart[]): Parameter[] {
  const parameters: Parameter[] = [];
  while (!p.at(end) && !p.at('EndOfFile')) {
    const before = p.position;
    parameters.push(parseClosureParameter(p, apart));
    if (!p.eat(',') || p.position === before) break;
  }
  return parameters;
}

/** At `(a, b) =>` or `a =>`. */
function parseArrowParameters(p: Parser, apart: Apart[]): Parameter[] {
  const { start, position } = p;
  const isList = p.at('(');
  const arrow = isList ? (p.closingAfter(position) ?? position) : position + 1;
  const span = { start, end: p.tokens.ends[arrow] ?? start };
  const inside = isList ? { start: start + 1, end: p.tokens.starts[arrow - 1] ?? start } : p.tokenSpan;
  const written = `|${p.file.text.slice(inside.start, inside.end).trim()}|`;
  p.syntaxError('C0101', span, `the parameters of a closure stand between \`|\`, without \`${p.textAt(arrow)}\``, {
    help: `write \`${written} …\``,
    fix: { title: `write \`${written}\``, edits: [{ span, text: written }] },
  });
  if (isList) p.bump();
  const parameters = isList ? parseParametersUntil(p, ')', apart) : [parseClosureParameter(p, apart)];
  p.position = arrow + 1;
  return parameters;
}

/** `|x| => x + 1`. */
function passArrow(p: Parser): void {
  if (!p.at('=>')) return;
  const span = p.tokenSpan;
  p.syntaxError('C0101', span, 'the body of a closure stands behind its parameters, without `=>`', {
    fix: { title: 'remove `=>`', edits: [{ span, text: '' }] },
  });
  p.bump();
}

function parseClosureParameter(p: Parser, apart: Apart[]): Parameter {
  const { start } = p;
  if (startsParameterPattern(p)) return parseParameterPattern(p, apart, parseClosureParameterType);
  passMut(p);
  const name = parseName(p, 'the name of a parameter');
  const type = p.eat(':') ? parseClosureParameterType(p) : undefined;
  const span = p.spanFrom(start);
  return { kind: 'Parameter', id: p.newId(), span, decorators: [], name, type, defaultValue: undefined };
}

export function parseClosureBody(
  p: Parser,
  apart: readonly Apart[],
): { returnType: TypeExpression | undefined; body: Expression } {
  passArrow(p);
  const returnType = p.eat('->') ? parseType(p) : undefined;
  const body = p.at('{') && !looksLikeMap(p) ? p.block() : p.expression();
  return { returnType, body: takeApart(p, apart, body) };
}
