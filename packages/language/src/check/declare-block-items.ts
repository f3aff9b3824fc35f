import type { Item } from '../syntax/item.ts';
import { collectItems } from './collect-items.ts';
import type { Body } from './context.ts';
import { declareItems } from './declare-items.ts';
import { createModule } from './module-scope.ts';

/**
 * Items inside a block live in a nameless module of their own: visible in the block from its start, able to use what the
 * module around them declares, but not the variables of the function.
 */
export function declareBlockItems(body: Body, items: readonly Item[]): void {
  const { cx } = body;
  const parent = body.module;
  const module = createModule(body.fn.path, parent, parent.file);
  cx.enclosing.set(module, body.scope);
  const [first] = items;
  if (first !== undefined) cx.blockModules.set(first, module);
  const collected = collectItems(cx, module, items);
  declareItems(cx, collected);
  body.module = module;
  body.types = { ...body.types, module };
  body.scope.items = module;
}
