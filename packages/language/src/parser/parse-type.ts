import type { Name } from '../syntax/node.ts';
import type { NamedType, TypeExpression } from '../syntax/type-expression.ts';
import { parseList, parsePathRest, takeName } from './parse-name.ts';
import type { Parser } from './parser.ts';

export function parseType(p: Parser): TypeExpression {
  return p.nested(parseFreeUnion, errorType);
}

/** Between the bars of a closure, where `|` ends the type unless it joins two string literals. */
export function parseClosureParameterType(p: Parser): TypeExpression {
  return p.nested(parseClosureUnion, errorType);
}

const SCALARS: ReadonlySet<string> = new Set(['Int', 'Float', 'String', 'Bool', 'Nil', 'Any']);

/** After `as`, where the `<` of `x as Int < n` compares: a scalar takes no type arguments. */
export function parseCastType(p: Parser): TypeExpression {
  if (p.peek(1) !== '<' || !SCALARS.has(p.text)) return parseType(p);
  const name = takeName(p);
  return { kind: 'NamedType', id: p.newId(), span: name.span, path: parsePathRest(p, name), arguments: [] };
}

function parseFreeUnion(p: Parser): TypeExpression {
  return parseUnion(p, false);
}

function parseClosureUnion(p: Parser): TypeExpression {
  return parseUnion(p, true);
}

function parseUnion(p: Parser, inClosure: boolean): TypeExpression {
  const { start } = p;
  const first = parseSingleType(p);
  if (!p.at('|')) return first;
  const members = [first];
  while (p.at('|') && (!inClosure || joinsStrings(p, first))) {
    p.bump();
    const member = parseSingleType(p);
    if (member.kind === 'UnionType') members.push(...member.members);
    else members.push(member);
  }
  if (members.length === 1) return first;
  const flat = members.flatMap((member) => (member.kind === 'UnionType' ? member.members : [member]));
  return { kind: 'UnionType', id: p.newId(), span: p.spanFrom(start), members: flat };
}

/** In `|x: "a" | "b"| x` the first bar joins; in `|x: "a"| "b"` it ends the parameters. */
function joinsStrings(p: Parser, first: TypeExpression): boolean {
  const after = p.peek(2);
  return first.kind === 'StringLiteralType' && p.peek(1) === 'String' && (after === '|' || after === ',');
}

function parseSingleType(p: Parser): TypeExpression {
  let type = parseBareType(p);
  for (let depth = 0; depth < MAX_BRACKETS && startsBrackets(p) && type.kind !== 'ErrorType'; depth++) {
    type = parseBracketsBehind(p, type);
  }
  if (!p.at('?') || type.kind === 'ErrorType') return type;
  const written = p.file.text.slice(type.span.start, type.span.end);
  const span = { start: type.span.start, end: p.tokenSpan.end };
  p.syntaxError('C0100', span, 'a type has no `?`', {
    help: `write \`Option<${written}>\``,
    fix: { title: 'use Option', edits: [{ span, text: `Option<${written}>` }] },
  });
  p.bump();
  return type;
}

/** Levels of what is written wrongly anyway. */
const MAX_BRACKETS = 8;

function startsBrackets(p: Parser): boolean {
  return p.at('[') && p.peek(1) === ']';
}

/** `Int[]` of TypeScript. */
function parseBracketsBehind(p: Parser, element: TypeExpression): TypeExpression {
  const { start } = element.span;
  p.position += 2;
  const span = p.spanFrom(start);
  const text = `Array<${p.file.text.slice(start, element.span.end)}>`;
  p.report('C0100', span, 'an array type is written `Array<T>`', {
    help: `write \`${text}\``,
    fix: { title: `write \`${text}\``, edits: [{ span, text }] },
  });
  const name = { kind: 'Name', id: p.newId(), span, text: 'Array' } as const;
  const path = { kind: 'Path', id: p.newId(), span, segments: [name] } as const;
  return { kind: 'NamedType', id: p.newId(), span, path, arguments: [element] };
}

