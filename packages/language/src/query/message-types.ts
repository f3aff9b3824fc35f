import { MESSAGE_TYPES } from '@concerto/ir';
import type { Completion } from './completion.ts';
import type { ProgramIndex } from './index-program.ts';
import { childrenOf, type SyntaxNode } from './syntax-node.ts';

/** For the handlers of `listen`: also those that other handlers of the program name. */
export function messageTypes(index: ProgramIndex): Completion[] {
  const own = new Set<string>();
  const visit = (node: SyntaxNode): void => {
    if (node.kind === 'ListenHandler') for (const { value } of node.messages) own.add(value);
    for (const child of childrenOf(node)) visit(child);
  };
  for (const { tree } of index.program.files.values()) visit(tree);
  for (const name of Object.keys(MESSAGE_TYPES)) own.delete(name);
  return [
    ...Object.entries(MESSAGE_TYPES).map(
      ([label, { help }]): Completion => ({ label, kind: 'text', doc: help, rank: 0 }),
    ),
    ...[...own].map((label): Completion => ({ label, kind: 'text', detail: 'handled elsewhere', rank: 1 })),
  ];
}
