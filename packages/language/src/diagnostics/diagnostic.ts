import type { Span } from '../source/span.ts';

export type Severity = 'error' | 'warning' | 'info';

/** A second place that explains the first; in the same file unless it names another. */
export interface DiagnosticLabel {
  readonly span: Span;
  readonly message: string;
  readonly file?: string;
}

export interface TextEdit {
  readonly span: Span;
  readonly text: string;
}

/** A change `concerto check --fix` may apply without asking. */
export interface DiagnosticFix {
  readonly title: string;
  /** In the file of the diagnostic. */
  readonly edits: readonly TextEdit[];
  /** Lines to append to `Concerto.toml`. */
  readonly manifestLines?: readonly string[];
}

export interface Diagnostic {
  /** Stable, such as `C0205`. */
  readonly code: string;
  readonly severity: Severity;
  readonly message: string;
  /** `path` of the source file the span is in. */
  readonly file: string;
  readonly span: Span;
  readonly labels: readonly DiagnosticLabel[];
  readonly help?: string;
  readonly fix?: DiagnosticFix;
}
