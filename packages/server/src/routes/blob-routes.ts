import { LogError } from '@concerto/log';
import { blobBytesMax } from '@concerto/protocol';
import { type Context, Hono } from 'hono';
import { idempotently } from '../idempotency.ts';
import { ProblemError } from '../problem.ts';
import type { OnNode, ServerContext } from '../server-context.ts';

export function blobRoutes({ sessions, log }: ServerContext): Hono<OnNode> {
  const routes = new Hono<OnNode>();

  routes.post('/', async (c) => {
    const mimeType = readMimeType(c);
    if (Number(c.req.header('content-length') ?? '0') > blobBytesMax) throw tooLarge();
    try {
      const blob = await sessions.blobs.put(mimeType, c.env.incoming);
      // The same bytes again are the same file: known by its name, another body is told from a repeat.
      return await idempotently(c, log, blob.handle, async () => c.json(blob, 201));
    } catch (error) {
      if (error instanceof LogError && error.code === 'too-large') throw tooLarge();
      throw error;
    }
  });

  routes.get('/:handle', async (c) => {
    const handle = c.req.param('handle');
    const blob = await sessions.blobs.open(handle);
    if (blob === undefined) throw new ProblemError(404, 'no_such_blob', `there is no file ${JSON.stringify(handle)}`);
    const { mimeType, contentLength, contentHash, bytes } = blob;
    const etag = `"${contentHash}"`;
    const safe = { ...safeHeaders(mimeType, c.req.query('name')), etag };
    if (c.req.header('if-none-match') === etag) return new Response(null, { status: 304, headers: safe });
    const headers = { ...safe, 'content-length': String(contentLength) };
    if (c.req.method === 'HEAD') return new Response(null, { headers });
    return new Response(streamOf(bytes), { headers });
  });
  return routes;
}

function streamOf(bytes: AsyncGenerator<Uint8Array, void, void>): ReadableStream<Uint8Array> {
  return new ReadableStream({
    pull: async (controller) => {
      const next = await bytes.next();
      if (next.done === true) controller.close();
      else controller.enqueue(next.value);
    },
    cancel: async () => {
      await bytes.return();
    },
  });
}

/** Shown in place; anything else is for the disk, whatever a browser would make of it. */
const shownInPlace = /^(?:image\/(?:png|jpeg|gif|webp|avif|bmp)|audio\/[\w.+-]+|video\/[\w.+-]+|text\/plain)$/;

/** What was uploaded is never run: not guessed at, not framed, without scripts and without our origin. */
function safeHeaders(mimeType: string, name: string | undefined): Readonly<Record<string, string>> {
  const disposition = shownInPlace.test(mimeType) ? 'inline' : 'attachment';
  const file = name === undefined || name === '' ? '' : `; filename*=UTF-8''${encodeFileName(name)}`;
  return {
    'content-type': mimeType.startsWith('text/') ? `${mimeType}; charset=utf-8` : mimeType,
    'content-disposition': `${disposition}${file}`,
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; sandbox",
    'cross-origin-resource-policy': 'same-origin',
    'cache-control': 'private, max-age=31536000, immutable',
  };
}

/** Without a path, and in the letters that RFC 5987 leaves as they are. */
function encodeFileName(name: string): string {
  const file = name.split(/[/\\]/).at(-1) ?? '';
  const code = (letter: string): string => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`;
  return encodeURIComponent(file.replaceAll(/\p{Surrogate}/gu, '_')).replaceAll(/['()*]/g, code);
}

const mimeTypePattern = /^[a-z0-9][\w!#$&^.+-]{0,126}\/[a-z0-9][\w!#$&^.+-]{0,126}$/;

function readMimeType(c: Context<OnNode>): string {
  const header = c.req.header('content-type') ?? 'application/octet-stream';
  const mimeType = header.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (mimeTypePattern.test(mimeType)) return mimeType;
  throw new ProblemError(415, 'bad_type', `\`content-type\`: ${JSON.stringify(header)} is no type of a file`);
}

function tooLarge(): ProblemError {
  return new ProblemError(413, 'body_too_large', `a file has at most ${blobBytesMax} bytes`);
}
