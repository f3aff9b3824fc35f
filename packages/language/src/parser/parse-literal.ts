import type { LiteralExpression } from '../syntax/pattern.ts';
import type { Parser } from './parser.ts';

/** At a number, a string without interpolation, `true`, `false` or `nil`. */
export function parseLiteral(p: Parser): LiteralExpression {
  const id = p.newId();
  const span = p.tokenSpan;
  const index = p.position;
  const { kind } = p;
  p.bump();
  switch (kind) {
    case 'Int':
      return { kind: 'IntLiteral', id, span, value: p.tokens.numbers.get(index) ?? 0 };
    case 'Float':
      return { kind: 'FloatLiteral', id, span, value: p.tokens.numbers.get(index) ?? 0 };
    case 'String':
      return { kind: 'StringLiteral', id, span, value: p.tokens.texts.get(index) ?? '' };
    case 'true':
      return { kind: 'BoolLiteral', id, span, value: true };
    case 'false':
      return { kind: 'BoolLiteral', id, span, value: false };
    default:
      return { kind: 'NilLiteral', id, span };
  }
}
