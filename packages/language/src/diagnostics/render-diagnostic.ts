import { harmless } from '@concerto/base';
import { lineText, positionAt, type SourceFile } from '../source/source-file.ts';
import type { Span } from '../source/span.ts';
import type { Diagnostic, Severity } from './diagnostic.ts';
import { displayColumns, expandTabs } from './display-columns.ts';

export interface RenderOptions {
  /** ANSI colours. */
  readonly color: boolean;
}

/** Finds the file a diagnostic names; without it only the message is shown. */
export type FindFile = (path: string) => SourceFile | undefined;

const STYLES = { error: '1;31', warning: '1;33', info: '1;36', frame: '1;34', strong: '1' } as const;
type Style = keyof typeof STYLES;

/** A mark under a line. */
interface Mark {
  readonly line: number;
  /** Display columns, from 0. */
  readonly from: number;
  readonly to: number;
  readonly character: '^' | '-';
  readonly message: string;
}

/** The message with the source and marks below it; ends with a line break. */
export function renderDiagnostic(diagnostic: Diagnostic, findFile: FindFile, options: RenderOptions): string {
  const paint = (style: Style, text: string) => (options.color ? `\u001b[${STYLES[style]}m${text}\u001b[0m` : text);
  const { severity, code, message } = diagnostic;
  const lines = [`${paint(severity, `${severity}[${code}]`)}${paint('strong', `: ${harmless(message)}`)}`];
  const snippets = collectSnippets(diagnostic, findFile);
  const numbers = snippets.flatMap((snippet) => snippet.marks.map((mark) => String(mark.line).length));
  const gutter = ' '.repeat(Math.max(1, ...numbers));
  for (const [index, snippet] of snippets.entries()) {
    const arrow = index === 0 ? '-->' : ':::';
    lines.push(`${gutter}${paint('frame', arrow)} ${snippet.place}`);
    lines.push(...renderSnippet(snippet, { gutter, severity, paint }));
  }
  if (snippets.length === 0) lines.push(`${gutter}${paint('frame', '-->')} ${diagnostic.file}`);
  if (diagnostic.help !== undefined) lines.push(`${gutter} ${paint('frame', '=')} help: ${harmless(diagnostic.help)}`);
  return `${lines.join('\n')}\n`;
}

interface Snippet {
  readonly place: string;
  readonly file: SourceFile;
  readonly marks: readonly Mark[];
}

function collectSnippets(diagnostic: Diagnostic, findFile: FindFile): Snippet[] {
  const snippets: Snippet[] = [];
  const file = findFile(diagnostic.file);
  if (file !== undefined) {
    const own = diagnostic.labels.filter((label) => label.file === undefined || label.file === diagnostic.file);
    const marks = [markAt(file, diagnostic.span, '^', '')];
    for (const label of own) marks.push(markAt(file, label.span, '-', label.message));
    snippets.push({ place: placeOf(file, diagnostic.span), file, marks });
  }
  for (const label of diagnostic.labels) {
    if (label.file === undefined || label.file === diagnostic.file) continue;
    const other = findFile(label.file);
    if (other === undefined) continue;
    const marks = [markAt(other, label.span, '-', label.message)];
    snippets.push({ place: placeOf(other, label.span), file: other, marks });
  }
  return snippets;
}

function placeOf(file: SourceFile, span: Span): string {
  const { line, column } = positionAt(file, span.start);
  return `${file.path}:${line}:${column}`;
}

/** What spans several lines is marked on the first. */
function markAt(file: SourceFile, span: Span, character: '^' | '-', message: string): Mark {
  const { line } = positionAt(file, span.start);
  const text = lineText(file, line);
  const lineStart = file.lineStarts[line - 1] ?? 0;
  const from = displayColumns(text, span.start - lineStart);
  const to = displayColumns(text, Math.min(span.end - lineStart, text.length));
  return { line, from, to: Math.max(to, from + 1), character, message };
}

interface Frame {
  readonly gutter: string;
  readonly severity: Severity;
  readonly paint: (style: Style, text: string) => string;
}

function renderSnippet(snippet: Snippet, frame: Frame): string[] {
  const { gutter, severity, paint } = frame;
  const bar = paint('frame', '|');
  const rows = [`${gutter} ${bar}`];
  let previous: number | undefined;
  for (const line of [...new Set(snippet.marks.map((mark) => mark.line))].sort((a, b) => a - b)) {
    if (previous !== undefined && line > previous + 1) rows.push(paint('frame', '...'));
    previous = line;
    const text = expandTabs(harmless(lineText(snippet.file, line).trimEnd()));
    rows.push(`${paint('frame', String(line).padStart(gutter.length))} ${bar} ${text}`.trimEnd());
    for (const mark of snippet.marks) {
      if (mark.line !== line) continue;
      const underline = mark.character.repeat(mark.to - mark.from);
      const label = mark.message === '' ? underline : `${underline} ${mark.message}`;
      rows.push(
        `${gutter} ${bar} ${' '.repeat(mark.from)}${paint(mark.character === '^' ? severity : 'frame', label)}`,
      );
    }
  }
  rows.push(`${gutter} ${bar}`);
  return rows;
}
