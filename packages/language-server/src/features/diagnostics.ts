import type { Diagnostic, SourceFile } from '@concerto/language';
import {
  type DiagnosticRelatedInformation,
  DiagnosticSeverity,
  DiagnosticTag,
  type Diagnostic as LspDiagnostic,
} from 'vscode-languageserver/node';
import { uriOf } from '../workspace/file-path.ts';
import { toRange } from './positions.ts';

const SEVERITIES = {
  error: DiagnosticSeverity.Error,
  warning: DiagnosticSeverity.Warning,
  info: DiagnosticSeverity.Information,
} as const;

/** Editors fade what is not needed and strike through what is old. */
const TAGS: Readonly<Record<string, DiagnosticTag>> = {
  C0300: DiagnosticTag.Unnecessary,
  C0305: DiagnosticTag.Unnecessary,
  C0306: DiagnosticTag.Unnecessary,
  C0310: DiagnosticTag.Deprecated,
};

export type FindSource = (path: string) => SourceFile | undefined;

export function toLspDiagnostic(diagnostic: Diagnostic, source: SourceFile, findSource: FindSource): LspDiagnostic {
  const { code, severity, message, help, span, labels, file } = diagnostic;
  const tag = TAGS[code];
  const related = labels.flatMap((label): DiagnosticRelatedInformation[] => {
    const path = label.file ?? file;
    const uri = uriOf(path);
    const other = path === file ? source : findSource(path);
    if (uri === undefined || other === undefined) return [];
    return [{ location: { uri, range: toRange(other, label.span) }, message: label.message }];
  });
  return {
    range: toRange(source, span),
    severity: SEVERITIES[severity],
    code,
    source: 'concerto',
    message: help === undefined ? message : `${message}\nhelp: ${help}`,
    ...(related.length === 0 ? {} : { relatedInformation: related }),
    ...(tag === undefined ? {} : { tags: [tag] }),
  };
}
