/** What a browser sends, and lets a page read, without asking. */
const sentFreely = new Set(['accept', 'accept-language', 'content-language', 'origin']);
const readFreely = new Set(['cache-control', 'content-language', 'content-length', 'content-type', 'expires']);

/** `fetch` as a browser has it for a page of another origin: it asks first, and shows what it may. */
export function fetchElsewhere(origin: string): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    const headers = new Headers(request.headers);
    const asked = [...headers.keys()].filter((name) => !sentFreely.has(name));
    const preflight = await fetch(request.url, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': request.method,
        'access-control-request-headers': asked.join(','),
      },
    });
    const allowed = listed(preflight, 'access-control-allow-headers');
    const refused = asked.filter((name) => !allowed.has(name));
    if (!preflight.ok || refused.length > 0)
      throw new TypeError(`Failed to fetch: ${refused.join(', ')} may not be sent`);
    headers.set('origin', origin);
    const response = await fetch(new Request(request, { headers }));
    const shown = listed(response, 'access-control-expose-headers');
    const read = [...response.headers].filter(([name]) => readFreely.has(name) || shown.has(name));
    const { status, statusText } = response;
    return new Response(response.body, { status, statusText, headers: read });
  };
}

function listed({ headers }: Response, name: string): ReadonlySet<string> {
  return new Set((headers.get(name) ?? '').split(',').map((each) => each.trim()));
}
