import { useEffect } from 'react';

/** The tab says where one is, and from afar that somebody waits. */
export function usePageTitle(title: string, isWaiting = false): void {
  useEffect(() => {
    document.title = `${isWaiting ? '● ' : ''}${title} · Concerto`;
    const icon = document.querySelector<HTMLLinkElement>('link[rel=icon]');
    if (icon !== null) icon.href = isWaiting ? '/favicon-waiting.svg' : '/favicon.svg';
  }, [title, isWaiting]);
}
