import { useEffect, useRef } from 'react';
import { keepSeen } from '../sessions/seen-store.ts';

/** What a person has had before their eyes is not unread in the list. Kept when they leave: events come by the thousand. */
export function useKeepSeen(id: string, position: number): void {
  const seen = useRef(0);
  useEffect(() => {
    if (!document.hidden) seen.current = position;
  }, [position]);
  useEffect(() => {
    const keep = (): void => keepSeen(id, seen.current);
    window.addEventListener('pagehide', keep);
    return () => {
      window.removeEventListener('pagehide', keep);
      keep();
    };
  }, [id]);
}
