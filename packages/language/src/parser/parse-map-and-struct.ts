import type { Expression, FieldInitializer, MapEntry } from '../syntax/expression.ts';
import type { Name, Path } from '../syntax/node.ts';
import type { TypeExpression } from '../syntax/type-expression.ts';
import { parseAnyName, takeName } from './parse-name.ts';
import type { Parser } from './parser.ts';

/** At `{`: a key and a colon follow. `{}` is for the caller to decide. */
export function looksLikeMap(p: Parser): boolean {
  if (p.peek(1) === 'String' || p.nameAt(1)) return p.peek(2) === ':';
  if (p.peek(1) !== 'InterpolationStart' && p.peek(1) !== '[') return false;
  const end = p.closingAfter(p.position + 1);
  return end !== undefined && p.tokens.kinds[end] === ':';
}

/** At the token after a name: `{` that opens the fields of a struct literal. */
export function looksLikeStruct(p: Parser): boolean {
  if (!p.at('{') || p.inHead) return false;
  const next = p.peek(1);
  if (next === '}' || next === '..') return true;
  const after = p.peek(2);
  return p.nameAt(1) && (after === ':' || after === ',' || after === '}');
}

export function parseMap(p: Parser): Expression {
  const { start } = p;
  const entries = p.within({ inHead: false, inArm: false }, () => parseBraced(p, parseMapEntry));
  return { kind: 'MapExpression', id: p.newId(), span: p.spanFrom(start), entries };
}

/** At `{`; the commas between the elements may be missing at the ends of lines. */
function parseBraced<T>(p: Parser, parseElement: (parser: Parser) => T | undefined): T[] {
  p.bump();
  const elements: T[] = [];
  while (!p.at('}') && !p.at('EndOfFile')) {
    const before = p.position;
    const element = parseElement(p);
    if (element !== undefined) elements.push(element);
    if (p.eat(',') || p.at('}')) continue;
    if (element !== undefined && p.newlineBefore() && (p.nameAt(0) || p.at('String'))) continue;
    p.unexpected('expected `,` or `}`', true);
    p.skipBalanced((kind) => kind === ',' || kind === ';');
    if (p.at(';')) break;
    p.eat(',');
    if (p.position === before) break;
  }
  if (!p.eat('}')) p.unexpected('expected `}`', true);
  return elements;
}

function parseMapEntry(p: Parser): MapEntry | undefined {
  const { start } = p;
  const { key, keyForm } = parseMapKey(p);
  if (key === undefined) return undefined;
  p.expect(':', 'after the key');
  const value = p.expression();
  return { kind: 'MapEntry', id: p.newId(), span: p.spanFrom(start), key, keyForm, value };
}

function parseMapKey(p: Parser): { key: Expression | undefined; keyForm: MapEntry['keyForm'] } {
  if (p.at('String') || p.at('InterpolationStart')) return { key: p.expression(), keyForm: 'string' };
  if (p.eat('[')) {
    const key = p.freeExpression();
    p.expect(']', 'after the computed key');
    return { key, keyForm: 'computed' };
  }
  if (p.atName()) {
    const name = takeName(p);
    return { key: { kind: 'StringLiteral', id: name.id, span: name.span, value: name.text }, keyForm: 'name' };
  }
  p.unexpected('expected a key: a string, a name or `[expression]`');
  return { key: undefined, keyForm: 'string' };
}

/** At `{`. */
export function parseStructRest(
  p: Parser,
  head: { start: number; path: Path; typeArguments: readonly TypeExpression[] },
): Expression {
  const { start, path, typeArguments } = head;
  let base: Expression | undefined;
  const fields = p.within({ inHead: false, inArm: false }, () =>
    parseBraced(p, (parser): FieldInitializer | undefined => {
      if (!parser.eat('..')) return parseField(parser);
      base = parser.expression();
      return undefined;
    }),
  );
  return { kind: 'StructExpression', id: p.newId(), span: p.spanFrom(start), path, typeArguments, fields, base };
}

function parseField(p: Parser): FieldInitializer | undefined {
  const { start } = p;
  if (!p.atName()) {
    p.unexpected('expected a field name');
    return undefined;
  }
  const name = parseAnyName(p, 'a field name');
  if (p.eat(':')) {
    const value = p.expression();
    return { kind: 'FieldInitializer', id: p.newId(), span: p.spanFrom(start), name, value, shorthand: false };
  }
  const own: Name = { ...name, id: p.newId() };
  const value: Expression = { kind: 'NameExpression', id: p.newId(), span: name.span, name: own };
  return { kind: 'FieldInitializer', id: p.newId(), span: name.span, name, value, shorthand: true };
}
