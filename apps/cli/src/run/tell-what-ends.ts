import type { SessionStore } from '@concerto/runtime';
import { tell } from '../terminal/print.ts';

/** Whatever ends sooner nobody has to know of. */
const tellAfterMs = 1_000;

/** Tells which agents of a run that is being ended have not ended yet, and how long they have; until the returned call. */
export function tellWhatEnds(store: SessionStore, session: string): () => void {
  const timer = setTimeout(() => {
    const waiting = [...(store.known(session)?.children ?? [])].flatMap((child) => {
      const state = store.known(child);
      if (state === undefined || state.end !== undefined) return [];
      const { agent, control } = state;
      const seconds = control === undefined ? 0 : Math.ceil((control.deadline - Date.now()) / 1000);
      return [seconds > 0 ? `${agent}, which has ${seconds} s to end` : agent];
    });
    if (waiting.length > 0) tell(`waiting for ${waiting.join('; ')} (Ctrl-C again does not wait)\n`);
  }, tellAfterMs);
  return () => clearTimeout(timer);
}
