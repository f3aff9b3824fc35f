import { readFile, stat } from 'node:fs/promises';
import { extname, join, normalize, sep } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { MiddlewareHandler } from 'hono';
import { noticePage, pageHeaders } from './notice-page.ts';
import { ProblemError } from './problem.ts';
import type { OnNode, ServerContext } from './server-context.ts';
import type { WhoCalls } from './who-calls.ts';

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.json': 'application/json',
  '.woff2': 'font/woff2',
  '.webmanifest': 'application/manifest+json',
};

/** The built page. Paths that could be no file are the page itself: its own router reads them. */
export function servePage({ webRoot }: ServerContext, whoCalls: WhoCalls): MiddlewareHandler<OnNode> {
  const files = new PageFiles();
  return async (c) => {
    if ((await whoCalls.of(c)) === undefined) return noticePage('no-token');
    if (webRoot === undefined) return noticePage('no-page');
    const file = (await findFile(webRoot, c.req.path)) ?? pageFor(webRoot, c.req.path);
    const found = file === undefined ? undefined : await files.read(file);
    if (file === undefined) throw new ProblemError(404, 'no_such_file', `there is no ${c.req.path}`);
    if (found === undefined) return noticePage('not-built');
    const zips = found.zipped !== undefined && /\bgzip\b/.test(c.req.header('accept-encoding') ?? '');
    return new Response(zips ? found.zipped : found.bytes, {
      headers: {
        ...pageHeaders,
        'content-type': types[extname(file)] ?? 'application/octet-stream',
        'cache-control': file.includes(`${sep}assets${sep}`) ? 'public, max-age=31536000, immutable' : 'no-cache',
        vary: 'accept-encoding',
        ...(zips ? { 'content-encoding': 'gzip' } : {}),
      },
    });
  };
}

async function findFile(webRoot: string, path: string): Promise<string | undefined> {
  const wanted = normalize(join(webRoot, decodePath(path)));
  const isInside = wanted.startsWith(webRoot + sep);
  return isInside && (await mtimeOf(wanted)) !== undefined ? wanted : undefined;
}

/** A name with an ending was meant as a file; the page in its place would be taken for it. */
function pageFor(webRoot: string, path: string): string | undefined {
  return extname(path) === '' ? join(webRoot, 'index.html') : undefined;
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return '/'; // A broken escape names no file; the page is served instead.
  }
}

async function mtimeOf(path: string): Promise<number | undefined> {
  try {
    const found = await stat(path);
    return found.isFile() ? found.mtimeMs : undefined;
  } catch {
    return undefined; // Absent or unreadable: not a file we serve.
  }
}

type PageFile = {
  readonly mtime: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly zipped: Uint8Array<ArrayBuffer> | undefined;
};

/** The page's few files, each read and compressed once for as long as it stays what it is. */
class PageFiles {
  readonly #files = new Map<string, PageFile>();

  async read(path: string): Promise<PageFile | undefined> {
    const mtime = await mtimeOf(path);
    if (mtime === undefined) return undefined;
    const known = this.#files.get(path);
    if (known?.mtime === mtime) return known;
    const bytes = new Uint8Array(await readFile(path));
    const isText = /^text\/|svg|json/.test(types[extname(path)] ?? '');
    const file = { mtime, bytes, zipped: isText ? new Uint8Array(await promisify(gzip)(bytes)) : undefined };
    this.#files.set(path, file);
    return file;
  }
}
