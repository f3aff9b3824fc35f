import { useEffect, useRef } from 'react';

/** Keys that answer a card while it, or a button in it, has the focus; never while one writes. */
export function useCardKeys(onKey: (key: string) => boolean) {
  const card = useRef<HTMLFieldSetElement>(null);
  const latest = useRef(onKey);
  latest.current = onKey;
  useEffect(() => {
    const element = card.current;
    const press = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.target instanceof HTMLTextAreaElement) return;
      if (latest.current(event.key.toLowerCase())) event.preventDefault();
    };
    element?.addEventListener('keydown', press);
    return () => element?.removeEventListener('keydown', press);
  }, []);
  return card;
}
