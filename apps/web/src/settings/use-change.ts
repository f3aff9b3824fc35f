import { useState } from 'react';
import { failureOf } from '../fetching/failure.ts';
import { post } from '../shell/notice-board.ts';

/** Makes a change, one at a time; what went wrong is told, and what stands is read again either way. */
export function useChange(reload: () => void) {
  const [isBusy, setBusy] = useState(false);
  const change = async (work: () => Promise<unknown>, done?: string): Promise<void> => {
    setBusy(true);
    try {
      await work();
      if (done !== undefined) post('info', done);
    } catch (cause) {
      post('bad', failureOf(cause).text);
    }
    setBusy(false);
    reload();
  };
  return { isBusy, change };
}
