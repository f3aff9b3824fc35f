import type { Decorator, DecoratorArgument, ItemNode } from '../syntax/item.ts';
import { parseAnyName, parseList, takeName } from './parse-name.ts';
import type { Parser } from './parser.ts';

/** What stands before every declaration. `start` is the offset of the first decorator or of the declaration. */
export interface ItemHead extends Omit<ItemNode, 'id' | 'span'> {
  readonly start: number;
}

export function parseItemHead(p: Parser): ItemHead {
  const { start } = p;
  const doc = p.tokens.docs.get(p.position);
  const decorators = parseDecorators(p);
  // The text may also stand between the decorators and the declaration.
  const innerDoc = p.tokens.docs.get(p.position);
  const isPublic = p.eat('pub');
  return { start, doc: doc ?? innerDoc, decorators, isPublic };
}

export function parseDecorators(p: Parser): Decorator[] {
  const decorators: Decorator[] = [];
  while (p.at('@')) decorators.push(parseDecorator(p));
  return decorators;
}

function parseDecorator(p: Parser): Decorator {
  const { start } = p;
  p.bump();
  const name = parseAnyName(p, 'the name of a decorator');
  const args = p.eat('(')
    ? p.within({ inHead: false, inArm: false }, () => parseList(p, ')', parseDecoratorArgument))
    : [];
  return { kind: 'Decorator', id: p.newId(), span: p.spanFrom(start), name, arguments: args };
}

function parseDecoratorArgument(p: Parser): DecoratorArgument {
  const { start } = p;
  const label = p.atName() && p.peek(1) === ':' ? takeName(p) : undefined;
  if (label !== undefined) p.bump();
  const value = p.expression();
  return { kind: 'DecoratorArgument', id: p.newId(), span: p.spanFrom(start), label, value };
}
