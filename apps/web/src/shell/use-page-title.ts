import { useEffect } from 'react';
import { useWaiting, useWaitingCount } from '../live/use-overview.ts';

/** The tab says where one is, and from afar that somebody waits. */
export function usePageTitle(title: string, isWaiting = false): void {
  const waits = useWaiting().length > 0;
  const count = useWaitingCount();
  useEffect(() => {
    document.title = `${isWaiting ? '● ' : ''}${waits ? `(${count}) ` : ''}${title} · Concerto`;
    const icon = document.querySelector<HTMLLinkElement>('link[rel=icon]');
    if (icon !== null) icon.href = isWaiting || waits ? '/favicon-waiting.svg' : '/favicon.svg';
  }, [title, isWaiting, waits, count]);
}
