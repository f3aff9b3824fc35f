import type { ReactNode } from 'react';

/** That something is on its way; shown only where that takes long enough to be read. */
export function Loading(): ReactNode {
  return <span className="loading">Loading …</span>;
}
