const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
export const EXIT_INTERRUPTED = 130;

/** Ctrl-C once ends the program in order; a second time ends us at once. */
export function untilInterrupted(): { readonly signal: AbortSignal; readonly release: () => void } {
  const controller = new AbortController();
  const onSignal = (): void => {
    if (controller.signal.aborted) process.exit(EXIT_INTERRUPTED);
    controller.abort();
  };
  for (const name of SIGNALS) process.on(name, onSignal);
  return {
    signal: controller.signal,
    release: () => {
      for (const name of SIGNALS) process.off(name, onSignal);
    },
  };
}
