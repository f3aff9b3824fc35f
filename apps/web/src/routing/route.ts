export type Route =
  | { readonly page: 'list' }
  | { readonly page: 'session'; readonly id: string }
  | { readonly page: 'unknown' };

export function routeOf(path: string): Route {
  if (path === '/' || path === '') return { page: 'list' };
  const id = /^\/sessions\/([^/]+)\/?$/.exec(path)?.[1];
  return id === undefined ? { page: 'unknown' } : { page: 'session', id: decoded(id) };
}

export function sessionPath(id: string): string {
  return `/sessions/${encodeURIComponent(id)}`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // A broken escape names no session; the server will say so.
  }
}
