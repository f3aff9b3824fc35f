import type { Item } from './item.ts';
import type { Node } from './node.ts';

/** One parsed file. Items, expressions, statements, patterns and types are in the files beside this one. */
export interface SourceTree extends Node {
  readonly kind: 'SourceTree';
  /** `path` of the source file. */
  readonly file: string;
  readonly items: readonly Item[];
}
