import { positionAt, type SourceFile } from '../source/source-file.ts';
import type { Diagnostic } from './diagnostic.ts';

/** An entry of `concerto check --json`; columns count Unicode scalar values from 1. */
export interface JsonDiagnostic {
  readonly code: string;
  readonly severity: string;
  readonly message: string;
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  readonly endColumn: number;
  readonly help?: string;
}

export function toJsonDiagnostic(diagnostic: Diagnostic, file: SourceFile | undefined): JsonDiagnostic {
  const { code, severity, message, span, help } = diagnostic;
  const start = file === undefined ? { line: 1, column: 1 } : positionAt(file, span.start);
  const end = file === undefined ? start : positionAt(file, span.end);
  return {
    code,
    severity,
    message,
    file: diagnostic.file,
    line: start.line,
    column: start.column,
    endLine: end.line,
    endColumn: end.column,
    ...(help === undefined ? {} : { help }),
  };
}