function parseBareType(p: Parser): TypeExpression {
  switch (p.kind) {
    case 'String':
      return parseStringType(p);
    case '(':
      return parseTupleType(p);
    case 'fn':
      return parseFunctionType(p);
    case '[':
      return parseBracketType(p);
    default:
      return p.atName() ? parseNamedType(p) : reportMissingType(p);
  }
}

function reportMissingType(p: Parser): TypeExpression {
  p.unexpected('expected a type');
  return errorType(p);
}

function errorType(p: Parser): TypeExpression {
  const { start } = p;
  return { kind: 'ErrorType', id: p.newId(), span: { start, end: start } };
}

function parseStringType(p: Parser): TypeExpression {
  const value = p.tokens.texts.get(p.position) ?? '';
  const span = p.tokenSpan;
  p.bump();
  return { kind: 'StringLiteralType', id: p.newId(), span, value };
}

function parseTupleType(p: Parser): TypeExpression {
  const { start } = p;
  p.bump();
  const elements = parseList(p, ')', parseType);
  const only = elements[0];
  if (elements.length === 1 && only !== undefined) return { ...only, span: p.spanFrom(start) };
  return { kind: 'TupleType', id: p.newId(), span: p.spanFrom(start), elements };
}

function parseFunctionType(p: Parser): TypeExpression {
  const { start } = p;
  p.bump();
  const parameters = p.expect('(', 'after `fn` in a type') ? parseList(p, ')', parseType) : [];
  const result = p.eat('->') ? p.nested(parseSingleType, errorType) : undefined;
  return { kind: 'FunctionType', id: p.newId(), span: p.spanFrom(start), parameters, result };
}

function parseBracketType(p: Parser): TypeExpression {
  const { start } = p;
  p.bump();
  const element = parseType(p);
  p.expect(']');
  const span = p.spanFrom(start);
  const text = `Array<${p.file.text.slice(element.span.start, element.span.end)}>`;
  p.report('C0100', span, 'an array type is written `Array<T>`', {
    help: `write \`${text}\``,
    fix: { title: 'use Array', edits: [{ span, text }] },
  });
  return { kind: 'ErrorType', id: p.newId(), span };
}

export function parseNamedType(p: Parser): NamedType {
  return parseNamedTypeRest(p, takeName(p));
}

export function parseNamedTypeRest(p: Parser, first: Name): NamedType {
  const path = parsePathRest(p, first);
  const typeArguments = p.at('<') ? parseTypeArguments(p) : [];
  return { kind: 'NamedType', id: p.newId(), span: p.spanFrom(first.span.start), path, arguments: typeArguments };
}

/** At `<`. */
export function parseTypeArguments(p: Parser): TypeExpression[] {
  p.bump();
  const types: TypeExpression[] = [];
  while (!atTypeEnd(p) && !p.at('EndOfFile')) {
    const before = p.position;
    types.push(parseType(p));
    if (!p.eat(',') || p.position === before) break;
  }
  closeTypeArguments(p);
  return types;
}

function atTypeEnd(p: Parser): boolean {
  return p.at('>') || p.at('>=');
}

/** `Array<Int>= []`: the lexer read `>=`, of which only the first half is ours. */
export function closeTypeArguments(p: Parser): void {
  if (p.at('>=')) p.splitToken('>', '=');
  p.expect('>', 'after the type arguments');
}

const MAX_ANGLES = 200;

/**
 * Index behind a balanced `< types >` that starts at the current token, or undefined when it is a comparison.
 * Only looks.
 */
export function typeArgumentsEnd(p: Parser): number | undefined {
  let angle = 0;
  let round = 0;
  for (let index = p.position; ; index++) {
    const kind = p.tokens.kinds[index] ?? 'EndOfFile';
    switch (kind) {
      case '<':
        // Each of a long row of comparisons looks ahead; types are not nested that deep.
        if (++angle > MAX_ANGLES) return undefined;
        break;
      case '>':
        angle--;
        if (angle === 0) return round === 0 ? index + 1 : undefined;
        break;
      case '(':
        round++;
        break;
      case ')':
        round--;
        if (round < 0) return undefined;
        break;
      case 'Identifier':
      case 'String':
      case ',':
      case '::':
      case '|':
      case '->':
      case 'fn':
        break;
      default:
        return undefined;
    }
  }
}
