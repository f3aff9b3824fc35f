import { useEffect, useEffectEvent, useRef } from 'react';

/** Keys that answer a card while it, or a button in it, has the focus; never while one writes. */
export function useCardKeys(onKey: (key: string) => boolean) {
  const card = useRef<HTMLFieldSetElement>(null);
  const take = useEffectEvent(onKey);
  useEffect(() => {
    const element = card.current;
    const press = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.target instanceof HTMLTextAreaElement) return;
      // It is the key that led here, held down.
      if (event.repeat) return event.stopPropagation();
      if (take(event.key.toLowerCase())) event.preventDefault();
    };
    element?.addEventListener('keydown', press);
    return () => element?.removeEventListener('keydown', press);
  }, []);
  return card;
}
