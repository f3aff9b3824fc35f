import type { Parameter } from '../syntax/item.ts';
import type { Doc } from './doc.ts';
import type { Formatter } from './formatter.ts';

/** `|a, b: Int|` or `||`. */
export function formatBars(f: Formatter, parameters: readonly Parameter[]): Doc {
  if (f.cursor.at('||')) return f.cursor.next();
  const docs: Doc[] = [f.cursor.token('|')];
  for (const [index, parameter] of parameters.entries()) {
    docs.push(f.run(parameter.span), f.cursor.drop(','), index === parameters.length - 1 ? '' : ', ');
  }
  return [docs, f.cursor.token('|')];
}
