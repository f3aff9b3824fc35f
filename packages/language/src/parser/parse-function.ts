import type { FunctionItem, GenericParameter, Parameter, SelfParameter } from '../syntax/item.ts';
import type { NamedType } from '../syntax/type-expression.ts';
import { eatInstead } from './foreign-words.ts';
import { type ItemHead, parseDecorators } from './item-head.ts';
import { type Apart, parseParameterPattern, passMut, startsParameterPattern, takeApart } from './parameter-pattern.ts';
import { parseList, parseName } from './parse-name.ts';
import { closeTypeArguments, parseNamedType, parseType } from './parse-type.ts';
import type { Parser } from './parser.ts';

/** With a body, or with `;` where `mayLackBody`. */
export function parseFunction(p: Parser, head: ItemHead, mayLackBody = false): FunctionItem {
  const isAsync = p.eat('async');
  p.expect('fn');
  const name = parseName(p, 'the name of the function');
  const generics = parseGenerics(p);
  const apart: Apart[] = [];
  const { self, parameters } = parseParameters(p, apart);
  const returnType = eatArrow(p) ? parseType(p) : undefined;
  const body = (mayLackBody && !p.at('{')) || p.at(';') ? undefined : takeApart(p, apart, p.block());
  if (body === undefined) endSignature(p, mayLackBody);
  const { start, ...rest } = head;
  return {
    kind: 'FunctionItem',
    id: p.newId(),
    span: p.spanFrom(start),
    ...rest,
    isAsync,
    name,
    generics,
    self,
    parameters,
    returnType,
    body,
    oldSpelling: undefined,
  };
}

function eatArrow(p: Parser): boolean {
  if (p.eat('->')) return true;
  // `def f():` has no result.
  if (p.at(':') && p.newlineBefore(p.position + 1)) return false;
  return eatInstead(p, ':', '->', 'before the result') || passMissingArrow(p);
}

/** `fn half(n: Int) Float {` */
function passMissingArrow(p: Parser): boolean {
  if (!p.at('Identifier') || p.newlineBefore() || !/^[A-Z]/.test(p.text)) return false;
  const { start } = p;
  p.syntaxError('C0100', p.tokenSpan, 'expected `->` before the result', {
    fix: { title: 'write `->`', edits: [{ span: { start, end: start }, text: '-> ' }] },
  });
  return true;
}

function endSignature(p: Parser, mayLackBody: boolean): void {
  if (!mayLackBody) p.unexpected('expected the body of the function');
  // Commas separate what stands in a tool or mcp block.
  if (!p.eat(';') && !p.at(',') && !p.at('}')) p.unexpected('expected `{` or `;` after the signature', true);
}

export function parseGenerics(p: Parser): GenericParameter[] {
  if (!p.eat('<')) return [];
  const generics: GenericParameter[] = [];
  while (!p.at('>') && !p.at('>=') && !p.at('EndOfFile')) {
    const before = p.position;
    generics.push(parseGeneric(p));
    if (!p.eat(',') || p.position === before) break;
  }
  closeTypeArguments(p);
  return generics;
}

function parseGeneric(p: Parser): GenericParameter {
  const { start } = p;
  const name = parseName(p, 'the name of a type parameter');
  const bounds: NamedType[] = [];
  if (p.eat(':') || eatInstead(p, 'extends', ':', 'before the traits')) {
    do {
      if (p.atName()) bounds.push(parseNamedType(p));
      else p.unexpected('expected the name of a trait');
    } while (p.eat('+'));
  }
  return { kind: 'GenericParameter', id: p.newId(), span: p.spanFrom(start), name, bounds };
}

export function parseParameters(
  p: Parser,
  apart?: Apart[],
): { self: SelfParameter | undefined; parameters: Parameter[] } {
  if (!p.expect('(', 'before the parameters')) return { self: undefined, parameters: [] };
  const self = parseSelf(p);
  if (self !== undefined && !p.at(')')) p.expect(',', 'after `self`');
  return { self, parameters: parseList(p, ')', (parser) => parseParameter(parser, apart)) };
}

function parseSelf(p: Parser): SelfParameter | undefined {
  const { start } = p;
  const mutable = p.at('mut') && p.peek(1) === 'self';
  if (!mutable && !p.at('self')) return undefined;
  if (mutable) p.bump();
  p.bump();
  return { kind: 'SelfParameter', id: p.newId(), span: p.spanFrom(start), mutable };
}

/** `a Int`, or `Int a`. */
function missesColon(p: Parser): boolean {
  if (!p.at('Identifier') || p.newlineBefore()) return false;
  p.unexpected('expected `:` between a parameter and its type', false, { help: 'a parameter is written `name: Type`' });
  return true;
}

/** `apart` where what is written as a pattern can be read as one. */
export function parseParameter(p: Parser, apart?: Apart[]): Parameter {
  const { start } = p;
  const decorators = parseDecorators(p);
  if (apart !== undefined && startsParameterPattern(p)) return parseParameterPattern(p, apart, parseType);
  passMut(p);
  const name = parseName(p, 'the name of a parameter');
  const type = p.eat(':') || missesColon(p) ? parseType(p) : undefined;
  const defaultValue = p.eat('=') ? p.freeExpression() : undefined;
  return { kind: 'Parameter', id: p.newId(), span: p.spanFrom(start), decorators, name, type, defaultValue };
}
