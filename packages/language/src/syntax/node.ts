import type { Span } from '../source/span.ts';

/** Unique among all files of a program, so that checker and compiler can keep what they know beside the tree. */
export type NodeId = number;

export interface Node {
  readonly id: NodeId;
  readonly span: Span;
}

/** Shared by the parsers of one program's files. */
export interface IdSource {
  nextId: NodeId;
}

export function createIdSource(firstId: NodeId = 1): IdSource {
  return { nextId: firstId };
}

/** An identifier, or a keyword where a name is allowed. `text` is empty where the parser found none and went on. */
export interface Name extends Node {
  readonly kind: 'Name';
  readonly text: string;
}

/** `a::b::c`; at least one segment. */
export interface Path extends Node {
  readonly kind: 'Path';
  readonly segments: readonly Name[];
}

/** What an accepted older spelling was; the parser has already reported it with its fix. */
export type OldSpelling = 'host' | 'agent-as-model' | 'model-field' | 'connect' | 'db' | 'test';
