import type { Item } from '../syntax/item.ts';
import type { Parser } from './parser.ts';

/** Levels of nodes from an item to its deepest leaf that every walker of the tree must bear. */
const MAX_HEIGHT = 1000;

/** At most this many nodes are between two levels of nesting. */
const NODES_PER_LEVEL = 6;

/**
 * Checker and compiler walk the tree recursively; a chain of ten thousand `+` would end their stack. Such an item
 * is reported and replaced. The parser's counts since the start of the item tell which need a closer look.
 */
export function withoutTooDeep(p: Parser, item: Item): Item {
  if (p.longestChain + p.deepestNesting * NODES_PER_LEVEL <= MAX_HEIGHT || !isTooDeep(item)) return item;
  p.report('C0107', item.span, `an expression in here has more than ${MAX_HEIGHT} parts inside each other`, {
    help: 'give the parts names with `let`',
  });
  const { span, decorators, isPublic, doc } = item;
  return { kind: 'ErrorItem', id: p.newId(), span, decorators, isPublic, doc };
}

function isTooDeep(item: Item): boolean {
  const stack: { value: object; height: number }[] = [{ value: item, height: 1 }];
  for (let entry = stack.pop(); entry !== undefined; entry = stack.pop()) {
    const { value, height } = entry;
    if (height > MAX_HEIGHT) return true;
    for (const child of Object.values(value)) {
      if (typeof child !== 'object' || child === null) continue;
      stack.push({ value: child, height: 'kind' in child ? height + 1 : height });
    }
  }
  return false;
}
