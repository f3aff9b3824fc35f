/** Resolves at the first SIGINT, SIGTERM or SIGHUP; a second one ends the process at once. */
export async function untilStopped(): Promise<void> {
  await new Promise<void>((resolve) => {
    let asked = false;
    const stop = (): void => {
      if (asked) process.exit(1);
      asked = true;
      resolve();
    };
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop);
  });
}
