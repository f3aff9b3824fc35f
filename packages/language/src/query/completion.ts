import type { SymbolKind } from './code-symbol.ts';

export interface Completion {
  readonly label: string;
  readonly kind: SymbolKind | 'keyword' | 'text' | 'property';
  readonly detail?: string | undefined;
  readonly doc?: string | undefined;
  /** What is nearer comes first: 0 for what the place asks for, 4 for keywords. */
  readonly rank: number;
  /** Something that takes arguments. */
  readonly isCall?: boolean;
  /** What to write, when it is not the label. */
  readonly insert?: string;
}
