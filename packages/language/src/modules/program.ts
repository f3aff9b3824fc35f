import type { SourceFile } from '../source/source-file.ts';
import type { NodeId } from '../syntax/node.ts';
import type { SourceTree } from '../syntax/tree.ts';

/** One file of a program, parsed. */
export interface ProgramFile {
  readonly source: SourceFile;
  readonly tree: SourceTree;
  /** Offsets where the parser had to guess, so that something is missing in the tree. */
  readonly guesses: readonly number[];
}

/** All files that the entry file reaches through `mod name;`, parsed with one source of node ids. */
export interface Program {
  readonly entry: string;
  /** By path, in the order they were found: the entry first. */
  readonly files: ReadonlyMap<string, ProgramFile>;
  /** The file of each `mod name;`, by the ModuleItem's id; no entry when it is missing. */
  readonly moduleFiles: ReadonlyMap<NodeId, string>;
}
