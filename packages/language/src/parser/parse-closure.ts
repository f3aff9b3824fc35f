import type { Expression } from '../syntax/expression.ts';
import type { Parameter } from '../syntax/item.ts';
import type { TypeExpression } from '../syntax/type-expression.ts';
import { looksLikeMap } from './parse-map-and-struct.ts';
import { parseName } from './parse-name.ts';
import { parseClosureParameterType, parseType } from './parse-type.ts';
import type { Parser } from './parser.ts';

export function parseClosure(p: Parser): Expression {
  const { start } = p;
  const parameters = parseClosureParameters(p);
  const { returnType, body } = parseClosureBody(p);
  return { kind: 'ClosureExpression', id: p.newId(), span: p.spanFrom(start), parameters, returnType, body };
}

/** At `|` or `||`. */
export function parseClosureParameters(p: Parser): Parameter[] {
  if (p.eat('||')) return [];
  p.expect('|');
  const parameters: Parameter[] = [];
  while (!p.at('|') && !p.at('EndOfFile')) {
    const before = p.position;
    parameters.push(parseClosureParameter(p));
    if (!p.eat(',') || p.position === before) break;
  }
  if (!p.eat('|')) {
    p.unexpected('expected `|` after the parameters', true);
    p.skipBalanced((kind) => kind === '|' || kind === ';' || kind === ',');
    p.eat('|');
  }
  return parameters;
}

function parseClosureParameter(p: Parser): Parameter {
  const { start } = p;
  const name = parseName(p, 'the name of a parameter');
  const type = p.eat(':') ? parseClosureParameterType(p) : undefined;
  const span = p.spanFrom(start);
  return { kind: 'Parameter', id: p.newId(), span, decorators: [], name, type, defaultValue: undefined };
}

export function parseClosureBody(p: Parser): { returnType: TypeExpression | undefined; body: Expression } {
  const returnType = p.eat('->') ? parseType(p) : undefined;
  return { returnType, body: p.at('{') && !looksLikeMap(p) ? p.block() : p.expression() };
}
