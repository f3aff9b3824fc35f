import type { FoldedEvent } from '@concerto/protocol';
import { isHeardOut } from '../narration.ts';
import { frameOf } from '../said.ts';
import { type ChatChunk, isTransient } from './chat-chunks.ts';
import { aboutOf, answerId, type ChatAbout, type ChatFold } from './chat-fold.ts';

/** From where a client is told: the answer to what it said, a message from its beginning, or on from a position. */
export type ChatPlace =
  | { readonly from: 'words'; readonly words: readonly string[]; readonly live: number }
  | { readonly from: 'message'; readonly id: string; readonly live: number }
  | { readonly from: 'position'; readonly live: number };

/** One client: of all that a fold says, what it is told. */
export class ChatListener {
  readonly #place: ChatPlace;
  /** What it has said: it is not told to it again. */
  readonly #known: ReadonlySet<string>;
  /** Calls that stand in the message as the client has it; another one would have nowhere to go. */
  readonly #calls = new Set<string>();
  #hasBegun = false;
  #isOver = false;

  constructor(place: ChatPlace, known: ReadonlySet<string>) {
    this.#place = place;
    this.#known = known;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** It has its message, and hears what all others hear. */
  hasBegun({ narration }: ChatFold): boolean {
    return this.#hasBegun && narration.position >= this.#place.live;
  }

  /** Until then it looks for its message in what the session was. */
  seek(fold: ChatFold, event: FoldedEvent): string {
    return this.#found(fold, event).map(frameOf).join('');
  }

  hears(about: ChatAbout): boolean {
    if ('ends' in about) this.#isOver = true;
    else if ('user' in about) return !this.#known.has(about.user);
    else if (this.#place.from !== 'position') {
      if (about.begins) this.#calls.add(about.call);
      return this.#calls.has(about.call);
    }
    return true;
  }

  /** Its last words, when there is nothing to wait for. */
  rest(fold: ChatFold): string | undefined {
    if (this.#hasBegun) return isHeardOut(fold.narration, []) ? fold.paused().map(frameOf).join('') : undefined;
    return fold.narration.isOver || this.#isTakenBack(fold) ? '' : undefined;
  }

  /** Nobody will answer what was taken back. */
  #isTakenBack({ narration }: ChatFold): boolean {
    return this.#place.from === 'words' && this.#place.words.every((id) => narration.isWithdrawn(id));
  }

  #found(fold: ChatFold, event: FoldedEvent): readonly ChatChunk[] {
    const chunks = fold.take(event);
    if (this.#place.from === 'position') return this.#fromPosition(fold, event.seq, chunks);
    const isLive = event.seq > this.#place.live;
    const told = chunks.filter((chunk) => {
      if (this.#isOver) return false;
      if (isTransient(chunk)) return isLive;
      if (chunk.type === 'start' && this.#isFirst(chunk.messageId)) this.#hasBegun = true;
      return this.#hasBegun && this.#isTold(chunk);
    });
    return this.#hasBegun ? told : [...told, ...this.#steered(fold)];
  }

  #fromPosition(fold: ChatFold, seq: number, chunks: readonly ChatChunk[]): readonly ChatChunk[] {
    if (seq < this.#place.live) return [];
    const goesOn = this.#hasBegun ? [] : fold.goOn();
    this.#hasBegun = true;
    if (seq === this.#place.live) return goesOn;
    return [...goesOn, ...chunks.filter((chunk) => !this.#isOver && this.#isTold(chunk))];
  }

  #isTold(chunk: ChatChunk): boolean {
    const about = aboutOf(chunk);
    return about === undefined || this.hears(about);
  }

  #isFirst(messageId: string): boolean {
    if (this.#place.from === 'message') return messageId === this.#place.id;
    return this.#place.from === 'words' && this.#place.words.some((id) => messageId === answerId(id));
  }

  /** What was said into a running turn is answered from there on. */
  #steered(fold: ChatFold): readonly ChatChunk[] {
    const { narration } = fold;
    const [first] = this.#place.from === 'words' ? this.#place.words : [];
    if (first === undefined || !narration.hasHeard(first) || narration.isPending(first)) return [];
    this.#hasBegun = true;
    return [
      { type: 'start', messageId: answerId(first), messageMetadata: { position: narration.position } },
      { type: 'start-step' },
      ...fold.goOn(),
    ];
  }
}
