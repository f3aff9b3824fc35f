import { type RefObject, useCallback, useEffect, useEffectEvent, useLayoutEffect, useRef, useState } from 'react';
import { HeldView, openRequests } from './held-place.ts';
import type { TimelineItem } from './timeline-items.ts';

/** Nearer to the end than this counts as being at the end. */
const nearPx = 60;
/** How many items are laid out at first, and how many more each time. */
const windowItems = 300;
/** While more comes than anybody can read, the last of it are enough. */
const busyItems = 50;

export type Following = {
  readonly scroller: RefObject<HTMLDivElement | null>;
  readonly inner: RefObject<HTMLDivElement | null>;
  readonly isFollowing: boolean;
  /** A request that is open is in sight. */
  readonly seesRequest: boolean;
  /** The first item to be laid out. */
  readonly first: number;
  readonly showEarlier: () => void;
  /** To the end, and on with it. */
  readonly follow: () => void;
  /** To what waits longest for an answer; where nothing does, to the end. */
  readonly reveal: () => void;
  readonly onScroll: () => void;
  /** The reader does something here: from now on nothing moves under them. */
  readonly onTouch: () => void;
};

type Shown = {
  readonly items: readonly TimelineItem[];
  readonly isBusy: boolean;
  /** What is drawn is the past: no request in it is open for long. */
  readonly isReplaying: boolean;
  readonly isAsking: boolean;
  readonly earlier: {
    readonly read: () => Promise<void>;
    /** Nothing that stands may go: somebody reads it. */
    readonly hold: (isHeld: boolean) => void;
  };
};

/**
 * Stays at the end while the reader is there, and leaves them alone when they are not. A request that can be answered
 * does not move either, whatever comes after it, until it is: what a press was meant for is what it hits.
 */
export function useFollowing({ items, isBusy, isReplaying, isAsking, earlier: { read, hold } }: Shown): Following {
  const total = items.length;
  const scroller = useRef<HTMLDivElement>(null);
  const inner = useRef<HTMLDivElement>(null);
  const [pinned, setPinned] = useState<number>();
  const [seen, setSeen] = useState(false);
  const isFollowing = pinned === undefined;
  const first = pinned ?? Math.max(0, total - (isBusy ? busyItems : windowItems));
  const topBefore = useRef(0);
  const [held] = useState(() => new HeldView());

  const look = (element: HTMLElement, followed: boolean): void =>
    setSeen(held.look(element, inner.current, { replayed: isReplaying, followed }));
  const growsAbove = useGrowingAbove(scroller, `${first} ${items[0]?.key}`, (element) => look(element, isFollowing));
  const onTouch = (): void => setPinned((before) => before ?? first);
  const follow = useCallback(() => {
    held.letGo();
    setPinned(undefined);
    requestAnimationFrame(() => scroller.current?.scrollTo({ top: scroller.current.scrollHeight }));
  }, [held]);
  const showEarlier = (): void => {
    if (first === 0) void read();
    growsAbove();
    setPinned(Math.max(0, first - windowItems));
  };
  const reveal = (): void => {
    const [card] = scroller.current === null ? [] : openRequests(scroller.current);
    if (card !== undefined) held.standAt(card);
    else if (isAsking && first > 0) showEarlier();
    else follow();
  };
  useEffect(() => hold(!isFollowing), [hold, isFollowing]);

  const onScroll = (): void => {
    const element = scroller.current;
    if (element === null) return;
    // What came since the last drawing has moved the end away: only who goes up leaves it.
    const isUp = element.scrollTop < topBefore.current;
    topBefore.current = element.scrollTop;
    const follows = isNearEnd(element) || (isFollowing && !isUp);
    setPinned((before) => (follows ? undefined : (before ?? first)));
    look(element, follows);
  };
  useHolding({ scroller, inner, isReplaying }, (element, why) => {
    const [card, ...others] = why === 'replayed' && isFollowing ? openRequests(element) : [];
    // Of several, what waits longest comes first, as everywhere.
    if (card !== undefined && others.length > 0) return held.standAt(card);
    if (why === 'resized' && !held.keep(element, isFollowing)) return follow();
    const follows = isFollowing && (why === 'replayed' || isNearEnd(element));
    if (!follows) onTouch();
    look(element, follows);
  });
  useOpeningStops(inner, onTouch);
  return { scroller, inner, isFollowing, seesRequest: seen, first, showEarlier, follow, reveal, onScroll, onTouch };
}

type Parts = {
  readonly scroller: RefObject<HTMLDivElement | null>;
  readonly inner: RefObject<HTMLDivElement | null>;
  readonly isReplaying: boolean;
};

/** Tells when something has changed its size, and once the past is drawn: what is open then is open. */
function useHolding(
  { scroller, inner, isReplaying }: Parts,
  onChange: (element: HTMLElement, why: 'resized' | 'replayed') => void,
): void {
  const change = useEffectEvent(onChange);
  useEffect(() => {
    if (scroller.current !== null && !isReplaying) change(scroller.current, 'replayed');
  }, [scroller, isReplaying]);
  useEffect(() => {
    if (scroller.current === null || inner.current === null) return undefined;
    const observer = new ResizeObserver(() => {
      if (scroller.current !== null) change(scroller.current, 'resized');
    });
    observer.observe(inner.current);
    observer.observe(scroller.current);
    return () => observer.disconnect();
  }, [scroller, inner]);
}

/** What appears above, which is to be told of before it does, must not push down what is being read. */
function useGrowingAbove(
  scroller: RefObject<HTMLDivElement | null>,
  shown: string,
  onGrown: (element: HTMLElement) => void,
): () => void {
  const heightBefore = useRef<number>(undefined);
  const grown = useEffectEvent(onGrown);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null || heightBefore.current === undefined) return;
    const added = element.scrollHeight - heightBefore.current;
    if (added <= 0) return;
    element.scrollBy({ top: added });
    heightBefore.current = undefined;
    grown(element);
  }, [scroller, shown]);
  return () => {
    heightBefore.current = scroller.current?.scrollHeight;
  };
}

function isNearEnd({ scrollHeight, scrollTop, clientHeight }: HTMLElement): boolean {
  return scrollHeight - scrollTop - clientHeight < nearPx;
}

/** Who opens something to read it does not want to be carried away by the next event. */
function useOpeningStops(inner: RefObject<HTMLDivElement | null>, onTouch: () => void): void {
  const touch = useEffectEvent(onTouch);
  useEffect(() => {
    const element = inner.current;
    const press = (event: Event): void => {
      if (event.target instanceof Element && event.target.closest('summary, .activity-more') !== null) touch();
    };
    element?.addEventListener('click', press, true);
    return () => element?.removeEventListener('click', press, true);
  }, [inner]);
}
