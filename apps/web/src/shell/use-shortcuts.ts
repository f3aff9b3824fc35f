import { useEffect, useEffectEvent } from 'react';

export type Shortcuts = Readonly<Record<string, (() => void) | undefined>>;

/** Who writes on does not see at once that the field has gone. */
const writesOnMs = 1500;

/** Where somebody wrote last, and when. */
let written: { readonly field: HTMLElement; readonly at: number } | undefined;

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
    const press = (event: KeyboardEvent): void => {
      if (!isWrittenOn(event)) onPress(event);
    };
    window.addEventListener('keydown', press);
    return () => window.removeEventListener('keydown', press);
  }, []);
}

/** Meant for a field that was taken away under the writer, as by somebody else's answer: no key of the page. */
function isWrittenOn({ target, key, timeStamp: at }: KeyboardEvent): boolean {
  if (target instanceof HTMLElement && isWriting(target)) {
    // With these one leaves a field oneself.
    written = key === 'Enter' || key === 'Escape' ? undefined : { field: target, at };
    return false;
  }
  if (written === undefined || written.field.isConnected || at - written.at > writesOnMs) return false;
  written = { ...written, at };
  return true;
}

function isWriting(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.closest('dialog[open]') !== null) return true;
  return target.isContentEditable || target.matches('input:not([type=radio]):not([type=checkbox]), textarea, select');
}
