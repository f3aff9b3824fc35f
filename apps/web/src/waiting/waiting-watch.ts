import type { Session } from '@concerto/protocol';
import { useSyncExternalStore } from 'react';
import { client } from '../client.ts';
import { needsYou } from '../status/status-words.ts';

const everyMs = 3000;
/** A tab that nobody sees still has to say that somebody is waited for. */
const unseenEveryMs = 15_000;
const pageMax = 200;

let waiting: readonly Session[] = [];
let timer: ReturnType<typeof setTimeout> | undefined;
const listeners = new Set<() => void>();

/** Every session that waits for a person, who has waited longest first; wherever one is in the page. */
export function useWaiting(): readonly Session[] {
  return useSyncExternalStore(subscribe, () => waiting);
}

export function subscribe(onChange: () => void): () => void {
  listeners.add(onChange);
  if (listeners.size === 1) {
    document.addEventListener('visibilitychange', lookNow);
    lookNow();
  }
  return () => {
    listeners.delete(onChange);
    if (listeners.size > 0) return;
    document.removeEventListener('visibilitychange', lookNow);
    clearTimeout(timer);
  };
}

export function waitingNow(): readonly Session[] {
  return waiting;
}

function lookNow(): void {
  void look();
}

async function look(): Promise<void> {
  clearTimeout(timer);
  try {
    // A program works on while an agent that it called waits.
    const pages = await Promise.all(
      [...needsYou, 'running' as const].map((status) => client.list({ status, tree: true, limit: pageMax })),
    );
    const byId = new Map(pages.flatMap(({ sessions }) => sessions).map((session) => [session.id, session]));
    const found = [...byId.values()].filter(({ status }) => needsYou.includes(status));
    take(found.toSorted((a, b) => (sinceOf(a) < sinceOf(b) ? -1 : 1)));
  } catch {
    // The page itself says that the server is away; what is known stays until it is back.
  }
  clearTimeout(timer);
  if (listeners.size > 0) timer = setTimeout(lookNow, document.hidden ? unseenEveryMs : everyMs);
}

function take(next: readonly Session[]): void {
  if (keyOf(next) === keyOf(waiting)) return;
  waiting = next;
  for (const onChange of listeners) onChange();
}

function keyOf(sessions: readonly Session[]): string {
  return sessions.map(({ id, waiting: what }) => `${id} ${what?.requestId ?? ''}`).join('\n');
}

function sinceOf(session: Session): string {
  return session.waiting?.since ?? session.updatedAt;
}
