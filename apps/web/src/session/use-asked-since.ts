import { useRef, useState } from 'react';
import type { Addressee } from './addressee.ts';

/**
 * What is being written was meant for what was open when it was begun. A request that came since, or comes first since
 * another was answered elsewhere, gets it when the person has seen so: an Enter that was on its way approves nothing.
 */
export function useAskedSince(addressee: Addressee | undefined, text: string) {
  const begunFor = useRef<string>(undefined);
  const [told, setTold] = useState<string>();
  const to = addressee?.answer.to;
  return {
    isTold: told !== undefined && told === to && text.trim() !== '',
    /** Before the text changes. */
    writes: (): void => {
      if (text.trim() === '') begunFor.current = to;
    },
    holdsBack: (): boolean => {
      if (to === undefined || text.trim() === '' || begunFor.current === to) return false;
      begunFor.current = to;
      setTold(to);
      return true;
    },
  };
}
