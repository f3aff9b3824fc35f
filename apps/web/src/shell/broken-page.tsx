import type { ReactNode } from 'react';
import { Link } from '../routing/link.tsx';

/** A page that did not load, or broke while it was shown. */
export function BrokenPage({ error }: { readonly error: unknown }): ReactNode {
  return (
    <main className="stop-page" tabIndex={-1}>
      <h1>This page cannot be shown</h1>
      <p role="alert">{error instanceof Error ? error.message : String(error)}</p>
      <p className="muted">The server may be away, or newer than what this tab has loaded. Nothing was lost.</p>
      <p className="stop-actions">
        <button type="button" className="button primary" onClick={() => window.location.reload()}>
          Load it again
        </button>
        <Link href="/" className="button">
          All sessions
        </Link>
      </p>
    </main>
  );
}
