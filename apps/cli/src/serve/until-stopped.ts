type StopSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

/** Resolves at the first SIGINT, SIGTERM or SIGHUP; a second one ends the process at once. */
export async function untilStopped(): Promise<StopSignal> {
  return await new Promise((resolve) => {
    let asked = false;
    const stop = (signal: StopSignal): void => {
      if (asked) process.exit(1);
      asked = true;
      resolve(signal);
    };
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop(signal));
  });
}

/** Somebody who has pressed Ctrl-C is told why it takes longer than a moment. */
const momentMs = 700;

export async function stopWithWord(signal: StopSignal, report: (message: string) => void, stop: () => Promise<void>) {
  // After SIGHUP there may be no terminal to write to.
  const timer = setTimeout(() => {
    if (signal !== 'SIGHUP') report('stopping: agents end and sessions are handed over; Ctrl-C again ends at once');
  }, momentMs);
  try {
    await stop();
  } finally {
    clearTimeout(timer);
  }
}
