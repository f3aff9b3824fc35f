import { useEffect, useState } from 'react';

/** For so long a second press is taken for a yes. */
const confirmMs = 5000;
/** Two presses that follow faster are one by habit. */
const habitMs = 300;

/** What cannot be undone is asked for twice. */
export function useConfirm() {
  const [since, setSince] = useState<number>();
  const isConfirming = since !== undefined;
  useEffect(() => {
    if (!isConfirming) return undefined;
    const timer = setTimeout(() => setSince(undefined), confirmMs);
    return () => clearTimeout(timer);
  }, [isConfirming]);
  /** Whether this press is the one that counts. */
  const isMeant = (): boolean => {
    if (since === undefined) {
      setSince(Date.now());
      return false;
    }
    if (Date.now() - since < habitMs) return false;
    setSince(undefined);
    return true;
  };
  return { isConfirming, isMeant };
}
