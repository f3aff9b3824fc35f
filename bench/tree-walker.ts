/** The plainest interpreter: walks a tree with a map of variables. What a virtual machine must beat. */
export type Tree =
  | { readonly kind: 'value'; readonly value: number }
  | { readonly kind: 'read'; readonly name: string }
  | { readonly kind: 'binary'; readonly operator: '+' | '-' | '%' | '<'; readonly left: Tree; readonly right: Tree }
  | { readonly kind: 'if'; readonly test: Tree; readonly yes: Tree; readonly no: Tree }
  | { readonly kind: 'call'; readonly name: string; readonly argument: Tree }
  | {
      readonly kind: 'function';
      readonly name: string;
      readonly param: string;
      readonly body: Tree;
      readonly next: Tree;
    }
  | {
      readonly kind: 'loop';
      readonly variable: string;
      readonly end: number;
      readonly total: string;
      readonly body: Tree;
    };

type Scope = Map<string, number>;
type Functions = Map<string, { readonly param: string; readonly body: Tree }>;

export function walk(tree: Tree, scope: Scope = new Map(), functions: Functions = new Map()): number {
  switch (tree.kind) {
    case 'value':
      return tree.value;
    case 'read':
      return scope.get(tree.name) ?? 0;
    case 'binary': {
      const left = walk(tree.left, scope, functions);
      const right = walk(tree.right, scope, functions);
      if (tree.operator === '+') return left + right;
      if (tree.operator === '-') return left - right;
      return tree.operator === '%' ? left % right : Number(left < right);
    }
    case 'if':
      return walk(walk(tree.test, scope, functions) === 0 ? tree.no : tree.yes, scope, functions);
    case 'call': {
      const target = functions.get(tree.name);
      if (target === undefined) throw new Error(`no function ${tree.name}`);
      return walk(target.body, new Map([[target.param, walk(tree.argument, scope, functions)]]), functions);
    }
    case 'function':
      functions.set(tree.name, tree);
      return walk(tree.next, scope, functions);
    case 'loop':
      for (let index = 0; index < tree.end; index++) {
        scope.set(tree.variable, index);
        scope.set(tree.total, (scope.get(tree.total) ?? 0) + walk(tree.body, scope, functions));
      }
      return scope.get(tree.total) ?? 0;
  }
}
