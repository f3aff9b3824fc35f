import * as z from 'zod/mini';

/** Bytes of one file that is kept beside a session's streams. */
export const blobBytesMax = 64 * 1024 * 1024;

/** A file as it is referred to: the `storedData` of a part, and the answer to its upload. */
export const BlobRef = z.strictObject({
  handle: z.string(),
  mimeType: z.string(),
  /** `sha256-` and the digest in hexadecimal. */
  contentHash: z.string(),
  contentLength: z.int().check(z.nonnegative()),
});
export type BlobRef = z.infer<typeof BlobRef>;

/** What a store keeps about one; its bytes stand in pieces of their own. */
export const BlobHead = z.looseObject({
  ...z.omit(BlobRef, { handle: true }).shape,
  /** Under which its pieces stand. */
  upload: z.string(),
  pieces: z.int().check(z.nonnegative()),
  /** When it was last put or looked for: what nobody uses is kept for a while after it. */
  touchedAt: z.int(),
});
export type BlobHead = z.infer<typeof BlobHead>;

/** An upload that is under way, or was cut. */
export const BlobUpload = z.looseObject({ at: z.int() });
