import { setTimeout as sleep } from 'node:timers/promises';
import type { Report } from '@concerto/runtime';
import { write } from '../terminal/print.ts';
import type { Leaving } from './open-runtime.ts';

type StopSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

export type Stopped = {
  readonly signal: StopSignal;
  /** Aborts at the second signal: then agents that are at work end too. A third one ends the process at once. */
  readonly again: AbortSignal;
  /** What is waited for from now on. */
  readonly awaits: (what: string) => void;
};

/** For all of it; each of its waits is much shorter. Whoever stops a service kills it after 30 s. */
const stopWithinMs = 25_000;

/** Resolves at the first SIGINT, SIGTERM or SIGHUP; from then on our time is limited, wherever we are. */
export async function untilStopped(report: Report): Promise<Stopped> {
  return await new Promise((resolve) => {
    const again = new AbortController();
    let awaited = 'the start';
    const awaits = (what: string): void => {
      awaited = what;
    };
    let asked = 0;
    const stop = (signal: StopSignal): void => {
      asked++;
      // A terminal shows `^C`, and what we say begins behind it.
      if (signal === 'SIGINT' && process.stdout.isTTY) write('\n');
      if (asked === 1) {
        setTimeout(() => leaveAtOnce(awaited, again.signal, report), stopWithinMs).unref();
        resolve({ signal, again: again.signal, awaits });
      } else if (asked === 2) again.abort();
      else process.exit(1);
    };
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop(signal));
  });
}

/** As a crash: nothing is lost, and the next start takes up what there is. */
function leaveAtOnce(awaited: string, again: AbortSignal, report: Report): never {
  const agents = again.aborted ? '; `concerto stop --agents` ends agents that still run' : '';
  const why = new Error(`${awaited} took too long`);
  report(`left after ${stopWithinMs / 1_000} s, and the next start settles what is open${agents}`, why);
  process.exit(1);
}

/** Somebody who has pressed Ctrl-C is told why it takes longer than a moment. */
const momentMs = 700;
/** For a second thought about the agents that stay. */
const secondThoughtMs = 2_000;

/** Stops, and says in its order what takes long: who ends, who stays at work, and after a second signal who ends then. */
export async function stopWithWord(
  stopped: Stopped,
  report: (message: string) => void,
  stop: (leaving: Leaving) => Promise<void>,
): Promise<void> {
  const { signal, again, awaits } = stopped;
  const say = (): void => {
    const what = again.aborted ? 'agents end, those at work too' : 'idle agents end and sessions are handed over';
    // After SIGHUP there may be no terminal to write to.
    if (signal !== 'SIGHUP') report(`stopping: ${what}`);
  };
  const word = setTimeout(say, momentMs);
  const stayed = async (pids: readonly number[]): Promise<void> => {
    // What is waited for now is a second thought.
    clearTimeout(word);
    if (!again.aborted) await tellWhoStays(pids, stopped, write);
    if (again.aborted) say();
  };
  try {
    await stop({ endsAll: again, awaits, stayed });
  } finally {
    clearTimeout(word);
  }
}

/** Says which agents stay, and waits for whoever would rather end them. */
async function tellWhoStays(
  pids: readonly number[],
  { signal, again }: Stopped,
  out: (text: string) => unknown,
): Promise<void> {
  const who = pids.length === 1 ? '1 agent stays' : `${pids.length} agents stay`;
  const one = pids.length === 1 ? 'it' : 'them';
  const now = signal === 'SIGINT' ? 'Ctrl-C again' : `${signal} again`;
  out(
    `${who} at work (pid ${pids.join(', ')}); the next start takes ${one} up. To end ${one}: ${now}, or \`concerto stop --agents\`\n`,
  );
  await sleep(secondThoughtMs, undefined, { signal: again }).catch(() => undefined);
}
