/** Brings a request into view and puts the focus where it is answered. */
export function focusRequest(requestId: string | undefined, reveal: () => void): void {
  if (requestId === undefined) return;
  const card = document.getElementById(`request-${requestId}`);
  // Not laid out: it is at the end, where open ones are.
  if (card === null) return reveal();
  card.scrollIntoView({ block: 'nearest' });
  card.querySelector<HTMLElement>('[data-answer-field]')?.focus();
}
