import { existsSync, writeFileSync } from 'node:fs';
import { makeFolder } from '../make-folder.ts';
import { noteFacts, projectFacts } from '../state/project-state.ts';
import { isTrusted } from '../state/trust.ts';

const folder = '.concerto';

/**
 * The store of a folder that nobody named: used if we made it here or the folder is trusted. One that came with a
 * clone holds sessions, templates and rules of its author. Throws with what to do.
 */
export function prepareOwnStore(project: string): void {
  const { madeStore } = projectFacts(project);
  if (existsSync(`${folder}/concerto.db`)) {
    if (madeStore || isTrusted(project)) return;
    throw new Error(
      `${folder}/concerto.db was not made here: it may hold sessions, templates and rules of strangers.\nUse it after \`concerto trust\` (or with --trust), name another with --store, or delete it.`,
    );
  }
  makeFolder(folder, { mode: 0o700, advice: 'make this folder writable, or name a store elsewhere with --store' });
  // What is said to agents is in it: not for a repository.
  if (!existsSync(`${folder}/.gitignore`)) writeFileSync(`${folder}/.gitignore`, '*\n');
  if (!madeStore) noteFacts(project, { madeStore: true });
}
