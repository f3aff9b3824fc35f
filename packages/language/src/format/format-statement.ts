import { unreachable } from '@concerto/base';
import type { Block } from '../syntax/expression.ts';
import type { ConfigField } from '../syntax/item.ts';
import type { Statement } from '../syntax/statement.ts';
import { type Doc, freshline, group, hardline, indent, line } from './doc.ts';
import type { Formatter } from './formatter.ts';

/** On one line when it was there, holds one simple thing and fits; else one line for each statement. */
export function formatBlock(f: Formatter, block: Block): Doc {
  const { cursor } = f;
  const { statements, tail } = block;
  const count = statements.length + (tail === undefined ? 0 : 1);
  const staysOnLine = count === 1 && !holdsControl(block) && cursor.isOneLine(block.span.start, block.span.end);
  const opening = cursor.token('{');
  const layouts = statements.map((statement) => () => formatStatement(f, statement));
  if (tail !== undefined) layouts.push(() => f.expression(tail));
  const content = f.lines(layouts);
  const dangling = cursor.dangling();
  const closing = cursor.token('}');
  if (count === 0) {
    const isEmpty = Array.isArray(dangling) && dangling.length === 0;
    return isEmpty ? [opening, content, closing] : [opening, content, indent(dangling), freshline, closing];
  }
  const edge = staysOnLine ? line : hardline;
  return group([opening, indent([edge, content, dangling]), staysOnLine ? line : freshline, closing]);
}

const CONTROL: ReadonlySet<string> = new Set([
  'IfExpression',
  'MatchExpression',
  'ForExpression',
  'WhileExpression',
  'LoopExpression',
  'TryExpression',
  'ListenExpression',
]);

/** A branch or loop inside a loop reads better on lines of its own. */
function holdsControl(block: Block): boolean {
  const [statement] = block.statements;
  const inner = statement?.kind === 'ExpressionStatement' ? statement.expression : block.tail;
  return inner !== undefined && CONTROL.has(inner.kind);
}

export function formatStatement(f: Formatter, statement: Statement): Doc {
  const { cursor } = f;
  switch (statement.kind) {
    case 'LetStatement':
      return [
        cursor.token('let'),
        ' ',
        statement.mutable ? [cursor.token('mut'), ' '] : '',
        f.run(statement.pattern.span),
        statement.type === undefined ? '' : [cursor.token(':'), ' ', f.run(statement.type.span)],
        statement.initializer === undefined ? '' : [' ', cursor.token('='), ' ', f.expression(statement.initializer)],
        cursor.token(';'),
      ];
    case 'ExpressionStatement':
      return [f.expression(statement.expression), statement.semicolon ? cursor.token(';') : ''];
    case 'MockStatement':
      return [cursor.token('mock'), ' ', cursor.next(), ' ', formatConfig(f, statement.fields)];
    case 'ItemStatement':
      return f.item(statement.item);
    default:
      return unreachable(statement);
  }
}

/** `{ name: value, … }`. */
export function formatConfig(f: Formatter, fields: readonly ConfigField[]): Doc {
  const members = fields.map((field) => ({ comma: true, layout: () => formatConfigField(f, field) }));
  return f.braces(members, { padding: ' ', forceBreak: false });
}

export function formatConfigField(f: Formatter, field: ConfigField): Doc {
  return [f.cursor.next(), f.cursor.token(':'), ' ', f.expression(field.value)];
}
