import { type RefObject, useCallback, useEffect, useEffectEvent, useLayoutEffect, useRef, useState } from 'react';
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
  /** The first item to be laid out. */
  readonly first: number;
  readonly showEarlier: () => void;
  readonly follow: () => void;
  readonly onScroll: () => void;
  /** The reader does something here: from now on nothing moves under them. */
  readonly onTouch: () => void;
};

type Shown = {
  readonly items: readonly TimelineItem[];
  readonly isBusy: boolean;
  readonly earlier: {
    readonly read: () => Promise<void>;
    /** Nothing that stands may go: somebody reads it. */
    readonly hold: (isHeld: boolean) => void;
  };
};

/** Stays at the end while the reader is there, and leaves them alone when they are not. */
export function useFollowing({ items, isBusy, earlier: { read, hold } }: Shown): Following {
  const total = items.length;
  const scroller = useRef<HTMLDivElement>(null);
  const inner = useRef<HTMLDivElement>(null);
  const [pinned, setPinned] = useState<number>();
  const isFollowing = pinned === undefined;
  const first = pinned ?? Math.max(0, total - (isBusy ? busyItems : windowItems));
  const firstKey = items[0]?.key;
  const heightBefore = useRef<number>(undefined);

  const toEnd = useCallback(() => {
    const element = scroller.current;
    if (element !== null) element.scrollTop = element.scrollHeight;
  }, []);
  const onTouch = (): void => setPinned((before) => before ?? first);
  const follow = useCallback(() => {
    setPinned(undefined);
    requestAnimationFrame(toEnd);
  }, [toEnd]);
  const showEarlier = (): void => {
    if (first === 0) void read();
    heightBefore.current = scroller.current?.scrollHeight;
    setPinned(Math.max(0, first - windowItems));
  };
  useEffect(() => hold(!isFollowing), [hold, isFollowing]);
  const onScroll = (): void => {
    const element = scroller.current;
    if (element === null) return;
    const isNear = element.scrollHeight - element.scrollTop - element.clientHeight < nearPx;
    setPinned((before) => (isNear ? undefined : (before ?? first)));
  };

  // What appears above must not push down what is being read.
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null || heightBefore.current === undefined) return;
    const added = element.scrollHeight - heightBefore.current;
    if (added <= 0) return;
    element.scrollTop += added;
    heightBefore.current = undefined;
  }, [first, firstKey]);

  useEffect(() => {
    if (!isFollowing || scroller.current === null || inner.current === null) return undefined;
    toEnd();
    const observer = new ResizeObserver(toEnd);
    observer.observe(inner.current);
    observer.observe(scroller.current);
    return () => observer.disconnect();
  }, [isFollowing, toEnd]);

  useOpeningStops(inner, onTouch);
  return { scroller, inner, isFollowing, first, showEarlier, follow, onScroll, onTouch };
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
