import type { RequestEntry } from '@concerto/protocol';

/** Where one wants to be: at what has the focus, else at what waits longest; or at what comes after that. */
type Wanted = 'this' | 'next';

/** Brings a request into view, and puts the focus where it is answered. */
export function focusRequest(open: readonly RequestEntry[], wanted: Wanted, reveal: () => void): void {
  const cards = open.map(({ event }) => document.getElementById(`request-${event.requestId}`));
  const at = cards.findIndex((card) => card?.contains(document.activeElement) === true);
  const card = cards[wanted === 'this' ? Math.max(0, at) : (at + 1) % Math.max(1, cards.length)];
  if (card === undefined) return;
  // Not laid out: it is further up.
  if (card === null) return reveal();
  card.scrollIntoView({ block: 'nearest' });
  card.querySelector<HTMLElement>('[data-answer-field]')?.focus();
}
