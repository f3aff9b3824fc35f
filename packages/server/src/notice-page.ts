export const pageHeaders = {
  'content-security-policy':
    "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

type Notice = { readonly status: number; readonly html: string };

const signIn = `<form method="get">
<label for="token">Token</label>
<div class="field"><input id="token" name="token" type="password" autocomplete="off" autofocus required> <button>Sign in</button></div>
</form>
<h2>Where the token is</h2>
<ul>
<li>At the end of the URL that <code>concerto serve</code> (or <code>npm start</code>) printed: that URL opens this page signed in.</li>
<li><code>concerto token</code>, in the folder of the server, prints it, and <code>concerto token --url</code> the whole URL.</li>
<li>Who has a token of their own got it from whoever runs the server.</li>
</ul>`;

const notices = {
  'no-token': { status: 401, html: `<h1>Sign in</h1><p>This page needs a token.</p>${signIn}` },
  'wrong-token': {
    status: 401,
    html: `<h1>Sign in</h1><p class="bad" role="alert"><strong>That token is not the one of this server.</strong> It may be of another server, of an earlier one on this port, cut off when it was copied, or revoked.</p>${signIn}`,
  },
  'no-page': {
    status: 404,
    html: '<h1>No page here</h1><p>This server was started without its page. The API is at <code>/api</code>, described by <a href="/api/openapi.json">/api/openapi.json</a>.</p>',
  },
  'not-built': {
    status: 503,
    html: '<h1>No page yet</h1><p>The page is not built. Run <code>npm run build</code>, then reload.</p>',
  },
} as const satisfies Readonly<Record<string, Notice>>;

/** The colours of the page's `tokens.css`, of which no file is served to whoever is not signed in. */
const style = `
:root { color-scheme: light dark; --muted: light-dark(#63656d, #9a9ea8); --line: light-dark(#cfcec6, #3b3f48); --accent: light-dark(#4353c9, #93a1ff); --sunken: light-dark(#f0f0ec, #141619); }
* { box-sizing: border-box; }
body { margin: 0; padding: 12vh 16px 32px; background: light-dark(#f6f6f3, #111215); color: light-dark(#1b1c20, #e6e7ea); font: 14px/1.5 Inter, ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
main { max-width: 460px; margin: 0 auto; padding: 22px 24px; border: 1px solid light-dark(#e3e2dc, #2a2d34); border-radius: 8px; background: light-dark(#ffffff, #191b1f); overflow-wrap: anywhere; }
.brand { display: flex; align-items: center; gap: 8px; margin: 0 0 18px; font-size: 15px; font-weight: 650; }
svg { width: 20px; height: 20px; fill: none; stroke: var(--accent); stroke-width: 3.6; stroke-linecap: round; }
h1 { margin: 0 0 4px; font-size: 20px; line-height: 1.3; }
h2 { margin: 22px 0 6px; font-size: 14px; }
p { margin: 0; }
a { color: var(--accent); }
ul { margin: 0; padding-left: 18px; color: var(--muted); font-size: 13px; }
li + li { margin-top: 4px; }
code { padding: 1px 4px; border-radius: 4px; background: var(--sunken); font: 12.5px ui-monospace, "SF Mono", "JetBrains Mono", Menlo, Consolas, monospace; }
form { margin-top: 16px; }
label { display: block; margin-bottom: 4px; font-weight: 550; }
.field { display: flex; gap: 8px; }
input, button { min-height: 40px; padding: 0 12px; border: 1px solid var(--line); border-radius: 6px; font: inherit; }
input { min-width: 0; flex: 1; background: transparent; color: inherit; font-size: 16px; }
button { border-color: var(--accent); background: var(--accent); color: light-dark(#ffffff, #12142b); font-weight: 600; cursor: pointer; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.bad { margin-top: 8px; padding: 8px 12px; border: 1px solid light-dark(#f0beb9, #6b2f2b); border-radius: 6px; background: light-dark(#fdeeec, #301817); color: light-dark(#b3261e, #ff8d85); }
`;

/** What a person sees in place of the page, with what to do; it needs none of the page's files. */
export function noticePage(kind: keyof typeof notices): Response {
  const { status, html } = notices[kind];
  return new Response(
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">` +
      `<title>Concerto</title><style>${style}</style></head><body><main>` +
      `<p class="brand"><svg viewBox="0 0 32 32" aria-hidden="true"><path d="M7 13v6M13 8v16M19 12v8M25 6v20"/></svg>Concerto</p>` +
      `${html}</main></body></html>`,
    { status, headers: { ...pageHeaders, 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' } },
  );
}
