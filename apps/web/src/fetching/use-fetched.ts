import { useCallback, useEffect, useEffectEvent, useRef, useState } from 'react';

export type Fetched<T> = {
  readonly value: T | undefined;
  /** Why the last try failed; the value is then the one before. */
  readonly error: unknown;
  readonly reload: () => void;
};

type Options = {
  /** What is fetched: another key forgets the old value. */
  readonly key: string;
  /** Fetched again whenever this changes; changes during a fetch are caught up by one more. */
  readonly revision?: string | number;
};

type Held<T> = { readonly key: string; readonly value: T | undefined; readonly error: unknown };

/** A value of the server's, read when it is needed and again when it may have changed. */
export function useFetched<T>(load: (signal: AbortSignal) => Promise<T>, options: Options): Fetched<T> {
  const { key, revision = 0 } = options;
  const [held, setHeld] = useState<Held<T>>({ key, value: undefined, error: undefined });
  const [asked, setAsked] = useState(0);
  const loadNow = useEffectEvent(load);

  const run = useRef<() => Promise<void>>(undefined);

  useEffect(() => {
    const leaving = new AbortController();
    let state: 'still' | 'fetching' | 'outdated' = 'still';
    const fetchOnce = async (): Promise<void> => {
      try {
        const value = await loadNow(leaving.signal);
        if (!leaving.signal.aborted) setHeld({ key, value, error: undefined });
      } catch (error) {
        if (leaving.signal.aborted) return;
        setHeld((before) => ({ key, value: before.key === key ? before.value : undefined, error }));
      }
    };
    run.current = async () => {
      if (state !== 'still') {
        state = 'outdated';
        return;
      }
      do {
        state = 'fetching';
        await fetchOnce();
      } while (isOutdated() && !leaving.signal.aborted);
      state = 'still';
    };
    const isOutdated = (): boolean => state === 'outdated';
    return () => leaving.abort();
  }, [key]);

  useEffect(() => {
    void run.current?.();
  }, [key, revision, asked]);

  const reload = useCallback(() => setAsked((count) => count + 1), []);
  const isCurrent = held.key === key;
  return { value: isCurrent ? held.value : undefined, error: isCurrent ? held.error : undefined, reload };
}
