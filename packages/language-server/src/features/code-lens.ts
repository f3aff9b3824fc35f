import { type ProgramIndex, runnablesOf } from '@concerto/language';
import type { CodeLens } from 'vscode-languageserver/node';
import { uriOf } from '../workspace/file-path.ts';
import { toRange } from './positions.ts';

/** Commands of the editor's side: `concerto.run` takes a file, `concerto.test` a file and the description of a test. */
export function codeLenses(index: ProgramIndex, path: string): CodeLens[] {
  const file = index.program.files.get(path);
  if (file === undefined) return [];
  const uri = uriOf(path);
  return runnablesOf(file.tree).map((runnable) => ({
    range: toRange(file.source, runnable.span),
    command:
      runnable.kind === 'main'
        ? { title: '▶ Run', command: 'concerto.run', arguments: [uri] }
        : { title: '▶ Run test', command: 'concerto.test', arguments: [uri, runnable.description] },
  }));
}
