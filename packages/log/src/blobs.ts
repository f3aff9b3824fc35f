import { createHash, randomUUID } from 'node:crypto';
import { assert } from '@concerto/base';
import { BlobHead, type BlobRef, BlobUpload, blobBytesMax } from '@concerto/protocol';
import { type DocumentWrite, type EventLog, LogError } from './event-log.ts';

/** Bytes of one piece: small enough that no store is held up by one, and that a reader holds little of a big one. */
const PIECE_BYTES = 512 * 1024;
/** A handle has 144 bits of what it names, so it is the same for the same bytes of the same type, and cannot be guessed. */
const HANDLE_CHARACTERS = 24;
const LISTED = 100;
/** Pieces are long. */
const PIECES_LISTED = 8;

const heads = 'blobs';
const pieces = 'blob-pieces';
const uploads = 'blob-uploads';
/** By blob, and the same by session: each is looked up both ways. */
const usesByBlob = 'blob-uses';
const usesBySession = 'blob-uses-of';

/**
 * Bytes beside the streams, whichever store keeps them: pieces are documents, so that copies, limits and failures are
 * those of documents. A blob is kept while a session uses it, and for a while after it was put.
 */
export class Blobs {
  readonly #log: EventLog;
  readonly #now: () => number;
  readonly #bytesMax: number;

  constructor(log: EventLog, now: () => number, bytesMax = blobBytesMax) {
    this.#log = log;
    this.#now = now;
    this.#bytesMax = bytesMax;
  }

