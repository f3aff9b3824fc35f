import { unreachable } from '@concerto/base';
import type {
  Expression,
  ForExpression,
  IfExpression,
  ListenExpression,
  LoopExpression,
  MatchExpression,
  TryExpression,
  WhileExpression,
} from '../syntax/expression.ts';
import type { Doc } from './doc.ts';
import { formatArguments } from './format-arguments.ts';
import { formatBars } from './format-bars.ts';
import type { Formatter } from './formatter.ts';

type Control =
  | IfExpression
  | MatchExpression
  | ForExpression
  | WhileExpression
  | LoopExpression
  | TryExpression
  | ListenExpression;

/** `if`, `match`, loops, `try` and `listen`. */
export function formatControl(f: Formatter, e: Control): Doc {
  const { cursor } = f;
  switch (e.kind) {
    case 'IfExpression':
      return formatIf(f, e);
    case 'MatchExpression':
      return [cursor.token('match'), ' ', f.expression(e.scrutinee), ' ', formatArms(f, e)];
    case 'ForExpression':
      return [
        formatLabel(f, e),
        e.parallel ? [cursor.next(), ' '] : '',
        cursor.token('for'),
        ' ',
        f.run(e.pattern.span),
        ' ',
        cursor.token('in'),
        ' ',
        f.expression(e.iterable),
        ' ',
        f.block(e.body),
      ];
    case 'WhileExpression':
      return [formatLabel(f, e), cursor.token('while'), ' ', f.expression(e.condition), ' ', f.block(e.body)];
    case 'LoopExpression':
      return [formatLabel(f, e), cursor.token('loop'), ' ', f.block(e.body)];
    case 'TryExpression':
      return formatTry(f, e);
    case 'ListenExpression':
      return [cursor.token('listen'), ' ', f.expression(e.call), ' ', formatHandlers(f, e)];
    default:
      return unreachable(e);
  }
}

function formatLabel(f: Formatter, loop: { readonly label: unknown }): Doc {
  return loop.label === undefined ? '' : [f.cursor.token('Label'), f.cursor.token(':'), ' '];
}

/** Not recursive in `else if`. */
function formatIf(f: Formatter, first: IfExpression): Doc {
  const docs: Doc[] = [];
  for (let e: Expression | undefined = first; e !== undefined; ) {
    if (e.kind !== 'IfExpression') {
      docs.push(f.expression(e));
      break;
    }
    docs.push(f.cursor.token('if'), ' ', f.expression(e.condition), ' ', f.block(e.then));
    e = e.otherwise;
    if (e !== undefined) docs.push(' ', f.cursor.token('else'), ' ');
  }
  return docs;
}

function formatArms(f: Formatter, e: MatchExpression): Doc {
  const members = e.arms.map((arm) => ({
    comma: true,
    layout: () => [
      f.run(arm.pattern.span),
      arm.guard === undefined ? '' : [' ', f.cursor.token('if'), ' ', f.expression(arm.guard)],
      ' ',
      f.cursor.token('=>'),
      ' ',
      f.expression(arm.body),
    ],
  }));
  return f.braces(members, { padding: ' ', forceBreak: true });
}

function formatTry(f: Formatter, e: TryExpression): Doc {
  const docs: Doc[] = [f.cursor.token('try'), ' ', f.block(e.body)];
  for (const clause of e.catches) {
    docs.push(' ', f.cursor.token('catch'));
    if (clause.type !== undefined) docs.push(' ', f.run(clause.type.span));
    if (clause.binding !== undefined) {
      docs.push(clause.type === undefined ? ' ' : '', f.cursor.token('('), f.cursor.next(), f.cursor.token(')'));
    }
    docs.push(' ', f.block(clause.body));
  }
  return docs;
}

function formatHandlers(f: Formatter, e: ListenExpression): Doc {
  const members = e.handlers.map((handler) => ({
    comma: true,
    layout: () => {
      const last = handler.messages.at(-1);
      const keys = last === undefined ? f.cursor.next() : f.run(last.span);
      const options = f.cursor.at('(') ? [' ', formatArguments(f, handler.options)] : '';
      const arrow = [' ', f.cursor.token('=>'), ' '];
      const bars = formatBars(f, handler.parameter === undefined ? [] : [handler.parameter]);
      const result =
        handler.returnType === undefined ? '' : [' ', f.cursor.token('->'), ' ', f.run(handler.returnType.span)];
      return [keys, options, arrow, bars, result, ' ', f.expression(handler.body)];
    },
  }));
  return f.braces(members, { padding: ' ', forceBreak: true });
}
