import type { MouseEvent } from 'react';

/** The request in which the press began that may become a double one. */
let began: Element | null = null;

/** An answered card gives its place to the next: the second half of a double click is no answer to that. */
export function stopCarriedOver(event: MouseEvent): void {
  const request = event.target instanceof Element ? event.target.closest('.request') : null;
  if (event.detail <= 1) began = request;
  else if (request !== began) event.stopPropagation();
}
