import type { Item, StoreKind, UseTree } from '../syntax/item.ts';
import type { Name, Path } from '../syntax/node.ts';
import type { ItemHead } from './item-head.ts';
import { parseGenerics } from './parse-function.ts';
import { missingName, parseList, parseName, takeName } from './parse-name.ts';
import { endStatement } from './parse-statement.ts';
import { parseType } from './parse-type.ts';
import type { Parser } from './parser.ts';

export function parseUse(p: Parser, head: ItemHead): Item {
  p.bump();
  const tree = parseUseTree(p);
  const help = p.at('.') ? 'names of a module stand behind `::`: `use std::math;`' : undefined;
  endStatement(p, 'the `use`', help);
  const { start, ...rest } = head;
  return { kind: 'UseItem', id: p.newId(), span: p.spanFrom(start), ...rest, tree };
}

function parseUseTree(p: Parser): UseTree {
  return p.nested(parseTree, missingTree);
}

function missingTree(p: Parser): UseTree {
  const { start } = p;
  const span = { start, end: start };
  const name: Name = { kind: 'Name', id: p.newId(), span, text: '' };
  return { kind: 'UseName', id: p.newId(), span, path: pathFrom(p, [name], start), alias: undefined };
}

function parseTree(p: Parser): UseTree {
  const { start } = p;
  const segments: Name[] = [];
  for (;;) {
    if (p.at('*') && segments.length > 0) {
      const prefix = pathFrom(p, segments, start);
      p.bump();
      return { kind: 'UseGlob', id: p.newId(), span: p.spanFrom(start), prefix };
    }
    if (p.at('{') && segments.length > 0) {
      const prefix = pathFrom(p, segments, start);
      p.bump();
      const trees = parseList(p, '}', parseUseTree);
      return { kind: 'UseGroup', id: p.newId(), span: p.spanFrom(start), prefix, trees };
    }
    segments.push(p.atName() ? takeName(p) : missingName(p, 'a name'));
    if (!p.eat('::')) break;
  }
  const path = pathFrom(p, segments, start);
  const alias = p.eat('as') ? parseName(p, 'a name after `as`') : undefined;
  return { kind: 'UseName', id: p.newId(), span: p.spanFrom(start), path, alias };
}

function pathFrom(p: Parser, segments: readonly Name[], start: number): Path {
  const end = segments.at(-1)?.span.end ?? start;
  return { kind: 'Path', id: p.newId(), span: { start, end: Math.max(start, end) }, segments };
}

export function parseModule(
  p: Parser,
  head: ItemHead,
  parseItems: (parser: Parser, close: '}' | 'EndOfFile') => Item[],
): Item {
  p.bump();
  const name = parseName(p, 'the name of the module');
  let items: Item[] | undefined;
  if (p.at('{')) {
    const open = p.tokenSpan;
    p.bump();
    items = parseItems(p, '}');
    if (!p.eat('}')) p.syntaxError('C0100', open, 'this `{` is never closed', { help: 'add `}`' });
  } else endStatement(p, 'the `mod`');
  const { start, ...rest } = head;
  return { kind: 'ModuleItem', id: p.newId(), span: p.spanFrom(start), ...rest, name, items };
}

export function parseConst(p: Parser, head: ItemHead): Item {
  p.bump();
  const name = parseName(p, 'the name of the constant');
  const type = p.eat(':') ? parseType(p) : undefined;
  if (type === undefined) {
    p.report('C0100', name.span, `the constant \`${name.text}\` needs a type`, {
      help: `write \`const ${name.text}: Type = …;\`, or \`let ${name.text} = …;\` for a variable`,
    });
  }
  p.expect('=', 'before the value of the constant');
  const value = p.freeExpression();
  endStatement(p, 'the constant');
  const { start, ...rest } = head;
  return { kind: 'ConstItem', id: p.newId(), span: p.spanFrom(start), ...rest, name, type, value };
}

export function parseTypeAlias(p: Parser, head: ItemHead): Item {
  p.bump();
  const name = parseName(p, 'the name of the type');
  const generics = parseGenerics(p);
  p.expect('=', 'before the type');
  const type = parseType(p);
  endStatement(p, 'the type');
  const { start, ...rest } = head;
  return { kind: 'TypeAliasItem', id: p.newId(), span: p.spanFrom(start), ...rest, name, generics, type };
}

function storeKind(p: Parser): StoreKind {
  if (p.at('ledger')) return 'ledger';
  return p.at('memory') ? 'memory' : 'hashmap';
}

export function parseStore(p: Parser, head: ItemHead): Item {
  const store = storeKind(p);
  p.bump();
  const name = parseName(p, `the name of the ${store}`);
  const type = p.eat(':') ? parseType(p) : undefined;
  p.expect('=', 'before the value');
  const value = p.freeExpression();
  endStatement(p, `the ${store}`);
  const { start, ...rest } = head;
  return {
    kind: 'StoreItem',
    id: p.newId(),
    span: p.spanFrom(start),
    ...rest,
    store,
    name,
    type,
    value,
    oldSpelling: undefined,
  };
}
