import type { Span } from '../source/span.ts';
import type { Item } from '../syntax/item.ts';
import type { SourceTree } from '../syntax/tree.ts';

/** A function that can be run from an editor: `main`, or a test by its description. */
export type Runnable =
  | { readonly kind: 'main'; readonly span: Span }
  | { readonly kind: 'test'; readonly span: Span; readonly description: string };

export function runnablesOf(tree: SourceTree): Runnable[] {
  return [...itemRunnables(tree.items, true)];
}

function* itemRunnables(items: readonly Item[], isTop: boolean): Generator<Runnable> {
  for (const item of items) {
    if (item.kind === 'ModuleItem') yield* itemRunnables(item.items ?? [], false);
    if (item.kind !== 'FunctionItem') continue;
    const test = item.decorators.find((decorator) => decorator.name.text === 'test');
    const { span, text } = item.name;
    if (test === undefined) {
      if (isTop && text === 'main') yield { kind: 'main', span };
      continue;
    }
    const [first] = test.arguments;
    const description = first?.value.kind === 'StringLiteral' ? first.value.value : text;
    yield { kind: 'test', span, description };
  }
}
