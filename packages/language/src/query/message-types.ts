import type { Completion } from './completion.ts';
import type { ProgramIndex } from './index-program.ts';
import { childrenOf, type SyntaxNode } from './syntax-node.ts';

/** Messages that every agent may send, and what the session itself reports. */
const KNOWN: readonly (readonly [string, string])[] = [
  ['question', 'The agent asks; the value of the handler is the answer'],
  ['approval', 'The agent asks for permission; `true` or `false` is the answer'],
  ['progress', 'How far it is: `message`, and maybe `percent` and `stage`'],
  ['partial', 'A piece of the text it writes: `text`'],
  ['log', 'A line for the log: `level` and `message`'],
  ['result', 'The end of the turn; only observed'],
  ['error', 'The agent gave up; only observed'],
  ['stderr', 'A line of its standard error; only observed'],
  ['exit', 'Its process has ended; only observed'],
];

/** For the handlers of `listen`: also those that other handlers of the program name. */
export function messageTypes(index: ProgramIndex): Completion[] {
  const own = new Set<string>();
  const visit = (node: SyntaxNode): void => {
    if (node.kind === 'ListenHandler') for (const { value } of node.messages) own.add(value);
    for (const child of childrenOf(node)) visit(child);
  };
  for (const { tree } of index.program.files.values()) visit(tree);
  for (const [name] of KNOWN) own.delete(name);
  return [
    ...KNOWN.map(([label, doc]): Completion => ({ label, kind: 'text', doc, rank: 0 })),
    ...[...own].map((label): Completion => ({ label, kind: 'text', detail: 'handled elsewhere', rank: 1 })),
  ];
}
