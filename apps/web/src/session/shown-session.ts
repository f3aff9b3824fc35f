import { createContext } from 'react';

/** The session whose page it is, for what stands deep in it. */
export type ShownSession = {
  readonly id: string;
  /** Where its agent works, where that is known: paths are shown from there. */
  readonly folder: string | undefined;
  /** Begins another session with what was said up to the end of a turn; undefined where that cannot be. */
  readonly fork: ((turn: number) => void) | undefined;
};

export const ShownSessionContext = createContext<ShownSession>({ id: '', folder: undefined, fork: undefined });

/** From the folder, where the path is in it. */
export function pathFrom(folder: string | undefined, path: string): string {
  if (folder === undefined || folder === '' || !path.startsWith(folder)) return path;
  const rest = path.slice(folder.length);
  if (rest === '') return '.';
  return /^[\\/]/.test(rest) ? rest.slice(1) : path;
}
