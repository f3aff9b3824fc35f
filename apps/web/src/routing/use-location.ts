import { useSyncExternalStore } from 'react';

const changed = 'concerto:navigate';

export function navigate(to: string): void {
  window.history.pushState(null, '', to);
  window.dispatchEvent(new Event(changed));
  window.scrollTo(0, 0);
}

/** Changes the address without a step in the history: a filter, not a place. */
export function replaceAddress(to: string): void {
  window.history.replaceState(null, '', to);
  window.dispatchEvent(new Event(changed));
}

/** Path and query of the address, as the page's own state. */
export function useLocation(): { readonly path: string; readonly query: URLSearchParams } {
  const address = useSyncExternalStore(subscribe, () => window.location.pathname + window.location.search);
  const url = new URL(address, window.location.origin);
  return { path: url.pathname, query: url.searchParams };
}

function subscribe(onChange: () => void): () => void {
  window.addEventListener('popstate', onChange);
  window.addEventListener(changed, onChange);
  return () => {
    window.removeEventListener('popstate', onChange);
    window.removeEventListener(changed, onChange);
  };
}
