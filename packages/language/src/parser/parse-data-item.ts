import type { EnumVariant, FieldDeclaration, FunctionItem, Item, VariantPayload } from '../syntax/item.ts';
import type { NamedType } from '../syntax/type-expression.ts';
import { type ItemHead, parseItemHead } from './item-head.ts';
import { closeBraces, endsBraces, opensBraces } from './item-start.ts';
import { parseFunction, parseGenerics } from './parse-function.ts';
import { missingName, parseAnyName, parseList, parseName } from './parse-name.ts';
import { parseNamedType, parseNamedTypeRest, parseType } from './parse-type.ts';
import type { Parser } from './parser.ts';

export function parseStruct(p: Parser, head: ItemHead): Item {
  return parseRecord(p, head, 'StructItem');
}

export function parseSchema(p: Parser, head: ItemHead): Item {
  return parseRecord(p, head, 'SchemaItem');
}

function parseRecord(p: Parser, head: ItemHead, kind: 'StructItem' | 'SchemaItem'): Item {
  p.bump();
  const name = parseName(p, `the name of the ${kind === 'StructItem' ? 'struct' : 'schema'}`);
  const generics = parseGenerics(p);
  const fields = parseFields(p);
  const { start, ...rest } = head;
  return { kind, id: p.newId(), span: p.spanFrom(start), ...rest, name, generics, fields };
}

function parseFields(p: Parser): FieldDeclaration[] {
  return parseMembers(p, (head) => (p.atName() ? parseField(p, head) : undefined), 'a field');
}

/**
 * `{ member … }` with optional commas. Where no member begins, everything up to the next comma or brace is
 * passed over.
 */
export function parseMembers<T>(p: Parser, parseMember: (head: ItemHead) => T | undefined, what: string): T[] {
  const members: T[] = [];
  const open = p.start;
  if (!opensBraces(p)) return members;
  while (!endsBraces(p)) {
    const before = p.position;
    const member = p.within({ inHead: false, inArm: false }, () => parseMember(parseItemHead(p)));
    if (member !== undefined) members.push(member);
    else {
      p.unexpected(`expected ${what} or \`}\``);
      if (p.at('}')) break;
      p.skipBalanced((kind) => kind === ',' || kind === ';' || kind === 'fn' || kind === '@');
      p.eat(';');
    }
    if (!p.eat(',') && p.at(';')) reportSemicolon(p);
    if (p.position === before) p.bump();
  }
  closeBraces(p, open);
  return members;
}

function reportSemicolon(p: Parser): void {
  const span = p.tokenSpan;
  p.syntaxError('C0100', span, 'a comma stands here, or nothing', {
    fix: { title: 'write `,`', edits: [{ span, text: ',' }] },
  });
  p.bump();
}

/** The head is read. */
export function parseField(p: Parser, head: ItemHead): FieldDeclaration {
  const name = parseAnyName(p, 'a field name');
  const optional = p.eat('?');
  p.expect(':', `after the field \`${name.text}\``);
  const type = parseType(p);
  const defaultValue = p.eat('=') ? p.freeExpression() : undefined;
  const { start, ...rest } = head;
  const span = p.spanFrom(start);
  return { kind: 'FieldDeclaration', id: p.newId(), span, ...rest, name, optional, type, defaultValue };
}

export function parseEnum(p: Parser, head: ItemHead): Item {
  p.bump();
  const name = parseName(p, 'the name of the enum');
  const generics = parseGenerics(p);
  const variants = parseMembers(p, (own) => (p.atName() ? parseVariant(p, own) : undefined), 'a variant');
  const { start, ...rest } = head;
  return { kind: 'EnumItem', id: p.newId(), span: p.spanFrom(start), ...rest, name, generics, variants };
}

function parseVariant(p: Parser, head: ItemHead): EnumVariant {
  const name = parseAnyName(p, 'the name of a variant');
  const payload = parsePayload(p);
  const { start, ...rest } = head;
  return { kind: 'EnumVariant', id: p.newId(), span: p.spanFrom(start), ...rest, name, payload };
}

function parsePayload(p: Parser): VariantPayload {
  if (p.eat('(')) return { kind: 'TuplePayload', types: parseList(p, ')', parseType) };
  if (p.at('{')) return { kind: 'StructPayload', fields: parseFields(p) };
  return { kind: 'UnitPayload' };
}

export function parseTrait(p: Parser, head: ItemHead): Item {
  p.bump();
  const name = parseName(p, 'the name of the trait');
  const generics = parseGenerics(p);
  const methods = parseMethods(p, true);
  const { start, ...rest } = head;
  return { kind: 'TraitItem', id: p.newId(), span: p.spanFrom(start), ...rest, name, generics, methods };
}

export function parseImpl(p: Parser, head: ItemHead): Item {
  p.bump();
  const generics = parseGenerics(p);
  const first = parseTypeName(p, 'a type or a trait after `impl`');
  const isTrait = p.eat('for');
  const target = isTrait ? parseTypeName(p, 'a type after `for`') : first;
  const methods = parseMethods(p, false);
  const { start, ...rest } = head;
  const trait = isTrait ? first : undefined;
  return { kind: 'ImplItem', id: p.newId(), span: p.spanFrom(start), ...rest, generics, trait, target, methods };
}

function parseTypeName(p: Parser, what: string): NamedType {
  return p.atName() && !p.at('for') ? parseNamedType(p) : parseNamedTypeRest(p, missingName(p, what));
}

function parseMethods(p: Parser, mayLackBody: boolean): FunctionItem[] {
  return parseMembers(
    p,
    (head) => (p.at('fn') || p.at('async') ? parseFunction(p, head, mayLackBody) : undefined),
    'a method',
  );
}
