import type { Expression } from '../syntax/expression.ts';
import type { Parser } from './parser.ts';

/** What people write who come from other languages, and what it is called here. */
const WORDS: ReadonlyMap<string, string> = new Map([
  ['function', 'a function is declared with `fn`'],
  ['func', 'a function is declared with `fn`'],
  ['def', 'a function is declared with `fn`'],
  ['var', 'a variable is declared with `let`, or `let mut` when it changes'],
  ['val', 'a variable is declared with `let`'],
  ['import', 'names are brought in with `use`'],
  ['from', 'names are brought in with `use`'],
  ['class', 'data is declared with `struct`, and its methods with `impl`'],
  ['interface', 'write `trait` for methods, `struct` or `schema` for data'],
  ['elif', 'write `else if`'],
  ['elseif', 'write `else if`'],
  ['elsif', 'write `else if`'],
  ['switch', 'write `match`'],
  ['new', 'write `Name { field: value }` or `Name::new()`'],
  ['do', 'write `loop { … }`'],
  ['print', 'write `print(value)` or `emit("channel", value)`'],
]);

/** Why a `;` may be missing after what was just read; undefined when there is nothing better to say. */
export function helpAfter(p: Parser, expression: Expression | undefined): string | undefined {
  if (p.tokens.kinds[p.position - 1] === '?') return 'for a choice write `if condition { a } else { b }`';
  return expression?.kind === 'NameExpression' ? WORDS.get(expression.name.text) : undefined;
}

/** `x++`; the parser is at the second sign. */
export function reportIncrement(p: Parser): boolean {
  const isIncrement = p.at('+') && p.tokens.kinds[p.position - 1] === '+' && p.start === p.previousEnd;
  if (!isIncrement) return false;
  p.syntaxError('C0101', { start: p.start - 1, end: p.start + 1 }, 'there is no `++`', { help: 'write `+= 1`' });
  p.bump();
  return true;
}

/** Takes a mark that is used for the same thing elsewhere, with an error that has a fix. */
export function eatInstead(p: Parser, wrong: '->' | '=', right: '=>' | ':', where: string): boolean {
  if (!p.at(wrong)) return false;
  const span = p.tokenSpan;
  p.syntaxError('C0100', span, `expected \`${right}\` ${where}, found \`${wrong}\``, {
    fix: { title: `write \`${right}\``, edits: [{ span, text: right }] },
  });
  p.bump();
  return true;
}
