/** An offset is the position of the last event that was read, as long as any other, so that they sort as text. */
const offsetLength = 16;

function offsetOf(position: number): string {
  return String(position).padStart(offsetLength, '0');
}

/** Where to read from: `now` is the end, `-1` the beginning; undefined when it is no offset of ours. */
export function positionOf(offset: string, head: number): number | undefined {
  if (offset === '-1') return 0;
  if (offset === 'now') return head;
  const isOurs = offset.length === offsetLength && /^\d+$/.test(offset);
  return isOurs ? Number(offset) : undefined;
}

const cursorEveryMs = 20_000;
/** Counted from a day that is over everywhere. */
const cursorEpochMs = Date.UTC(2024, 9, 9);

/**
 * A number that changes with time, by which caches tell live calls apart. One that was given back too early is followed
 * by a greater one, or a cache would serve the same answer for ever.
 */
export function nextCursor(given: string | undefined, nowMs: number): string {
  const now = Math.floor((nowMs - cursorEpochMs) / cursorEveryMs);
  const before = given !== undefined && /^\d{1,15}$/.test(given) ? Number(given) : -1;
  return String(before >= now ? before + 1 : now);
}

export type StreamPlace = {
  readonly position: number;
  /** Nothing is there beyond it now. */
  readonly isUpToDate: boolean;
  /** Nothing will ever be. */
  readonly isClosed: boolean;
};

/** What every answer says about where it leaves its reader. */
export function placeHeaders({ position, isUpToDate, isClosed }: StreamPlace): Readonly<Record<string, string>> {
  return {
    'stream-next-offset': offsetOf(position),
    ...(isUpToDate ? { 'stream-up-to-date': 'true' } : {}),
    ...(isUpToDate && isClosed ? { 'stream-closed': 'true' } : {}),
  };
}

/** The same after the data of a server-sent event. */
export function controlFrame(place: StreamPlace, cursor: string): string {
  const { position, isUpToDate, isClosed } = place;
  const isOver = isUpToDate && isClosed;
  const control = {
    streamNextOffset: offsetOf(position),
    ...(isOver ? { streamClosed: true } : { streamCursor: cursor }),
    ...(isUpToDate ? { upToDate: true } : {}),
  };
  return `event: control\ndata:${JSON.stringify(control)}\n\n`;
}

/** The texts are JSON, and stay as they are. */
export function dataFrame(texts: readonly string[]): string {
  return texts.length === 0 ? '' : `event: data\ndata:[${texts.join(',')}]\n\n`;
}
