import { useEffect, useEffectEvent } from 'react';

export type Shortcuts = Readonly<Record<string, (() => void) | undefined>>;

/** Single keys that work wherever the person is not writing. */
export function useShortcuts(shortcuts: Shortcuts): void {
  const onPress = useEffectEvent((event: KeyboardEvent): void => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isWriting(event.target)) return;
    const act = shortcuts[event.key];
    if (act === undefined) return;
    event.preventDefault();
    act();
  });
  useEffect(() => {
    const press = (event: KeyboardEvent): void => onPress(event);
    window.addEventListener('keydown', press);
    return () => window.removeEventListener('keydown', press);
  }, []);
}

function isWriting(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.closest('dialog[open]') !== null) return true;
  return target.isContentEditable || target.matches('input:not([type=radio]):not([type=checkbox]), textarea, select');
}
