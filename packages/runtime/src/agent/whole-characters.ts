import type { WorkEvent } from '@concerto/protocol';

/** So many texts may be in the middle of a character. */
const halvesMax = 1_000;

/**
 * Joins the characters that a worker has split over two pieces of a text: half of one is no text, and strict readers of
 * JSON refuse the frame that it is in.
 */
export class WholeCharacters {
  /** First halves that wait for the next piece of their text. */
  readonly #halves = new Map<string, string>();

  /** The same list where nothing was split. */
  in(events: readonly WorkEvent[]): readonly WorkEvent[] {
    let whole: WorkEvent[] | undefined;
    let index = 0;
    for (const event of events) {
      const joined = this.#joined(event);
      if (joined !== event) whole ??= events.slice(0, index);
      if (joined !== undefined) whole?.push(joined);
      index += 1;
    }
    return whole ?? events;
  }

  /** Undefined where nothing but half a character was said. */
  #joined(event: WorkEvent): WorkEvent | undefined {
    const piece = pieceOf(event);
    if (piece === undefined || (this.#halves.size === 0 && !endsInHalf(piece.text))) return event;
    const { name, text } = piece;
    const half = this.#halves.get(name);
    this.#halves.delete(name);
    const joined = half === undefined ? text : `${goesOn(text) ? half : '\ufffd'}${text}`;
    const isHalf = endsInHalf(joined) && this.#halves.size < halvesMax;
    if (isHalf) this.#halves.set(name, joined.slice(-1));
    const said = isHalf ? joined.slice(0, -1) : joined;
    if (said === text) return event;
    return said === '' ? undefined : withText(event, said);
  }
}

/** A piece of a text, and which text it is of. */
function pieceOf(event: WorkEvent): { readonly name: string; readonly text: string } | undefined {
  if (event.type === 'thought') return { name: `thought ${event.messageId}`, text: event.text };
  if (event.type === 'toolOutput') return { name: `output ${event.callId}`, text: event.text };
  if (event.type !== 'content' || event.whole === true || event.content.role === 'user') return undefined;
  const [part, ...more] = event.content.parts;
  if (part === undefined || more.length > 0 || !('text' in part) || typeof part.text !== 'string') return undefined;
  return { name: `content ${event.messageId}`, text: part.text };
}

function withText(event: WorkEvent, text: string): WorkEvent {
  if (event.type === 'thought' || event.type === 'toolOutput') return { ...event, text };
  if (event.type !== 'content') return event;
  return { ...event, content: { ...event.content, parts: [{ text }] } };
}

function endsInHalf(text: string): boolean {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff;
}

function goesOn(text: string): boolean {
  const first = text.charCodeAt(0);
  return first >= 0xdc00 && first <= 0xdfff;
}
