export type Route =
  | { readonly page: 'list' }
  | { readonly page: 'session'; readonly id: string }
  | { readonly page: 'programs' }
  | { readonly page: 'program'; readonly name: string }
  | { readonly page: 'settings' }
  | { readonly page: 'insight' }
  | { readonly page: 'graph' }
  | { readonly page: 'unknown' };

export function routeOf(path: string): Route {
  if (path === '/' || path === '') return { page: 'list' };
  if (/^\/settings\/?$/.test(path)) return { page: 'settings' };
  if (/^\/graph\/?$/.test(path)) return { page: 'graph' };
  if (/^\/insight\/?$/.test(path)) return { page: 'insight' };
  if (/^\/programs\/?$/.test(path)) return { page: 'programs' };
  const name = /^\/programs\/([^/]+)\/?$/.exec(path)?.[1];
  if (name !== undefined) return { page: 'program', name: decoded(name) };
  const id = /^\/sessions\/([^/]+)\/?$/.exec(path)?.[1];
  return id === undefined ? { page: 'unknown' } : { page: 'session', id: decoded(id) };
}

export function sessionPath(id: string): string {
  return `/sessions/${encodeURIComponent(id)}`;
}

export function programPath(name: string): string {
  return `/programs/${encodeURIComponent(name)}`;
}

/** The form that starts a session, with the program that answers for it. */
export function startPath(supervisor: string): string {
  return `/?supervisor=${encodeURIComponent(supervisor)}`;
}

/** The graph, talked about in this session. */
export function graphPath(session: string): string {
  return `/graph?session=${encodeURIComponent(session)}`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // A broken escape names no session; the server will say so.
  }
}
