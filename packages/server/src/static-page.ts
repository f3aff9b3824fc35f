import { readFile, stat } from 'node:fs/promises';
import { extname, join, normalize, sep } from 'node:path';
import type { Context, MiddlewareHandler } from 'hono';
import { tokenCheck } from './guard.ts';
import type { ServerContext } from './server-context.ts';

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

const pageHeaders = {
  'content-security-policy':
    "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

/** The built page. Paths that are no file are the page itself: its own router reads them. */
export function servePage({ webRoot, guard }: ServerContext): MiddlewareHandler {
  const holdsToken = tokenCheck(guard.token);
  return async (c) => {
    if (!holdsToken(c)) return notice(c, 401, signInNotice);
    if (webRoot === undefined) return notice(c, 404, 'This server was started without its page. The API is at /api.');
    const file = await findFile(webRoot, c.req.path);
    if (file === undefined)
      return notice(c, 503, 'The page is not built. Run <code>npm run build</code>, then reload.');
    const hashed = file.includes(`${sep}assets${sep}`);
    return new Response(new Uint8Array(await readFile(file)), {
      headers: {
        ...pageHeaders,
        'content-type': types[extname(file)] ?? 'application/octet-stream',
        'cache-control': hashed ? 'public, max-age=31536000, immutable' : 'no-cache',
      },
    });
  };
}

const signInNotice =
  'This page needs a token. Open the URL that <code>concerto serve</code> (or <code>npm start</code>) printed; it ends with <code>?token=…</code>';

async function findFile(webRoot: string, path: string): Promise<string | undefined> {
  const wanted = normalize(join(webRoot, decodePath(path)));
  const inside = wanted.startsWith(webRoot + sep);
  if (inside && (await isFile(wanted))) return wanted;
  const index = join(webRoot, 'index.html');
  return (await isFile(index)) ? index : undefined;
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return '/'; // A broken escape names no file; the page is served instead.
  }
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch {
    return false; // Absent or unreadable: not a file we serve.
  }
}

function notice(c: Context, status: 401 | 404 | 503, text: string): Response {
  return c.html(
    `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">` +
      `<title>Concerto</title><style>:root{color-scheme:light dark}body{font:16px/1.6 system-ui;max-width:34rem;margin:20vh auto;padding:0 1rem}</style>` +
      `<h1>Concerto</h1><p>${text}</p></html>`,
    status,
    pageHeaders,
  );
}
