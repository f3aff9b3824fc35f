import { type Diagnostic, type FindFile, positionAt, renderDiagnostic } from '@concerto/language';
import { type Finding, failed, warned } from './finding.ts';

/** In the words and with the picture of `concerto check`. */
export function diagnosticFinding(
  check: string,
  diagnostic: Diagnostic,
  { findFile, color }: { readonly findFile: FindFile; readonly color: boolean },
): Finding {
  const { code, severity, message, file, span } = diagnostic;
  const source = findFile(file);
  const place =
    source === undefined ? '' : `:${positionAt(source, span.start).line}:${positionAt(source, span.start).column}`;
  const finding = (severity === 'error' ? failed : warned)(
    check,
    `${severity}[${code}]: ${message} (${file}${place})`,
    diagnostic.help ?? `correct ${file}`,
  );
  return { ...finding, picture: renderDiagnostic(diagnostic, findFile, { color }) };
}
