import { basename, dirname, resolve } from 'node:path';
import type { AgentSpec } from '@concerto/agents';
import { stateRoot } from '../state/state-folder.ts';
import { keeperFolder } from './keeper-of.ts';

/** What no agent may see: tokens, and the store with the work of every other session. */
export function ownFiles(store: string): readonly string[] {
  const scheme = 'sqlite:';
  if (!store.startsWith(scheme)) return [stateRoot()];
  const file = resolve(store.slice(scheme.length).replace(/^\/\/(?=\/)/, ''));
  // A folder that is only ours is hidden whole, with whatever comes to be there later.
  if (basename(dirname(file)) === '.concerto') return [stateRoot(), dirname(file)];
  const keeper = keeperFolder(store);
  const files = ['', '-wal', '-shm', '.lock'].map((end) => `${file}${end}`);
  return [stateRoot(), ...files, ...(keeper === undefined ? [] : [keeper])];
}

/** Agents of the manifest say how; the others, the demo's among them, are in a sandbox where there is one. */
export function hiding(spec: AgentSpec, paths: readonly string[]): AgentSpec {
  const { mode = 'auto', hide = [], show = [] } = spec.sandbox ?? {};
  return { ...spec, sandbox: { mode, hide: [...hide, ...paths], show } };
}
