import { useEffect } from 'react';
import { useWaiting } from '../live/use-overview.ts';

/** The tab says where one is, and from afar that somebody waits. */
export function usePageTitle(title: string, isWaiting = false): void {
  const waiting = useWaiting().length;
  useEffect(() => {
    document.title = `${isWaiting ? '● ' : ''}${waiting > 0 ? `(${waiting}) ` : ''}${title} · Concerto`;
    const icon = document.querySelector<HTMLLinkElement>('link[rel=icon]');
    if (icon !== null) icon.href = isWaiting || waiting > 0 ? '/favicon-waiting.svg' : '/favicon.svg';
  }, [title, isWaiting, waiting]);
}
