import type { Diagnostic, DiagnosticFix, DiagnosticLabel, Severity } from '../diagnostics/diagnostic.ts';
import type { Span } from '../source/span.ts';
import type { CheckCode } from './codes.ts';

export interface Details {
  readonly help?: string | undefined;
  readonly labels?: readonly DiagnosticLabel[];
  readonly fix?: DiagnosticFix;
  /** When it is not the file being checked. */
  readonly file?: string;
}

/** A program of nothing but mistakes must not fill the memory. */
const MOST_DIAGNOSTICS = 2000;

/** Collects what the checker has to say; the same complaint about the same place is kept once. */
export class Reporter {
  readonly #diagnostics: Diagnostic[] = [];
  readonly #seen = new Set<string>();
  /** The file that spans refer to. */
  file = '';

  error(code: CheckCode, span: Span, message: string, details: Details = {}): void {
    this.#add('error', { code, span, message, details });
  }

  warning(code: CheckCode, span: Span, message: string, details: Details = {}): void {
    this.#add('warning', { code, span, message, details });
  }

  /** Ordered by file as first mentioned in `fileOrder`, then by position, then by code. */
  finish(fileOrder: Iterable<string>): Diagnostic[] {
    const rank = new Map([...fileOrder].map((file, index) => [file, index]));
    const rankOf = (diagnostic: Diagnostic) => rank.get(diagnostic.file) ?? rank.size;
    return this.#diagnostics.toSorted(
      (a, b) =>
        rankOf(a) - rankOf(b) ||
        a.span.start - b.span.start ||
        a.span.end - b.span.end ||
        (a.code < b.code ? -1 : Number(a.code > b.code)),
    );
  }

  #add(
    severity: Severity,
    entry: { readonly code: CheckCode; readonly span: Span; readonly message: string; readonly details: Details },
  ): void {
    const { code, span, message, details } = entry;
    const file = details.file ?? this.file;
    const key = `${file}\0${code}\0${span.start}\0${span.end}`;
    if (this.#seen.has(key) || this.#diagnostics.length >= MOST_DIAGNOSTICS) return;
    this.#seen.add(key);
    this.#diagnostics.push({
      code,
      severity,
      message,
      file,
      span,
      labels: details.labels ?? [],
      ...(details.help === undefined ? {} : { help: details.help }),
      ...(details.fix === undefined ? {} : { fix: details.fix }),
    });
  }
}
