import * as z from 'zod';

/** Bytes of one file that is kept beside a session's streams. */
export const blobBytesMax = 64 * 1024 * 1024;

/** A file as it is referred to: the `storedData` of a part, and the answer to its upload. */
export const BlobRef = z.strictObject({
  handle: z.string(),
  mimeType: z.string(),
  /** `sha256-` and the digest in hexadecimal. */
  contentHash: z.string(),
  contentLength: z.number().int().nonnegative(),
});
export type BlobRef = z.infer<typeof BlobRef>;

/** What a store keeps about one; its bytes stand in pieces of their own. */
export const BlobHead = BlobRef.omit({ handle: true }).extend({
  /** Under which its pieces stand. */
  upload: z.string(),
  pieces: z.number().int().nonnegative(),
  /** When it was last put or looked for: what nobody uses is kept for a while after it. */
  touchedAt: z.number().int(),
});
export type BlobHead = z.infer<typeof BlobHead>;

/** An upload that is under way, or was cut. */
export const BlobUpload = z.strictObject({ at: z.number().int() });
