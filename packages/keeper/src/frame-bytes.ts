import type { Frame, FromKeeper, ToKeeper } from './frames.ts';

const prefixLength = 8;
/** A line to an agent may have 32 MiB; a start has its environment. */
const headLengthMax = 4 * 1024 * 1024;
const bodyLengthMax = 48 * 1024 * 1024;

/** A body up to this is copied beside its head: two pieces cost more than a copy. */
const copiedLengthMax = 16 * 1024;

/** What is said with every line has a head of fixed length, for whoever reads such: a letter, a step, an index. */
const shortLength = 9;
const letters = { line: 1, note: 2, out: 3, taken: 4 } as const;
/** Where a head in JSON begins, which is no letter of a short one. */
const brace = 0x7b;

export type Body = Uint8Array | string;

/** Two lengths, the head, the body as it is. */
export function encodeFrame(head: ToKeeper | FromKeeper, body: Body, short: boolean): readonly Uint8Array[] {
  const bodyLength = typeof body === 'string' ? Buffer.byteLength(body) : body.length;
  const isCopied = bodyLength <= copiedLengthMax;
  const letter = short ? letterOf(head.type) : undefined;
  const text = letter === undefined ? JSON.stringify(head) : '';
  const headLength = letter === undefined ? Buffer.byteLength(text) : shortLength;
  const first = Buffer.allocUnsafe(prefixLength + headLength + (isCopied ? bodyLength : 0));
  first.writeUInt32BE(headLength, 0);
  first.writeUInt32BE(bodyLength, 4);
  if (letter === undefined) first.write(text, prefixLength);
  else {
    first[prefixLength] = letter;
    first.writeUInt32BE('step' in head ? head.step : 0, prefixLength + 1);
    first.writeUInt32BE('index' in head ? head.index : 0, prefixLength + 5);
  }
  if (!isCopied) return [first, typeof body === 'string' ? Buffer.from(body) : body];
  if (typeof body === 'string') first.write(body, prefixLength + headLength);
  else first.set(body, prefixLength + headLength);
  return [first];
}

function letterOf(type: (ToKeeper | FromKeeper)['type']): number | undefined {
  switch (type) {
    case 'line':
    case 'note':
    case 'out':
    case 'taken':
      return letters[type];
    default:
      return undefined;
  }
}

function decodeHead(bytes: Buffer, start: number, end: number): unknown {
  if (end - start !== shortLength || bytes[start] === brace) return JSON.parse(bytes.toString('utf8', start, end));
  switch (bytes[start]) {
    case letters.line:
      return { type: 'line', step: bytes.readUInt32BE(start + 1), index: bytes.readUInt32BE(start + 5) };
    case letters.note:
      return { type: 'note', step: bytes.readUInt32BE(start + 1) };
    case letters.out:
      return out;
    case letters.taken:
      return { type: 'taken', step: bytes.readUInt32BE(start + 1), index: bytes.readUInt32BE(start + 5) };
    default:
      return undefined;
  }
}

const out: FromKeeper = { type: 'out' };

/** Cuts what comes in into frames; throws when it cannot be one. */
export class FrameReader {
  #chunks: Buffer[] = [];
  #length = 0;

  push(chunk: Buffer): readonly Frame<unknown>[] {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    const frames: Frame<unknown>[] = [];
    let wanted = prefixLength;
    while (this.#length >= wanted) {
      const [headLength, bodyLength] = this.#lengths();
      wanted = prefixLength + headLength + bodyLength;
      if (this.#length < wanted) break;
      const frame = this.#take(wanted);
      const headEnd = prefixLength + headLength;
      frames.push({ head: decodeHead(frame, prefixLength, headEnd), body: frame.subarray(headEnd, wanted) });
      wanted = prefixLength;
    }
    return frames;
  }

  #lengths(): readonly [number, number] {
    const first = this.#chunks[0];
    if (first === undefined || first.length < prefixLength) this.#chunks = [Buffer.concat(this.#chunks)];
    const prefix = this.#chunks[0] ?? Buffer.alloc(prefixLength);
    const lengths = [prefix.readUInt32BE(0), prefix.readUInt32BE(4)] as const;
    if (lengths[0] > headLengthMax || lengths[1] > bodyLengthMax) throw new Error('a frame is too long');
    return lengths;
  }

  /** What begins with a frame of this length. */
  #take(length: number): Buffer {
    const all =
      this.#chunks.length === 1 && this.#chunks[0] !== undefined ? this.#chunks[0] : Buffer.concat(this.#chunks);
    this.#length = all.length - length;
    this.#chunks = this.#length === 0 ? [] : [all.subarray(length)];
    return all;
  }
}
