export const pageHeaders = {
  'content-security-policy':
    "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

type Notice = { readonly status: number; readonly html: string };

const signIn =
  '<form method="get"><label>Token <input name="token" type="password" autocomplete="off" required></label> <button>Open</button></form>' +
  '<p>The token is what <code>concerto token</code> prints in the folder of the server, and <code>concerto token --url</code> the whole address; the URL that <code>concerto serve</code> (or <code>npm start</code>) printed has it at its end.</p>';

const notices = {
  'no-token': { status: 401, html: `<p>This page needs a token.</p>${signIn}` },
  'wrong-token': {
    status: 401,
    html: `<p><strong>That token is not the one of this server.</strong> It may be of another server, of an earlier one on this port, cut off when it was copied, or revoked.</p>${signIn}`,
  },
  'no-page': {
    status: 404,
    html: '<p>This server was started without its page. The API is at <code>/api</code>, described by <a href="/api/openapi.json">/api/openapi.json</a>.</p>',
  },
  'not-built': { status: 503, html: '<p>The page is not built. Run <code>npm run build</code>, then reload.</p>' },
} as const satisfies Readonly<Record<string, Notice>>;

/** What a person sees in place of the page, with what to do; it needs none of the page's files. */
export function noticePage(kind: keyof typeof notices): Response {
  const { status, html } = notices[kind];
  return new Response(
    `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">` +
      `<title>Concerto</title><style>:root{color-scheme:light dark}body{font:16px/1.6 system-ui;max-width:34rem;margin:20vh auto;padding:0 1rem}input,button{font:inherit;padding:.3rem .6rem}</style>` +
      `<h1>Concerto</h1>${html}</html>`,
    { status, headers: { ...pageHeaders, 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' } },
  );
}
