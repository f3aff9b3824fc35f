import type { Item } from '../syntax/item.ts';

/** Levels of nodes from an item to its deepest leaf that every walker of the tree must bear. */
export const MAX_HEIGHT = 1000;

/** A node takes at least one character, so most items are known to be flat from their length alone. */
export function isTooDeep(item: Item): boolean {
  if (item.span.end - item.span.start <= MAX_HEIGHT) return false;
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
