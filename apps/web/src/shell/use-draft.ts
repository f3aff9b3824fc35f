import { useEffect, useState } from 'react';
import { forgetDraft, keepDraft, keptDraft } from './draft-store.ts';

/** A text that is still there when the page was left or loaded anew before it was sent. */
export function useDraft(id: string): readonly [string, (text: string) => void] {
  const [text, setText] = useState(() => keptDraft(id));
  const write = (next: string): void => {
    setText(next);
    keepDraft(id, next);
  };
  return [text, write];
}

/** Of what it was written for nobody asks any more. */
export function useForgottenDraft(id: string, isOver: boolean): void {
  useEffect(() => {
    if (isOver) forgetDraft(id);
  }, [id, isOver]);
}
