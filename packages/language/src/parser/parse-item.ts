import type { Item } from '../syntax/item.ts';
import { replaceForeignWords } from './foreign-phrases.ts';
import { type ItemHead, parseItemHead } from './item-head.ts';
import { startsItem } from './item-start.ts';
import { parseConfigItem } from './parse-config-item.ts';
import { parseEnum, parseImpl, parseSchema, parseStruct, parseTrait } from './parse-data-item.ts';
import { parseFunction } from './parse-function.ts';
import { parseConst, parseModule, parseStore, parseTypeAlias, parseUse } from './parse-module-item.ts';
import { parseOldItem } from './parse-old-item.ts';
import { parsePipeline } from './parse-pipeline.ts';
import { parseStatement } from './parse-statement.ts';
import type { Parser } from './parser.ts';
import { withoutTooDeep } from './tree-height.ts';

/** A declaration; the caller has seen that one starts here. */
export function parseItem(p: Parser): Item {
  return p.nested(parseDeclaration, errorItem);
}

function parseDeclaration(p: Parser): Item {
  const head = parseItemHead(p);
  switch (p.kind) {
    case 'fn':
    case 'async':
      return parseFunction(p, head);
    case 'model':
    case 'agent':
    case 'tool':
    case 'mcp':
      return parseConfigItem(p, head);
    case 'schema':
      return parseSchema(p, head);
    case 'struct':
      return parseStruct(p, head);
    case 'enum':
      return parseEnum(p, head);
    case 'trait':
      return parseTrait(p, head);
    case 'impl':
      return parseImpl(p, head);
    case 'pipeline':
      return parsePipeline(p, head);
    case 'use':
      return parseUse(p, head);
    case 'mod':
      return parseModule(p, head, parseItems);
    case 'const':
      return parseConst(p, head);
    case 'type':
      return parseTypeAlias(p, head);
    case 'hashmap':
    case 'ledger':
    case 'memory':
      return parseStore(p, head);
    case 'let':
      if (head.isPublic && head.decorators.length === 0) return parseTopLevelStatement(p, head);
      return reportMissingDeclaration(p, head);
    default:
      return parseOldItem(p, head) ?? reportMissingDeclaration(p, head);
  }
}

function reportMissingDeclaration(p: Parser, head: ItemHead): Item {
  const after = head.isPublic ? 'after `pub`' : 'after the decorators';
  p.unexpected(`expected a declaration ${after}`, false, { code: 'C0101' });
  return { kind: 'ErrorItem', id: p.newId(), span: p.spanFrom(head.start), ...head };
}

function errorItem(p: Parser): Item {
  const { start } = p;
  const span = { start, end: start };
  return { kind: 'ErrorItem', id: p.newId(), span, decorators: [], isPublic: false, doc: undefined };
}

/** The items of a file (up to its end) or of a module (up to its brace). */
export function parseItems(p: Parser, close: '}' | 'EndOfFile'): Item[] {
  const items: Item[] = [];
  while (!p.at(close) && !p.at('EndOfFile')) {
    const before = p.position;
    if (p.eat(';')) continue;
    if (p.at('}')) {
      p.report('C0100', p.tokenSpan, 'this `}` closes nothing');
      p.guesses.push(p.start);
      p.bump();
      continue;
    }
    p.longestChain = 0;
    p.deepestNesting = 0;
    replaceForeignWords(p);
    items.push(withoutTooDeep(p, startsItem(p) ? p.item() : parseTopLevelStatement(p)));
    if (p.position === before) p.bump();
  }
  return items;
}

function parseTopLevelStatement(p: Parser, head?: ItemHead): Item {
  const start = head?.start ?? p.start;
  const doc = head?.doc ?? p.tokens.docs.get(p.position);
  const parsed = parseStatement(p);
  const statement =
    parsed.kind === 'Tail'
      ? ({
          kind: 'ExpressionStatement',
          id: p.newId(),
          span: p.spanFrom(start),
          expression: parsed.expression,
          semicolon: false,
        } as const)
      : parsed;
  return {
    kind: 'StatementItem',
    id: p.newId(),
    span: p.spanFrom(start),
    decorators: [],
    isPublic: head?.isPublic ?? false,
    doc,
    statement,
  };
}
