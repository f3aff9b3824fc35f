import { useState } from 'react';
import { failureOf } from './failure.ts';

/** Something that is asked for by hand and takes its time: what came of it last, or why nothing did. */
export function useAttempt<T>() {
  const [isBusy, setBusy] = useState(false);
  const [value, setValue] = useState<T>();
  const [problem, setProblem] = useState<string>();
  const attempt = async (work: () => Promise<T>): Promise<void> => {
    setBusy(true);
    setProblem(undefined);
    try {
      setValue(await work());
    } catch (cause) {
      setValue(undefined);
      setProblem(failureOf(cause).text);
    }
    setBusy(false);
  };
  return { isBusy, value, problem, attempt, forget: () => setValue(undefined) };
}
