import { useSyncExternalStore } from 'react';

export type DiffMode = 'unified' | 'split';

const key = 'concerto.diff';
const listeners = new Set<() => void>();
let mode: DiffMode = stored();

/** One choice for every diff of the page, kept for the next time. */
export function useDiffMode(): DiffMode {
  return useSyncExternalStore(
    (onChange) => {
      listeners.add(onChange);
      return () => listeners.delete(onChange);
    },
    () => mode,
  );
}

export function toggleDiffMode(): void {
  mode = mode === 'unified' ? 'split' : 'unified';
  try {
    localStorage.setItem(key, mode);
  } catch {
    // A browser that keeps nothing for us: the choice lasts until the page is closed.
  }
  for (const onChange of listeners) onChange();
}

function stored(): DiffMode {
  try {
    return localStorage.getItem(key) === 'split' ? 'split' : 'unified';
  } catch {
    return 'unified';
  }
}
