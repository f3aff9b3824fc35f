import { type Diagnostic, type FindFile, renderDiagnostic } from '@concerto/language';
import { showsColour } from '../terminal/paint.ts';

/** To standard error, with source and caret, and a line that counts them. */
export function printDiagnostics(diagnostics: readonly Diagnostic[], findFile: FindFile): void {
  const color = showsColour(process.stderr);
  for (const diagnostic of diagnostics) process.stderr.write(`${renderDiagnostic(diagnostic, findFile, { color })}\n`);
  const summary = summarise(diagnostics);
  if (summary !== '') process.stderr.write(`${summary}\n`);
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