  /** Reads to the end unless there is too much. The same bytes of the same type are one blob, however often they come. */
  async put(mimeType: string, bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<BlobRef> {
    const upload = randomUUID();
    const named = createHash('sha256').update(`${mimeType}\n`);
    const content = createHash('sha256');
    let contentLength = 0;
    let count = 0;
    // On record first: the pieces of an upload that was cut are found by it.
    await this.#write(uploads, upload, { at: this.#now() });
    try {
      for await (const piece of inPieces(bytes)) {
        contentLength += piece.length;
        if (contentLength > this.#bytesMax)
          throw new LogError('too-large', `a file has at most ${this.#bytesMax} bytes`);
        named.update(piece);
        content.update(piece);
        const value = JSON.stringify(piece.toString('base64'));
        await this.#log.putDocument({ collection: pieces, key: pieceKey(upload, count), value, tag: upload });
        count++;
      }
    } catch (error) {
      await this.#removePieces(upload);
      throw error;
    }
    const handle = `b_${named.digest('base64url').slice(0, HANDLE_CHARACTERS)}`;
    const contentHash = `sha256-${content.digest('hex')}`;
    const facts = { mimeType, contentHash, contentLength };
    const head: BlobHead = { ...facts, upload, pieces: count, touchedAt: this.#now() };
    const isNew = await this.#log.createDocument({ collection: heads, key: handle, value: JSON.stringify(head) });
    if (isNew) await this.#remove(uploads, upload);
    else {
      await this.#removePieces(upload);
      await this.find(handle);
    }
    return { handle, ...facts };
  }

  /** Looking for it keeps it a while longer: whoever looks is about to use it. */
  async find(handle: string): Promise<BlobRef | undefined> {
    const head = await this.#head(handle);
    if (head === undefined) return undefined;
    await this.#write(heads, handle, { ...head, touchedAt: this.#now() });
    const { mimeType, contentHash, contentLength } = head;
    return { handle, mimeType, contentHash, contentLength };
  }

  /** Undefined when it is gone. A piece that is missing is `corrupt`: never less than what was put. */
  async open(handle: string): Promise<(BlobRef & { readonly bytes: AsyncGenerator<Buffer, void, void> }) | undefined> {
    const head = await this.#head(handle);
    if (head === undefined) return undefined;
    const { mimeType, contentHash, contentLength } = head;
    return { handle, mimeType, contentHash, contentLength, bytes: this.#pieces(handle, head) };
  }

  /** All of it at once. */
  async read(handle: string): Promise<(BlobRef & { readonly content: Buffer }) | undefined> {
    const opened = await this.open(handle);
    if (opened === undefined) return undefined;
    const { bytes, ...facts } = opened;
    const all: Buffer[] = [];
    for await (const piece of bytes) all.push(piece);
    return { ...facts, content: Buffer.concat(all) };
  }

  /** To be written with whatever makes the session use them. */
  usesOf(session: string, handles: readonly string[]): readonly DocumentWrite[] {
    return [...new Set(handles)].flatMap((handle) => [
      { collection: usesByBlob, key: `${handle} ${session}`, value: '{}', tag: handle },
      { collection: usesBySession, key: `${session} ${handle}`, value: JSON.stringify(handle), tag: session },
    ]);
  }

  /** The files that the session uses. */
  async usedBy(session: string): Promise<readonly string[]> {
    const handles: string[] = [];
    for (let cursor: string | undefined; ; ) {
      const from = cursor === undefined ? {} : { cursor };
      const page = await this.#log.listDocuments({ collection: usesBySession, tag: session, limit: LISTED, ...from });
      handles.push(...page.documents.map(({ value }) => textIn(value)));
      cursor = page.nextCursor;
      if (cursor === undefined) return handles;
    }
  }

  /** The session is no more: what only it used goes with it. */
  async forgetSession(session: string): Promise<void> {
    for (;;) {
      const { documents } = await this.#log.listDocuments({ collection: usesBySession, tag: session, limit: LISTED });
      if (documents.length === 0) return;
      for (const { key, value } of documents) {
        const handle = textIn(value);
        await this.#remove(usesByBlob, `${handle} ${session}`);
        await this.#remove(usesBySession, key);
        if (!(await this.#isUsed(handle))) await this.#removeBlob(handle);
      }
    }
  }

  /** Removes what no session uses and nobody looked for since, and what was left of uploads that were cut. Tells how many. */
  async collect(untouchedSince: number): Promise<number> {
    let removed = 0;
    for await (const { key, value } of this.#all(heads)) {
      const head = BlobHead.parse(JSON.parse(value));
      if (head.touchedAt > untouchedSince || (await this.#isUsed(key))) continue;
      await this.#removeBlob(key);
      removed++;
    }
    for await (const { key, value } of this.#all(uploads)) {
      if (BlobUpload.parse(JSON.parse(value)).at > untouchedSince) continue;
      await this.#removePieces(key);
      removed++;
    }
    return removed;
  }

  async *#all(collection: string): AsyncGenerator<{ readonly key: string; readonly value: string }> {
    let cursor: string | undefined;
    do {
      const from = cursor === undefined ? {} : { cursor };
      const page = await this.#log.listDocuments({ collection, limit: LISTED, ...from });
      yield* page.documents;
      cursor = page.nextCursor;
    } while (cursor !== undefined);
  }

  async #head(handle: string): Promise<BlobHead | undefined> {
    const stored = await this.#log.getDocument(heads, handle);
    return stored === undefined ? undefined : BlobHead.parse(JSON.parse(stored.value));
  }

  async *#pieces(handle: string, head: BlobHead): AsyncGenerator<Buffer, void, void> {
    for (let index = 0; index < head.pieces; index++) {
      const stored = await this.#log.getDocument(pieces, pieceKey(head.upload, index));
      if (stored === undefined) throw new LogError('corrupt', `the file ${handle} is not whole in the store`);
      yield Buffer.from(textIn(stored.value), 'base64');
    }
  }

  async #isUsed(handle: string): Promise<boolean> {
    const { documents } = await this.#log.listDocuments({ collection: usesByBlob, tag: handle, limit: 1 });
    return documents.length > 0;
  }

  /** The head first: what has none is not found, and its upload leads to what is left of it. */
  async #removeBlob(handle: string): Promise<void> {
    const head = await this.#head(handle);
    if (head === undefined) return;
    await this.#write(uploads, head.upload, { at: 0 });
    await this.#remove(heads, handle);
    await this.#removePieces(head.upload);
  }

  async #removePieces(upload: string): Promise<void> {
    for (;;) {
      const { documents } = await this.#log.listDocuments({ collection: pieces, tag: upload, limit: PIECES_LISTED });
      if (documents.length === 0) break;
      for (const { key } of documents) await this.#remove(pieces, key);
    }
    await this.#remove(uploads, upload);
  }

  async #write(collection: string, key: string, value: object): Promise<void> {
    await this.#log.putDocument({ collection, key, value: JSON.stringify(value) });
  }

  async #remove(collection: string, key: string): Promise<void> {
    await this.#log.putDocument({ collection, key, value: undefined });
  }
}

/** A document that is nothing but a text. */
function textIn(value: string): string {
  const text: unknown = JSON.parse(value);
  assert(typeof text === 'string', 'the document is a text');
  return text;
}

function pieceKey(upload: string, index: number): string {
  return `${upload}/${index}`;
}

/** The same bytes in pieces of one size, the last one shorter. */
async function* inPieces(bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): AsyncGenerator<Buffer> {
  let gathered: Buffer[] = [];
  let length = 0;
  for await (const chunk of bytes) {
    gathered.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
    length += chunk.byteLength;
    if (length < PIECE_BYTES) continue;
    const all = Buffer.concat(gathered);
    let start = 0;
    for (; all.length - start >= PIECE_BYTES; start += PIECE_BYTES) yield all.subarray(start, start + PIECE_BYTES);
    gathered = [all.subarray(start)];
    length = all.length - start;
  }
  if (length > 0) yield Buffer.concat(gathered);
}
