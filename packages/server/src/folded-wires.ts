import {
  type AguiAbout,
  AguiFold,
  type AguiListener,
  type BetaAbout,
  BetaFold,
  type BetaListener,
  betaFrame,
  type ChatAbout,
  ChatFold,
  type ChatListener,
  controlFrame,
  dataFrame,
  nextCursor,
  type StreamPlace,
} from '@concerto/wires';
import type { LogTail } from './log-tails.ts';
import { ProblemError } from './problem.ts';
import { type FoldedWire, follow, type Listener, type SharedFold } from './shared-fold.ts';

/** How a reader of each wire comes in, alone; from there on it is told what all others are. */
type Told = AsyncGenerator<Uint8Array | string>;

export type SharedAgui = SharedFold<AguiFold, AguiAbout>;

export const aguiWire: FoldedWire<AguiFold, AguiAbout> = {
  foldAt: async (tail, position) => {
    const fold = new AguiFold();
    await tail.replay(position, (event) => fold.take(event));
    return fold;
  },
  tell: (fold, { events }) => events.flatMap((event) => fold.tell(event)),
};

export async function* tellAgui(
  shared: SharedAgui,
  listener: Pick<AguiListener, keyof AguiListener>,
  left: AbortSignal,
): Told {
  // From here on, so that nobody else's leaving takes the fold away in between.
  const leave = shared.join();
  try {
    const fold = await shared.atEnd();
    const from = shared.position;
    yield listener.begin(fold);
    yield* follow(shared, from, listener, left);
  } finally {
    leave();
  }
}

export type SharedChat = SharedFold<ChatFold, ChatAbout>;

export const chatWire: FoldedWire<ChatFold, ChatAbout> = {
  foldAt: async (tail, position) => {
    const fold = new ChatFold(tail.session);
    await tail.replay(position, (event) => fold.take(event));
    return fold;
  },
  tell: (fold, { events }) => events.flatMap((event) => fold.tell(event)),
};

/** Alone until its message is found. */
export async function* tellChat(
  shared: SharedChat,
  listener: Pick<ChatListener, keyof ChatListener>,
  left: AbortSignal,
): Told {
  const { tail } = shared;
  const fold = new ChatFold(tail.session);
  let last: string | undefined;
  while (last === undefined && !listener.isOver && !listener.hasBegun(fold) && !left.aborted) {
    const seen = tail.growths;
    const batch = await tail.read(fold.narration.position);
    if (batch !== undefined) {
      yield batch.events.map((event) => listener.seek(fold, event)).join('');
      continue;
    }
    last = listener.rest(fold);
    if (last === undefined) await tail.grown(seen, left);
  }
  const { position } = fold.narration;
  if (last === undefined) {
    shared.offer({ fold, position });
    yield* follow(shared, position, listener, left);
  }
  yield `${last ?? ''}data: [DONE]\n\n`;
}

export const betaWire: FoldedWire<BetaFold, BetaAbout> = {
  foldAt: async (tail, position) => await betaFoldTo(tail, position),
  tell: (fold, { events }) => events.flatMap((event) => fold.tell(event)),
};

export async function betaFoldTo(tail: LogTail, position: number): Promise<BetaFold> {
  const fold = new BetaFold();
  await tail.replay(position, (event) => fold.take(event));
  return fold;
}

/** Alone through what was before it came: of that it is not asked what is answered. */
export async function* tellBeta(
  shared: SharedFold<BetaFold, BetaAbout>,
  listener: Pick<BetaListener, keyof BetaListener>,
  left: AbortSignal,
): Told {
  const { tail } = shared;
  const fold = new BetaFold();
  const head = await tail.head();
  await tail.replay(head, (event) => fold.settle(event));
  yield betaFrame('start', JSON.stringify({ sessionId: tail.session }));
  while (fold.position < head && !left.aborted) {
    const batch = await tail.read(fold.position);
    if (batch === undefined) break;
    const said = batch.events.flatMap((event) => fold.tell(event));
    yield said.flatMap(({ text, about }) => (about === undefined || listener.hears(about) ? text : [])).join('');
  }
  const { position } = fold;
  shared.offer({ fold, position });
  yield* follow(shared, position, listener, left);
}

/** Where the frames leave their reader, and the number that caches know them by. */
type StreamAbout = StreamPlace & { readonly cursor: string };
export type SharedStream = SharedFold<undefined, StreamAbout>;

/** There is nothing to know but the events themselves. */
export const streamWire: FoldedWire<undefined, StreamAbout> = {
  foldAt: async () => undefined,
  tell: (_fold, { entries, gap, to, head }) => {
    if (gap !== undefined) throw goneUpTo(gap.to);
    const isUpToDate = to >= head;
    const place = { position: to, isUpToDate, isClosed: isUpToDate && entries.at(-1)?.type === 'finish' };
    const cursor = nextCursor(undefined, Date.now());
    return [
      { text: dataFrame(entries.map(({ data }) => data)) },
      { text: controlFrame(place, cursor), about: { ...place, cursor } },
    ];
  },
};

export function goneUpTo(position: number): ProblemError {
  return new ProblemError(410, 'gone', `the events up to ${position} are no longer kept; read from "-1" after that`);
}

/** What a reader of a stream has before it follows. */
export type FirstRead = StreamPlace & { readonly texts: readonly string[]; readonly cursor: string };

export async function* tellStream(shared: SharedStream, first: FirstRead, left: AbortSignal): Told {
  yield dataFrame(first.texts) + controlFrame(first, first.cursor);
  if (!first.isClosed) yield* follow(shared, first.position, new StreamListener(shared, first.cursor), left);
}

class StreamListener implements Listener<undefined, StreamAbout> {
  isOver = false;
  readonly #shared: SharedStream;
  readonly #cursor: string;

  constructor(shared: SharedStream, cursor: string) {
    this.#shared = shared;
    this.#cursor = cursor;
  }

  /** What is told to all does not hold for whoever is behind, or has a later cursor. */
  hears(place: StreamAbout): boolean | string {
    this.isOver = place.isClosed;
    const isUpToDate = place.isUpToDate && place.position >= this.#shared.position;
    const isLater = Number(this.#cursor) > Number(place.cursor);
    if (isUpToDate === place.isUpToDate && !isLater) return true;
    return controlFrame({ ...place, isUpToDate }, isLater ? this.#cursor : place.cursor);
  }

  /** Only the end of the session is its end. */
  rest(): undefined {
    return undefined;
  }
}
