import type { Session } from '@concerto/protocol';
import { overview } from '../live/use-overview.ts';
import { sessionPath } from '../routing/route.ts';
import { navigate } from '../routing/use-location.ts';

export type Permission = 'unavailable' | 'default' | 'granted' | 'denied';

export function notifyPermission(): Permission {
  return 'Notification' in window ? Notification.permission : 'unavailable';
}

export async function askToNotify(): Promise<Permission> {
  return 'Notification' in window ? await Notification.requestPermission() : 'unavailable';
}

/** Calls a person who looks elsewhere, once for each request; the icon carries the number. Returns how to stop. */
export function watchForRequests(): () => void {
  let before = overview.state().waiting;
  const told = new Set(before.map(keyOf));
  return overview.subscribe(() => {
    const { waiting } = overview.state();
    if (waiting === before) return;
    before = waiting;
    void navigator.setAppBadge?.(waiting.length).catch(() => {}); // Not installed: there is no icon to carry it.
    for (const session of waiting) {
      if (told.has(keyOf(session))) continue;
      told.add(keyOf(session));
      if (document.hidden && notifyPermission() === 'granted') tell(session);
    }
  });
}

function tell({ id, title, waiting }: Session): void {
  const note = new Notification(title, { body: waiting?.detail ?? 'waits for you', tag: id, icon: '/favicon.svg' });
  note.addEventListener('click', () => {
    window.focus();
    navigate(sessionPath(id));
    note.close();
  });
}

function keyOf({ id, waiting }: Session): string {
  return `${id} ${waiting?.requestId ?? ''}`;
}
