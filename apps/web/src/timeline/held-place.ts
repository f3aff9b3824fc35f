/** Something on the screen whose top must stay where it is, whatever changes around it. */
type HeldPlace = {
  readonly element: HTMLElement;
  /** So far from this edge of what scrolls. */
  readonly edge: 'top' | 'bottom';
  readonly distance: number;
};

/** The request that a person can answer as the timeline stands: all that one presses is in sight, and stays there. */
function heldRequest(scroller: HTMLElement): { readonly card: HTMLElement; readonly place: HeldPlace } | undefined {
  const box = scroller.getBoundingClientRect();
  for (const card of openRequests(scroller)) {
    const pressed = card.querySelector<HTMLElement>('.approval, .choices, .text-answer') ?? card;
    const { bottom } = pressed.getBoundingClientRect();
    if (bottom > box.top && bottom <= box.bottom + 1) return { card, place: placeOf(scroller, pressed, 'bottom') };
  }
  return undefined;
}

/** What somebody reads who is not at the end: the first that is in sight, as small as it gets. */
function heldReading(scroller: HTMLElement, inner: HTMLElement): HeldPlace | undefined {
  const { top } = scroller.getBoundingClientRect();
  const firstInSight = (parent: Element): HTMLElement | undefined =>
    [...parent.children].find(
      (child): child is HTMLElement => child instanceof HTMLElement && child.getBoundingClientRect().bottom > top,
    );
  let element = firstInSight(inner);
  while (element !== undefined && element.getBoundingClientRect().top < top) {
    const within = firstInSight(element);
    if (within === undefined) break;
    element = within;
  }
  return element === undefined ? undefined : placeOf(scroller, element, 'top');
}

/** Scrolls so that it stands where it stood. False when it is gone. */
function keepPlace(scroller: HTMLElement, { element, edge, distance }: HeldPlace): boolean {
  if (!element.isConnected) return false;
  const moved = distanceOf(scroller, element, edge) - distance;
  if (Math.abs(moved) >= 1) scroller.scrollTop += moved;
  return true;
}

function isOpenRequest(element: HTMLElement): boolean {
  return element.isConnected && element.dataset.open === 'true';
}

export function openRequests(scroller: HTMLElement): readonly HTMLElement[] {
  return [...scroller.querySelectorAll<HTMLElement>('.request[data-open="true"]')];
}

/** What is to be answered next, further down. */
function requestAfter(scroller: HTMLElement, answered: HTMLElement): HTMLElement | undefined {
  return openRequests(scroller).find(
    (card) => (answered.compareDocumentPosition(card) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0,
  );
}

/** Whether any request that is open can be seen, if only in part. */
function seesRequest(scroller: HTMLElement): boolean {
  const box = scroller.getBoundingClientRect();
  return openRequests(scroller).some((card) => {
    const { top, bottom } = card.getBoundingClientRect();
    return bottom > box.top && top < box.bottom;
  });
}

function placeOf(scroller: HTMLElement, element: HTMLElement, edge: HeldPlace['edge']): HeldPlace {
  return { element, edge, distance: distanceOf(scroller, element, edge) };
}

function distanceOf(scroller: HTMLElement, element: HTMLElement, edge: HeldPlace['edge']): number {
  return element.getBoundingClientRect().top - scroller.getBoundingClientRect()[edge];
}

/** What stays where it is while a timeline changes: what is read further up, or what a person can answer. */
export class HeldView {
  #place: HeldPlace | undefined;
  /** The request at which the timeline stands. */
  #asking: HTMLElement | undefined;

  letGo(): void {
    this.#place = undefined;
    this.#asking = undefined;
  }

  standAt(card: HTMLElement): void {
    card.scrollIntoView({ block: 'nearest' });
    this.#asking = card;
  }

  /** What must stay from here on; of what is read the past is drawn, or the end is followed. True if a request is in sight. */
  look(scroller: HTMLElement, inner: HTMLElement | null, is: { replayed: boolean; followed: boolean }): boolean {
    const request = is.replayed ? undefined : heldRequest(scroller);
    const sees = seesRequest(scroller);
    const stands = sees && this.#asking !== undefined && isOpenRequest(this.#asking);
    if (!stands) this.#asking = is.followed ? request?.card : undefined;
    this.#place = is.followed || inner === null ? request?.place : heldReading(scroller, inner);
    return sees;
  }

  /** After a change of size. False when what was asked is answered, and nothing more is asked below it. */
  keep(scroller: HTMLElement, isFollowed: boolean): boolean {
    const answered = this.#asking;
    if (answered !== undefined && !isOpenRequest(answered)) {
      const next = requestAfter(scroller, answered);
      if (next !== undefined) this.standAt(next);
      return next !== undefined;
    }
    if (this.#place !== undefined && keepPlace(scroller, this.#place)) return true;
    if (isFollowed && answered === undefined) scroller.scrollTop = scroller.scrollHeight;
    else if (isFollowed) answered?.scrollIntoView({ block: 'nearest' });
    return true;
  }
}
