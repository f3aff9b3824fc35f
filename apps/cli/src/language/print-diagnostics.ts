import { type Diagnostic, type FindFile, renderDiagnostic } from '@concerto/language';
import { showsColour } from '../terminal/paint.ts';
import { tell } from '../terminal/print.ts';

/** To standard error, with source and caret, and a line that counts them. */
export function printDiagnostics(diagnostics: readonly Diagnostic[], findFile: FindFile): void {
  tell(diagnosticsText(diagnostics, findFile, showsColour(process.stderr)));
}

export function diagnosticsText(diagnostics: readonly Diagnostic[], findFile: FindFile, color: boolean): string {
  const texts = diagnostics.map((diagnostic) => renderDiagnostic(diagnostic, findFile, { color }));
  return [...texts, summarise(diagnostics)].map((text) => (text === '' ? '' : `${text}\n`)).join('');
}

function summarise(diagnostics: readonly Diagnostic[]): string {
  const count = (severity: string) => diagnostics.filter((diagnostic) => diagnostic.severity === severity).length;
  return [amount(count('error'), 'error'), amount(count('warning'), 'warning')]
    .filter((text) => text !== '')
    .join(', ');
}

function amount(count: number, noun: string): string {
  if (count === 0) return '';
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
