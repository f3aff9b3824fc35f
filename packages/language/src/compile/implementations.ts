import type { Item } from '../syntax/item.ts';
import { walk } from './free-variables.ts';
import type { ModuleBuilder } from './module-builder.ts';

/** Methods that an `impl` gives to built-in types, models, agents and tools; declared types have theirs already. */
export function declareImplementations(builder: ModuleBuilder): void {
  const { facts, module } = builder;
  const declared = new Set(facts.declaredTypes.filter((type) => type.kind !== 'trait').map((type) => type.name));
  const traits = new Map(
    facts.declaredTypes.flatMap((type) => (type.item.kind === 'TraitItem' ? [[type.name, type.item]] : [])),
  );
  for (const { tree } of builder.program.files.values()) {
    walk(tree, (node) => {
      if (!isImpl(node)) return undefined;
      const target = node.target.path.segments.at(-1)?.text ?? '';
      if (declared.has(target)) return false;
      const table: { [method: string]: number } = { ...module.methods[target] };
      const trait = node.trait?.path.segments.at(-1)?.text;
      for (const method of (trait === undefined ? undefined : traits.get(trait))?.methods ?? []) {
        const index = method.body && builder.knownFunction(method.id);
        if (index !== undefined) table[method.name.text] ??= index;
      }
      for (const method of node.methods) {
        const index = method.self && builder.knownFunction(method.id);
        if (index !== undefined) table[method.name.text] = index;
      }
      module.methods[target] = table;
      if (trait !== undefined) module.traits[target] = [...(module.traits[target] ?? []), trait];
      return false;
    });
  }
}

function isImpl(node: { readonly kind: string }): node is Extract<Item, { kind: 'ImplItem' }> {
  return node.kind === 'ImplItem';
}
