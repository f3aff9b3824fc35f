import { type CollectedItem, isTest } from './collect-items.ts';
import type { Context } from './context.ts';
import { declareImpls } from './declare-impls.ts';
import { declareResources } from './declare-resources.ts';
import { declareTypes, plainScope } from './declare-types.ts';

/** Everything about the items of a module but their bodies, which are queued. */
export function declareItems(cx: Context, collected: readonly CollectedItem[]): void {
  declareTypes(cx, collected);
  declareResources(cx, collected);
  declareImpls(cx, collected);
  for (const { item, module } of collected) {
    if (item.kind !== 'FunctionItem') {
      cx.otherItems.push({ item, module });
      continue;
    }
    cx.functionBodies.push({
      item,
      scope: plainScope(module),
      self: undefined,
      kind: isTest(item) ? 'test' : 'function',
    });
  }
}
