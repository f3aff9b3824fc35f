/** What came before the signal; undefined when the signal was first. The promise itself goes on. */
export async function before<T>(signal: AbortSignal, promise: Promise<T>): Promise<T | undefined> {
  if (signal.aborted) return undefined;
  const settled = new AbortController();
  const whenAborted = new Promise<undefined>((resolve) => {
    signal.addEventListener('abort', () => resolve(undefined), { once: true, signal: settled.signal });
  });
  try {
    return await Promise.race([promise, whenAborted]);
  } finally {
    settled.abort();
  }
}

/**
 * Aborts after the time, or when the whole check is called off. Not `AbortSignal.any` with a timeout in it: it holds the
 * timeout weakly, so that in Node 20 a garbage collection takes it away and the deadline never comes.
 */
export function within(ms: number, calledOff: AbortSignal): AbortSignal {
  const deadline = new AbortController();
  const abort = (): void => deadline.abort();
  setTimeout(abort, ms).unref();
  if (calledOff.aborted) abort();
  calledOff.addEventListener('abort', abort, { once: true, signal: deadline.signal });
  return deadline.signal;
}
