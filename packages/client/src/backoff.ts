const firstMs = 250;
const longestMs = 10_000;

/** Doubles from try to try, with a random half so that a thousand clients do not come back at the same instant. */
export function backoffMs(failures: number): number {
  const full = Math.min(longestMs, firstMs * 2 ** Math.max(0, failures - 1));
  return full / 2 + Math.random() * (full / 2);
}

/** Waits; returns early when the signal aborts or a browser says that the network is back. */
export async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  if (signal?.aborted === true) return;
  const over = new AbortController();
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms);
    const wake = (): void => {
      clearTimeout(timer);
      resolve();
    };
    signal?.addEventListener('abort', wake, { signal: over.signal });
    // Node has no such event, and no such function.
    if (typeof globalThis.addEventListener === 'function') {
      globalThis.addEventListener('online', wake, { signal: over.signal });
    }
  });
  over.abort();
}
